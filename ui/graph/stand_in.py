# SPDX-License-Identifier: GPL-2.0-or-later
"""QGIS layers for QGIS's widgets: the project's own, a step's result, else an empty layer with the
kind, CRS and fields that the step will give."""

from __future__ import annotations

from qgis.core import QgsMapLayer, QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QUrl

from ...plugin.workflow.shape import Shape
from ...plugin.workflow.value import Layer, Output, Value
from ...tools.base import Family
from .card import title
from .document import GraphDocument

_GEOMETRIES = {Family.POINT: "Point", Family.LINE: "LineString", Family.POLYGON: "Polygon"}
_TYPES = {"integer": "integer", "real": "double", "date": "date", "time": "time",
          "datetime": "datetime", "boolean": "bool"}  # fmt: skip


class StandIns:
    """Finds or makes the layers of a document; what was made is kept while it fits."""

    def __init__(self, document: GraphDocument) -> None:
        self._document = document
        self._made: dict[str, QgsVectorLayer] = {}

    def layer(self, value: Value) -> QgsMapLayer | None:
        """Return the layer that a value means, None where nothing is known of it."""
        project = QgsProject.instance()
        if isinstance(value, Layer):
            found = (one.id for one in self._document.layers if one.key == value.name)
            return project.mapLayer(next(found, ""))
        if not isinstance(value, Output):
            return None
        result = self._document.state(value.vertex).result
        if result is not None and result.layers and not value.key:
            made = project.mapLayer(result.layers[0].id)
            if made is not None:
                return made
        return self._stand_in(value)

    def _stand_in(self, value: Output) -> QgsVectorLayer | None:
        gives = self._document.flow.gives().get(value.vertex)
        shape = gives.shape if gives is not None and not value.key else None
        if shape is None or shape.family is Family.RASTER:
            return None
        source = _source(shape)
        made = self._made.get(value.vertex)
        if made is None or made.customProperty("geo_olm/source") != source:
            graph = self._document.graph
            name = title(self._document, graph.vertex(value.vertex))
            made = QgsVectorLayer(source, name, "memory")
            made.setCustomProperty("geo_olm/source", source)
            self._made[value.vertex] = made
        return made


def _source(shape: Shape) -> str:
    """Return an empty memory layer of a shape, as its provider reads it."""
    geometry = _GEOMETRIES.get(shape.family, "None" if shape.family is Family.TABLE else "Polygon")
    parts = [f"crs={shape.crs}"] if shape.crs else []
    for name, kind in (shape.fields or {}).items():
        quoted = bytes(QUrl.toPercentEncoding(name)).decode()
        parts.append(f"field={quoted}:{_TYPES.get(kind, 'string')}")
    return f"{geometry}?{'&'.join(parts)}"
