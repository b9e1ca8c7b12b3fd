# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools over vector layers, tables and files, in the order in which a model reads them."""

from __future__ import annotations

from .buffering import Buffer
from .cleaning import Clean
from .clustering import Clustering
from .counting import CountInPolygons
from .distribution import Distribute
from .grid_count import GridCount
from .grouping import Dissolve
from .hull import HullOrCentre
from .joining import JoinByField
from .json_file import WriteJson
from .loading import AddLayer
from .location_join import JoinByLocation
from .nearest import Nearest
from .overlay import Coverage, Overlay
from .pivot import PivotTable, TimeSeries
from .placing import PointsFromTable, Reproject
from .registry import Tool
from .saving import SaveLayer
from .time_filter import FilterTime


def vector_tools() -> list[Tool]:
    """Return the tools that combine, count and sum up features."""
    return [
        FilterTime(),
        Buffer(),
        Nearest(),
        JoinByField(),
        JoinByLocation(),
        CountInPolygons(),
        GridCount(),
        Overlay(),
        Coverage(),
        Dissolve(),
        HullOrCentre(),
        Distribute(),
        Clustering(),
        PivotTable(),
        TimeSeries(),
        Clean(),
        PointsFromTable(),
        Reproject(),
    ]


def file_tools() -> list[Tool]:
    """Return the tools that read and write files."""
    return [AddLayer(), SaveLayer(), WriteJson()]
