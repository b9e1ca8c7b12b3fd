# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools over vector layers, tables and files, in the order in which a model reads them."""

from __future__ import annotations

from .json_file import WriteJson
from .loading import AddLayer
from .registry import Tool
from .saving import SaveLayer


def file_tools() -> list[Tool]:
    """Return the tools that read and write files."""
    return [AddLayer(), SaveLayer(), WriteJson()]
