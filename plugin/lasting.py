# SPDX-License-Identifier: GPL-2.0-or-later
"""What each tool leaves behind: the one table by which a call is asked about or not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .agent.event import Deed, Reach


@dataclass(frozen=True)
class Place:
    """How far a tool reaches, and the argument that names what it reaches.

    `only_given`: it reaches so far only where that argument is given, else it makes what is
    temporary. `undoable`: undo takes it back.
    """

    reach: Reach
    target: str = ""
    only_given: bool = False
    undoable: bool = False


_READ, _MAKE = Place(Reach.READ), Place(Reach.MAKE, "layer", undoable=True)
_STYLE = Place(Reach.PROJECT, "layer", undoable=True)
_CHART = Place(Reach.FILE, "chart", only_given=True)

_READING = (
    "list_layers", "layer_info", "unique_values", "count", "statistics", "top_n", "measure",
    "calculate", "class_areas", "raster_series", "search_algorithms", "describe_algorithm",
    "answer", "reject", "clustering",
)  # fmt: skip
_MAKING = (
    "filter", "select_by_location", "calculate_field", "filter_time", "buffer", "nearest",
    "join_by_field", "join_by_location", "count_in_polygons", "grid_count", "overlay", "coverage",
    "dissolve", "hull_or_centre", "distribute", "pivot_table", "time_series", "clean",
    "points_from_table", "reproject", "raster_index", "scale_raster", "raster_calculate",
    "terrain", "viewshed", "zonal_statistics", "sample_raster", "reclassify", "class_change",
    "cell_statistics", "clip_raster", "merge_rasters", "heat_map", "interpolate", "rasterize",
    "vectorize", "find_scenes", "load_scene", "observation_rows", "detect_objects",
    "classify_land_cover", "add_layer", "zoom_to_layer",
)  # fmt: skip

TABLE: Mapping[str, Place] = {
    **dict.fromkeys(_READING, _READ),
    **dict.fromkeys(_MAKING, _MAKE),
    "style_graduated": _STYLE,
    "style_categorized": _STYLE,
    "style_raster": _STYLE,
    "label_layer": _STYLE,
    "undo": Place(Reach.REMOVE),
    "save_layer": Place(Reach.FILE, "file"),
    "save_raster": Place(Reach.FILE, "file"),
    "write_json": Place(Reach.FILE, "path"),
    "export_map": Place(Reach.FILE, "path"),
    "export_atlas": Place(Reach.FILE, "layer"),
    "index_scenes": Place(Reach.FILE, "file"),
    "add_detector": Place(Reach.FILE, "file"),
    "observation_series": _CHART,
    "forest_by_zone": _CHART,
}
"""Every tool but run_algorithm, which reaches as far as its algorithm; a tool that is not here
counts as one that edits."""


def place_of(tool: str) -> Place:
    """Return a tool's place in the table; what is not known is taken for the worst."""
    return TABLE.get(tool, Place(Reach.EDIT, "layer"))


def deed(tool: str, label: str, arguments: Mapping[str, Any]) -> Deed:
    """Return what a call of a tool would do."""
    place = place_of(tool)
    target = arguments.get(place.target, "") if place.target else ""
    if place.only_given and not target:
        place = _MAKE
        target = arguments.get("layer", "")
    return Deed(
        place.reach,
        tool,
        label or tool,
        named(target),
        undoable=place.undoable,
        details=details(arguments),
    )


def named(value: Any) -> str:
    """Return a layer, a file or several as one text."""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def details(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return arguments as texts in a fixed order; those of an algorithm stand by themselves."""
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{key}": one for key, one in value.items()})
        else:
            flat[name] = value
    return tuple(sorted((key, _text(value)) for key, value in flat.items()))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
