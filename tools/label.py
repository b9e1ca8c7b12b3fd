# SPDX-License-Identifier: GPL-2.0-or-later
"""Labels of a vector layer by a field or an expression; undo restores what was there."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsPalLayerSettings, QgsVectorLayer, QgsVectorLayerSimpleLabeling

from . import argument
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields, checked
from .source import VectorSource
from .style import remembered


class LabelLayer:
    """Writes labels beside features."""

    definition = ToolDefinition(
        "label_layer",
        "Label the features of a layer with a field or a QGIS expression, or take labels off.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "field": argument.field(),
                "expression": {"type": "string"},
                "off": {"type": "boolean"},
            },
            ["layer"],
        ),
        label="Labels",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for exactly one of field, expression and off."""
        given = [name for name in ("field", "expression", "off") if arguments.get(name)]
        if len(given) != 1:
            raise MendableError("label_layer needs a field, or an expression, or off.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Check the field or expression and turn simple labels on."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        if arguments.get("off"):
            context.call(lambda: _show(source, "", False, context))
            return ToolResult(f"{source.key} has no labels now.")
        text = arguments.get("expression", "")
        if text:
            text = checked(text, source)
        else:
            name = field_named(arguments["field"], SourceFields(source, context.cancelled))
            context.call(lambda: _show(source, name, False, context))
            return ToolResult(f"{source.key} is labelled by {name}.")
        context.call(lambda: _show(source, text, True, context))
        return ToolResult(f"{source.key} is labelled by {text}.")


def _show(source: VectorSource, text: str, is_expression: bool, context: Context) -> None:
    """Turn labels by `text` on, off for an empty one. Main thread only."""
    layer: QgsVectorLayer = remembered(source, context)
    if text:
        settings = QgsPalLayerSettings()
        settings.fieldName = text
        settings.isExpression = is_expression
        layer.setLabeling(QgsVectorLayerSimpleLabeling(settings))
    layer.setLabelsEnabled(bool(text))
    layer.triggerRepaint()
    layer.emitStyleChanged()
