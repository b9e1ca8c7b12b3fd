# SPDX-License-Identifier: GPL-2.0-or-later
"""Which typed tools stand in the toolbox: those that make sense without a chat."""

from __future__ import annotations

from collections.abc import Iterator

from ...tools.registry import Registry
from ..workflow.graph import Vertex
from ..workflow.role import Roles
from ..workflow.shape import Shapes
from .tool_algorithm import ToolAlgorithm, Workplace

_CHAT_ONLY = frozenset(
    {
        "list_layers", "layer_info", "add_layer", "search_algorithms", "describe_algorithm",
        "run_algorithm", "style_graduated", "style_categorized", "style_raster", "label_layer",
        "export_map", "export_atlas", "zoom_to_layer", "undo", "answer", "reject", "save_layer",
        "save_raster", "write_json",
    }
)  # fmt: skip
"""Tools about the project, the map or the chat itself; QGIS has its own for files."""


def is_offered(tool: str) -> bool:
    """Tell whether a tool stands in the toolbox."""
    return tool not in _CHAT_ONLY


def tool_algorithms(
    registry: Registry, roles: Roles, shapes: Shapes, place: Workplace
) -> Iterator[ToolAlgorithm]:
    """Yield an algorithm for each tool that is offered."""
    for one in registry.definitions():
        role = roles.of(one.name)
        if is_offered(one.name) and role is not None:
            gives = shapes.of(Vertex("v", tool=one.name, parameters={}), {}, {})
            some = shapes.of(Vertex("v", tool=one.name, parameters={"where": "TRUE"}), {}, {})
            speaks = gives.shape is None and some.shape is not None
            yield ToolAlgorithm(registry.find(one.name), role, gives, place, speaks)
