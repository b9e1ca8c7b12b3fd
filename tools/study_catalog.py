# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools of studies of disasters, in the order in which they are listed to a model."""

from __future__ import annotations

from .building_damage import BuildingDamage
from .correlation import Correlation
from .document_search import SearchDocuments
from .registry import Tool


def study_tools() -> list[Tool]:
    """Return the tools that judge damage, set it beside people, and look documents up."""
    return [BuildingDamage(), Correlation(), SearchDocuments()]
