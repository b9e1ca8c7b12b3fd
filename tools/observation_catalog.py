# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools over scenes of satellite products, in the order in which they are listed to a model."""

from __future__ import annotations

from .observation_forest import ForestByZone
from .observation_series import ObservationSeries
from .observation_table import ObservationRows
from .registry import Tool
from .scene_index import IndexScenes
from .scene_loading import LoadScene
from .scene_search import FindScenes


def observation_tools() -> list[Tool]:
    """Return the tools that catalogue scenes and read what they measure."""
    return [
        IndexScenes(),
        FindScenes(),
        LoadScene(),
        ObservationSeries(),
        ForestByZone(),
        ObservationRows(),
    ]
