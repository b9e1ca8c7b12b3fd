# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters that name layers, and fields, bands and datasets of them."""

from __future__ import annotations

from typing import Any

from qgis.core import Qgis, QgsMapLayer, QgsMeshDatasetIndex, QgsMeshLayer
from qgis.PyQt.QtCore import QDateTime, Qt

from .base import Family, MendableError
from .condition import field_named
from .expression import SourceFields
from .fitting import Fitting, Way, as_text, chosen, decoded, many, one, shown, wrong
from .source import LayerSource, RasterSource, VectorSource

_KINDS = {
    Qgis.ProcessingSourceType.VectorPoint: {Family.POINT},
    Qgis.ProcessingSourceType.VectorLine: {Family.LINE},
    Qgis.ProcessingSourceType.VectorPolygon: {Family.POLYGON},
    Qgis.ProcessingSourceType.VectorAnyGeometry: {Family.POINT, Family.LINE, Family.POLYGON},
}
_RASTER = Qgis.ProcessingSourceType.Raster
_FILE = Qgis.ProcessingSourceType.File
OTHER = {
    "mesh": (Qgis.LayerType.Mesh, "mesh layer"),
    "pointcloud": (Qgis.LayerType.PointCloud, "point cloud layer"),
    "annotation": (Qgis.LayerType.Annotation, "annotation layer"),
}
"""Layers that no other tool reads: their kind, and what they are called."""
_OTHER_SOURCES = {
    Qgis.ProcessingSourceType.Mesh: "mesh",
    Qgis.ProcessingSourceType.PointCloud: "pointcloud",
    Qgis.ProcessingSourceType.Annotation: "annotation",
}
_WORDS = {Family.POINT: "points", Family.LINE: "lines", Family.POLYGON: "polygons"}


def layer(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the id of the layer that is named, if it is of a fitting kind."""
    source = fitting.context.layer(as_text(definition, one(definition, value)))
    fitting.sources[definition.name()] = source
    if definition.type() == "raster":
        check_kinds(definition.name(), [_RASTER], source)
    elif definition.type() in ("source", "vector", "layer"):
        vector = [Qgis.ProcessingSourceType.Vector]
        kinds = definition.dataTypes() or ([] if definition.type() == "layer" else vector)
        check_kinds(definition.name(), list(kinds), source)
    return source.id


def layers(fitting: Fitting, definition: Any, value: Any) -> list[str]:
    """Return the ids of the layers that are named; files for a parameter of files."""
    names = [as_text(definition, item) for item in many(value)]
    least = definition.minimumNumberInputs()
    if not names or len(names) < least:
        raise MendableError(f"{definition.name()} needs at least {max(1, least)} layers.")
    kind = definition.layerType()
    if kind == _FILE:
        boundary = fitting.context.boundary()
        return [str(boundary.readable(name, definition.name())) for name in names]
    if kind in _OTHER_SOURCES:
        return [_other(fitting, definition, name, _OTHER_SOURCES[kind]) for name in names]
    found = [fitting.context.layer(name) for name in names]
    for source in found:
        check_kinds(definition.name(), [kind], source)
    fitting.sources[definition.name()] = found[0]
    return [source.id for source in found]


def check_kinds(name: str, kinds: list[Any], source: LayerSource) -> None:
    """Refuse a layer of another kind than those wanted; Processing may take it silently."""
    known = set(_KINDS) | {Qgis.ProcessingSourceType.Vector, _RASTER}
    if not kinds or not set(kinds) <= known:
        return
    if isinstance(source, RasterSource):
        if _RASTER not in kinds:
            raise MendableError(f"{name} needs a vector layer; {source.key} is a raster.")
        return
    if set(kinds) == {_RASTER}:
        raise MendableError(f"{name} needs a raster; {source.key} is a {source.geometry} layer.")
    wanted: set[Family] = set()
    for kind in set(kinds) - {_RASTER}:
        wanted |= _KINDS.get(kind, set(Family))
    if source.family not in wanted and source.family is not Family.VECTOR:
        words = " or ".join(_WORDS[family] for family in _WORDS if family in wanted)
        raise MendableError(f"{name} needs {words}; {source.key} is a {source.geometry} layer.")


def other_layer(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the id of a layer that no other tool reads: a mesh, a point cloud, annotations."""
    return _other(fitting, definition, one(definition, value), definition.type())


def _other(fitting: Fitting, definition: Any, value: Any, kind: str) -> str:
    wanted, what = OTHER[kind]
    if kind == "annotation" and value == "main":
        return "main"

    def ids() -> dict[str, str]:
        found: dict[str, str] = {}
        for item in fitting.context.project.mapLayers().values():
            if item.type() == wanted:
                found[item.id() if item.name() in found else item.name()] = item.id()
        return found

    by_name = fitting.context.call(ids)
    if value in by_name.values():
        return str(value)
    return by_name[chosen(definition, value, list(by_name), what)]


def field(fitting: Fitting, definition: Any, value: Any) -> Any:
    """Return the field that is named, or several, as the layer writes it."""
    source = fitting.parent(definition.parentLayerParameterName())
    names = [as_text(definition, item) for item in many(value)]
    if not definition.allowMultiple():
        one(definition, value)
    if isinstance(source, VectorSource):
        fields = SourceFields(source, fitting.context.cancelled)
        names = [field_named(name, fields) for name in names]
        numeric = definition.dataType() == Qgis.ProcessingFieldParameterDataType.Numeric
        for name in names:
            if numeric and source.type_of(name) not in ("integer", "real"):
                raise MendableError(f"{definition.name()} needs a field of numbers; {name} is not.")
    return names if definition.allowMultiple() else names[0]


def band(fitting: Fitting, definition: Any, value: Any) -> Any:
    """Return a band's number, or several."""
    source = fitting.parent(definition.parentLayerParameterName())
    numbers = many(value)
    if not definition.allowMultiple():
        one(definition, value)
    for item in numbers:
        if isinstance(item, bool) or not str(item).isdigit() or int(item) < 1:
            if isinstance(source, RasterSource):
                raise _no_band(source, item)
            raise wrong(definition, "the number of a band, from 1", value)
        if isinstance(source, RasterSource) and int(item) > len(source.bands):
            raise _no_band(source, item)
    found = [int(item) for item in numbers]
    return found if definition.allowMultiple() else found[0]


def _no_band(source: RasterSource, value: Any) -> MendableError:
    return MendableError(
        f"{source.key} has no band {value}; it has bands 1 to {len(source.bands)}."
    )


def attribute(fitting: Fitting, definition: Any, value: Any) -> Any:
    """Return the attribute of a point cloud that is named, or several."""
    names = [as_text(definition, item) for item in many(value)]
    return names if definition.allowMultiple() else as_text(definition, one(definition, value))


def dataset_groups(fitting: Fitting, definition: Any, value: Any) -> list[int]:
    """Return dataset groups of a mesh, given by name or index."""
    parent = definition.meshLayerParameterName()
    there = fitting.context.call(lambda: _groups(fitting.live(parent)))
    found = []
    for item in many(value):
        if isinstance(item, bool):
            raise wrong(definition, "a list of dataset groups", value)
        index = int(item) if str(item).isdigit() else None
        if index is None or index not in there:
            name = chosen(definition, item, list(there.values()), "dataset group of the mesh")
            index = next(key for key, text in there.items() if text == name)
        found.append(index)
    return found


def _groups(mesh: QgsMapLayer | None) -> dict[int, str]:
    if not isinstance(mesh, QgsMeshLayer):
        return {}
    indexes = mesh.datasetGroupsIndexes()
    return {one: mesh.datasetGroupMetadata(QgsMeshDatasetIndex(one)).name() for one in indexes}


def dataset_time(fitting: Fitting, definition: Any, value: Any) -> dict[str, Any]:
    """Return the time of a mesh's dataset: "static", or a moment as ISO text."""
    given = decoded(value)
    if isinstance(given, dict) and given.get("type") in ("static", "current-context-time"):
        return {"type": given["type"]}
    if isinstance(given, dict) and given.get("type") == "dataset-time-step":
        step = given.get("value")
        if isinstance(step, list) and len(step) == 2 and all(type(part) is int for part in step):
            return {"type": "dataset-time-step", "value": step}
    if isinstance(given, dict):
        given = given.get("value")
    if given == "static":
        return {"type": "static"}
    moment = QDateTime.fromString(str(given), Qt.DateFormat.ISODate)
    if isinstance(given, str) and moment.isValid():
        return {"type": "defined-date-time", "value": moment.toString(Qt.DateFormat.ISODate)}
    raise MendableError(
        f'{definition.name()} must be "static" or a moment such as 2024-05-31T12:00:00, '
        f"not {shown(value)}."
    )


WAYS: dict[str, Way] = {
    "source": layer,
    "vector": layer,
    "raster": layer,
    "layer": layer,
    "multilayer": layers,
    "mesh": other_layer,
    "pointcloud": other_layer,
    "annotation": other_layer,
    "field": field,
    "band": band,
    "attribute": attribute,
    "meshdatasetgroups": dataset_groups,
    "meshdatasettime": dataset_time,
}
"""How a value of each type of parameter is fitted."""
