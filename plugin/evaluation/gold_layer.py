# SPDX-License-Identifier: GPL-2.0-or-later
"""What a gold chain reads from a layer: properties, rows, and aggregates over all rows.

Main thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import (
    QgsExpression,
    QgsExpressionContext,
    QgsExpressionContextUtils,
    QgsFeature,
    QgsFeatureRequest,
    QgsMapLayer,
    QgsRasterLayer,
    QgsVectorLayer,
    QgsWkbTypes,
)

from ...tools.source import plain

_ALL = "#!allattributes!#"


class GoldError(Exception):
    """A gold chain cannot be played; the message names the step or the reference."""


def _extent(layer: QgsMapLayer) -> list[float]:
    box = layer.extent()
    return [box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()]


def _geometry_type(layer: QgsMapLayer) -> str:
    if isinstance(layer, QgsRasterLayer):
        return "Raster"
    return str(QgsWkbTypes.displayString(QgsWkbTypes.flatType(layer.wkbType())))


def _count(layer: QgsMapLayer) -> int:
    vector = _vector(layer)
    known = vector.featureCount()
    return int(known) if known >= 0 else sum(1 for _ in vector.getFeatures())


def _vector(layer: QgsMapLayer) -> QgsVectorLayer:
    if not isinstance(layer, QgsVectorLayer):
        raise GoldError(f'"{layer.name()}" is a raster, so it has no rows.')
    return layer


PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "extent": _extent,
    "bbox": _extent,
    "crs": lambda layer: layer.crs().authid(),
    "geometry_type": _geometry_type,
    "geometry": _geometry_type,
    "count": _count,
    "feature_count": _count,
    "fields": lambda layer: _vector(layer).fields().names(),
    "field_count": lambda layer: _vector(layer).fields().count(),
    "band_count": lambda layer: layer.bandCount(),
    "name": lambda layer: layer.name(),
}
"""Properties of a layer by the names that a chain may use; extents are xmin, ymin, xmax, ymax."""


class Rows:
    """An expression, checked, over the rows of one layer."""

    def __init__(self, layer: QgsMapLayer, text: str) -> None:
        """Raises GoldError for a raster, and for an expression that the layer does not fit."""
        self._layer = _vector(layer)
        self._text = text
        self._expression = QgsExpression(text)
        if self._expression.hasParserError():
            said = self._expression.parserErrorString()
            raise GoldError(f"The expression {text} does not parse: {said}")
        fields = self._layer.fields()
        for name in sorted(self._expression.referencedColumns() - {_ALL}):
            if fields.lookupField(name) < 0:
                raise GoldError(f'"{self._layer.name()}" has no field "{name}".')
        self._context = QgsExpressionContext()
        self._context.appendScopes(QgsExpressionContextUtils.globalProjectLayerScopes(self._layer))
        self._context.setFields(fields)
        self._context.setLoadedLayerStore(layer.project().layerStore())
        self._expression.prepare(self._context)

    def whole(self) -> Any:
        """Return the value over the whole layer, as aggregates are."""
        first = next(iter(self._layer.getFeatures(QgsFeatureRequest().setLimit(1))), QgsFeature())
        return self._of(first)

    def at(self, row: int) -> Any:
        """Return the value at a row, counted from 0 or, below it, from the end."""
        features = list(self._layer.getFeatures())
        if not -len(features) <= row < len(features):
            raise GoldError(f'"{self._layer.name()}" has {len(features)} rows, so none at {row}.')
        return self._of(features[row])

    def all(self) -> list[tuple[Any, int]]:
        """Return value and row of every feature that has a value; there is one at least."""
        values = [self._of(feature) for feature in self._layer.getFeatures()]
        found = [(value, row) for row, value in enumerate(values) if value is not None]
        if not found:
            raise GoldError(f'"{self._layer.name()}" has no row with a value of {self._text}.')
        return found

    def _of(self, feature: QgsFeature) -> Any:
        self._context.setFeature(feature)
        value = self._expression.evaluate(self._context)
        if self._expression.hasEvalError():
            raise GoldError(f"{self._text} fails: {self._expression.evalErrorString()}")
        return plain(value)
