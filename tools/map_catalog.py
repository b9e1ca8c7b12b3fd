# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools that draw: labels, colours of rasters, maps as files."""

from __future__ import annotations

from .label import LabelLayer
from .picture import ExportAtlas, ExportMap
from .raster_style import StyleRaster
from .registry import Tool


def map_tools() -> list[Tool]:
    """Return the tools that draw maps and save them."""
    return [StyleRaster(), LabelLayer(), ExportMap(), ExportAtlas()]
