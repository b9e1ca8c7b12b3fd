# SPDX-License-Identifier: GPL-2.0-or-later
"""Colours by value: classes of a number, categories of a text; undo restores the style."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    QgsApplication,
    QgsCategorizedSymbolRenderer,
    QgsClassificationEqualInterval,
    QgsClassificationJenks,
    QgsClassificationMethod,
    QgsClassificationPrettyBreaks,
    QgsClassificationQuantile,
    QgsClassificationRange,
    QgsColorRamp,
    QgsGraduatedSymbolRenderer,
    QgsMapLayer,
    QgsMapLayerStyle,
    QgsRendererCategory,
    QgsRendererRange,
    QgsStyle,
    QgsSymbol,
    QgsVectorLayer,
)

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named, number_of
from .context import Context
from .expression import SourceFields, evaluator
from .registry import Unchecked
from .source import LayerSource, VectorSource, plain
from .spelling import closest, listed

METHODS = {
    "quantile": QgsClassificationQuantile,
    "equal interval": QgsClassificationEqualInterval,
    "jenks": QgsClassificationJenks,
    "pretty": QgsClassificationPrettyBreaks,
}
_METHOD_SYNONYMS = {"natural breaks": "jenks", "equal count": "quantile", "quantiles": "quantile"}
_RAMP = "Viridis"
_MOST_CATEGORIES = 50


def ramp_named(name: str) -> QgsColorRamp:
    """Return a colour ramp of the default style library. Raises MendableError."""
    style = QgsStyle.defaultStyle()
    names = style.colorRampNames()
    wanted = name or _RAMP
    equal = [one for one in names if one.lower() == wanted.lower()]
    if equal:
        return style.colorRamp(equal[0])
    near = closest(wanted, names) or names[:12]
    raise MendableError(f'There is no colour ramp "{wanted}". Closest: {listed(near)}.')


def applied(renderer: Any, source: LayerSource, context: Context) -> None:
    """Set the renderer and keep the old style for undo. Main thread only."""
    layer = remembered(source, context)
    layer.setRenderer(renderer)
    layer.triggerRepaint()
    layer.emitStyleChanged()


def remembered(source: LayerSource, context: Context) -> QgsMapLayer:
    """Return the live layer, whose style of now comes back by undo. Main thread only."""
    layer = context.map_layer(source)
    before = QgsMapLayerStyle()
    before.readFromLayer(layer)

    def restore() -> str:
        live = context.project.mapLayer(source.id)
        if live is None:
            return ""
        before.writeToLayer(live)
        live.triggerRepaint()
        return f"Restored the style of {live.name()}."

    context.store.remember(restore)
    return layer


class StyleGraduated(Unchecked):
    """Colours a layer by a number in classes."""

    definition = ToolDefinition(
        "style_graduated",
        "Colour a layer by a field of numbers, in classes.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "field": argument.field(types=["integer", "real", "text"]),
                "classes": {"type": "integer", "minimum": 1, "maximum": 20},
                "method": argument.choice(*METHODS, synonyms=_METHOD_SYNONYMS),
                "ramp": {"type": "string", "description": "a colour ramp such as Viridis or Reds"},
                "unit": {"type": "string", "description": "of the values, for the legend"},
            },
            ["layer", "field"],
        ),
        label="Graduated colours",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Class the values without NULL, so that empty ones do not count as zero."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        name = field_named(arguments["field"], SourceFields(source, context.cancelled))
        text = number_of(name, source.type_of(name))
        evaluate = evaluator(text, source)
        rows = source.rows(context.cancelled, only=[name])
        values = [evaluate(feature) for feature in rows]
        numbers = [float(one) for one in values if isinstance(one, (int, float))]
        if not numbers:
            raise MendableError(f"{name} of {source.key} holds no numbers to colour by.")
        method, wanted = arguments.get("method", "quantile"), arguments.get("classes", 5)
        ranges = _ranges(method, numbers, wanted)
        attribute = name if text.startswith('"') else text
        context.call(lambda: self._draw(attribute, ranges, method, arguments, source, context))
        if len(numbers) < len(values):
            context.note(f"{len(values) - len(numbers)} features without {name} are not coloured.")
        if len(ranges) != wanted:
            context.note(f"The values give {len(ranges)} classes, not {wanted}.")
        limits = "; ".join(
            f"{wording.number(one.lowerBound())} to {wording.number(one.upperBound())}"
            for one in ranges
        )
        return ToolResult(
            f"{source.key} is coloured by {name} in {len(ranges)} classes ({method}): {limits}.",
            numbers={"classes": len(ranges)},
        )

    @staticmethod
    def _draw(
        attribute: str,
        ranges: list[QgsClassificationRange],
        method: str,
        arguments: dict[str, Any],
        source: VectorSource,
        context: Context,
    ) -> None:
        layer = context.map_layer(source)
        ramp = ramp_named(arguments.get("ramp", ""))
        renderer = QgsGraduatedSymbolRenderer(attribute)
        renderer.setSourceSymbol(QgsSymbol.defaultSymbol(layer.geometryType()))
        for one in ranges:
            symbol = QgsSymbol.defaultSymbol(layer.geometryType())
            renderer.addClassRange(QgsRendererRange(one, symbol))
        classification = METHODS[method]()
        if arguments.get("unit"):
            classification.setLabelFormat(f"%1 - %2 {arguments['unit']}")
        renderer.setClassificationMethod(classification)
        renderer.updateRangeLabels()
        renderer.setSourceColorRamp(ramp)
        renderer.updateColorRamp(ramp)
        applied(renderer, source, context)


def _ranges(method: str, numbers: list[float], classes: int) -> list[QgsClassificationRange]:
    """Return at least one class that covers all numbers."""
    low, high = min(numbers), max(numbers)
    if low == high:
        return [QgsClassificationRange(wording.number(low), low, high)]
    maker: QgsClassificationMethod = METHODS[method]()
    found = maker.classes(numbers, classes)
    if found:
        return list(found)
    return [QgsClassificationRange(f"{wording.number(low)} - {wording.number(high)}", low, high)]


class StyleCategorized(Unchecked):
    """Colours a layer by the values of a field."""

    definition = ToolDefinition(
        "style_categorized",
        "Colour a layer by a field, one colour for each value.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "field": argument.field(),
                "ramp": {"type": "string"},
            },
            ["layer", "field"],
        ),
        label="Colours by category",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Give each value a colour, and the rest one of its own."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        name = field_named(arguments["field"], SourceFields(source, context.cancelled))
        place = source.fields.lookupField(name)
        rows = source.rows(context.cancelled, only=[name])
        raw = {plain(feature[place]): feature[place] for feature in rows}
        values = sorted((one for one in raw if one is not None), key=str)
        if not values:
            raise MendableError(f"{name} of {source.key} is empty everywhere.")
        if len(values) > _MOST_CATEGORIES:
            raise MendableError(
                f"{name} of {source.key} has {len(values)} values, more than "
                f"{_MOST_CATEGORIES}. For numbers use style_graduated."
            )
        context.call(lambda: self._draw(name, values, raw, arguments, source, context))
        return ToolResult(
            f"{source.key} is coloured by {name} in {len(values)} categories.",
            numbers={"categories": len(values)},
        )

    @staticmethod
    def _draw(
        name: str,
        values: list[Any],
        raw: dict[Any, Any],
        arguments: dict[str, Any],
        source: VectorSource,
        context: Context,
    ) -> None:
        layer: QgsVectorLayer = context.map_layer(source)
        ramp = ramp_named(arguments.get("ramp", "") or "Spectral")
        categories = []
        for number, value in enumerate(values):
            symbol = QgsSymbol.defaultSymbol(layer.geometryType())
            symbol.setColor(ramp.color(number / max(1, len(values) - 1)))
            categories.append(QgsRendererCategory(raw[value], symbol, str(value)))
        rest = QgsSymbol.defaultSymbol(layer.geometryType())
        rest.setColor(QgsApplication.palette().mid().color())
        categories.append(QgsRendererCategory(None, rest, ""))
        applied(QgsCategorizedSymbolRenderer(name, categories), source, context)
