# SPDX-License-Identifier: GPL-2.0-or-later
"""The map window, and taking back what the last question made."""

from __future__ import annotations

from typing import Any

from . import argument
from .base import ToolDefinition, ToolResult
from .context import Context
from .registry import Unchecked


class ZoomToLayer(Unchecked):
    """Shows a layer on the map."""

    definition = ToolDefinition(
        "zoom_to_layer",
        "Zoom the map to a layer.",
        argument.arguments({"layer": argument.layer()}, ["layer"]),
        label="Zoom to layer",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Zoom where there is a map window; say so where there is none."""
        source = context.layer(arguments["layer"])
        canvas = context.canvas
        if canvas is None:
            return ToolResult(f"There is no map window, so {source.key} is not shown.")

        def zoom() -> None:
            layer = context.map_layer(source)
            canvas.zoom_to(layer.extent(), layer.crs())

        context.call(zoom)
        return ToolResult(f"The map shows {source.key}.")


class Undo(Unchecked):
    """Takes back the last question's results."""

    definition = ToolDefinition(
        "undo",
        "Take back what the last question made: its layers and styles.",
        argument.arguments({}, []),
        label="Undo",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Take back the last turn that changed something."""
        done = context.call(context.store.undo_turn)
        return ToolResult(" ".join(done) if done else "There is nothing to undo.")
