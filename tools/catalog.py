# SPDX-License-Identifier: GPL-2.0-or-later
"""All tools, in the order in which they are listed to a model."""

from __future__ import annotations

from collections.abc import Sequence

from .algorithm import DescribeAlgorithm, RunAlgorithm, SearchAlgorithms
from .arithmetic import Calculate
from .calculation import CalculateField, Measure
from .closing import Answer, Reject
from .detection_catalog import detection_tools
from .listing import LayerInfo, ListLayers, UniqueValues
from .location import SelectByLocation
from .map_catalog import map_tools
from .observation_catalog import observation_tools
from .raster_catalog import raster_tools
from .registry import Registry, Tool
from .selection import FilterFeatures, TopN
from .statistic import Count, Statistics
from .style import StyleCategorized, StyleGraduated
from .vector_catalog import file_tools, vector_tools
from .view import Undo, ZoomToLayer


def build_registry(more: Sequence[Tool] = ()) -> Registry:
    """Return a registry of all tools, and of some `more` that an evaluation brings along."""
    return Registry(
        [
            ListLayers(),
            LayerInfo(),
            UniqueValues(),
            Count(),
            FilterFeatures(),
            Statistics(),
            TopN(),
            Measure(),
            SelectByLocation(),
            CalculateField(),
            Calculate(),
            *vector_tools(),
            *raster_tools(),
            *observation_tools(),
            *detection_tools(),
            *more,
            *file_tools(),
            SearchAlgorithms(),
            DescribeAlgorithm(),
            RunAlgorithm(),
            StyleGraduated(),
            StyleCategorized(),
            *map_tools(),
            ZoomToLayer(),
            Undo(),
            Answer(),
            Reject(),
        ]
    )
