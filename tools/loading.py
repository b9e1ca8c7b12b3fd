# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool that opens a file as layers of the project."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsVectorLayer

from . import argument, file_layer, wording
from .base import LayerReference, ToolDefinition, ToolResult
from .context import Context
from .registry import Unchecked
from .selection import titled

_FIELDS_SHOWN = 12


class AddLayer(Unchecked):
    """Opens a file."""

    definition = ToolDefinition(
        "add_layer",
        "Open a file as layers: every layer in it or the one named (GeoPackage, Shapefile, "
        "GeoJSON, KML, GPX, GeoParquet, Excel, zip; CSV with coordinates or WKT).",
        argument.arguments(
            {
                "source": {"type": "string", "description": "path of the file", "x-source": True},
                "layer": {"type": "string", "description": "one layer of the file"},
                "crs": {"type": "string", "description": "of a CSV, such as EPSG:25832"},
            },
            ["source"],
        ),
        label="Open a file",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Open on the calling thread, hand the layers over on the main one."""
        asked = file_layer.wanted(arguments["source"], arguments.get("layer", ""), context)
        layers = file_layer.opened(asked, arguments.get("crs", ""), context)
        shown = {"file": asked.path.name, "layer": asked.layer}
        references: list[LayerReference] = []
        fields: list[str] = []
        for layer in layers:
            reference = context.call(
                lambda one=layer: context.hand_over(one, titled(one.name()), shown)
            )
            references.append(reference)
            fields.append(context.call(lambda one=layer: _fields(one)))
        total = sum(max(0, one.features) for one in references)
        numbers = {"count": total} if len(references) == 1 else {"layers": len(references)}
        lines = [f"{wording.layer(one)}{names}" for one, names in zip(references, fields)]
        return ToolResult(wording.lines(lines), numbers=dict(numbers), layers=tuple(references))


def _fields(layer: Any) -> str:
    if not isinstance(layer, QgsVectorLayer):
        return ""
    names = [one.name() for one in layer.fields()]
    more = f" and {len(names) - _FIELDS_SHOWN} more" if len(names) > _FIELDS_SHOWN else ""
    return f"; fields: {', '.join(names[:_FIELDS_SHOWN])}{more}" if names else ""
