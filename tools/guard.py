# SPDX-License-Identifier: GPL-2.0-or-later
"""What Processing would take silently and wrongly: mended on a copy where that is safe and said,
else refused with the reason and the fix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsFeature,
    QgsProcessingAlgorithm,
    QgsRasterFileWriter,
    QgsVectorFileWriter,
    QgsVectorLayer,
)

from . import dateline
from .base import Family, MendableError
from .context import Context
from .distance import needs_crs
from .layer_copy import memory_layer
from .source import LayerSource, RasterSource, VectorSource, crs_name, opened
from .spelling import listed

BY_VALUE = frozenset({"joinattributestable", "package", "exporttospreadsheet"})
"""Algorithms that take several layers and compare no places."""
PARQUET = frozenset({"parquet", "geoparquet"})
_WRITERS = {"vectorDestination": QgsVectorFileWriter, "sink": QgsVectorFileWriter,
            "rasterDestination": QgsRasterFileWriter}  # fmt: skip
_WEIGHTS = {"WEIGHT", "WEIGHT_FIELD"}
_COLUMN, _EXPORTED = "GEOMETRY", "geom"
"""The parameter for the geometry column, and what it is in the file that a layer is exported to."""
_ACTION = "ACTION_ON_EXISTING_FILE"
_MOST_COPIED = 200_000


def inputs(parameters: dict[str, Any], context: Context) -> list[LayerSource]:
    """Return the layers among the parameters of a run in their order, each once."""
    known = {one.id: one for one in context.sources()}
    used = [one for value in parameters.values() for one in _listed(value) if isinstance(one, str)]
    return [known[one] for one in dict.fromkeys(used) if one in known]


def before(
    algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any], context: Context
) -> dict[str, QgsVectorLayer]:
    """Return copies, by the ids of the layers that they stand for in the run.

    Called on the thread that computes. Raises MendableError with the fix, UnanswerableError where
    a CRS is missing, ToolCancelled.
    """
    _refuse_format(algorithm, parameters)
    layers = inputs(parameters, context)
    _refuse_weights(parameters, layers)
    placed = [one for one in layers if one.family is not Family.TABLE]
    copies: dict[str, QgsVectorLayer] = {}
    outside = algorithm.provider().id() == "gdal"
    for source in layers:
        if outside and isinstance(source, VectorSource) and source.edited:
            copies[source.id] = _with_edits(source, context)
    if len(placed) < 2 or algorithm.name() in BY_VALUE:
        return copies
    _refuse_without_crs(placed)
    if outside:
        _refuse_mixed(algorithm, placed)
    else:
        _tell_mixed(placed, context)
    for source in placed:
        if isinstance(source, VectorSource) and dateline.may_cross(source):
            copies.update(_cut(source, context))
    return copies


def completed(
    algorithm: QgsProcessingAlgorithm,
    parameters: dict[str, Any],
    copies: dict[str, QgsVectorLayer],
    context: Context,
) -> dict[str, Any]:
    """Return the parameters with what must fit the data or the disk.

    A layer is added to a file only where there is one. A program of GDAL that asks for the
    geometry column is told its name: the default fits only some formats.
    """
    if parameters.get(_ACTION) and not Path(str(parameters.get("OUTPUT"))).exists():
        parameters = {**parameters, _ACTION: 0}
    definition = algorithm.parameterDefinition(_COLUMN)
    if definition is None or algorithm.provider().id() != "gdal":
        return parameters
    if parameters.get(_COLUMN, definition.defaultValue()) != definition.defaultValue():
        return parameters
    for source in inputs(parameters, context):
        if isinstance(source, VectorSource):
            own = source.provider == "ogr" and source.id not in copies
            column = _column_of(source) if own and not source.is_selection() else _EXPORTED
            return {**parameters, _COLUMN: column or definition.defaultValue()}
    return parameters


def _column_of(source: VectorSource) -> str:
    """Return the geometry column of a file's layer, "" where the format has none."""
    name = re.search(r"\|layername=([^|]*)", source.source)
    dataset = opened(source.source.partition("|")[0])
    if dataset is None:
        return ""
    found = dataset.GetLayerByName(name.group(1)) if name else dataset.GetLayer(0)
    return str(found.GetGeometryColumn()) if found is not None else ""


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _refuse_format(algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any]) -> None:
    """Refuse a file of a format that is not known: Processing would write another one."""
    for definition in algorithm.destinationParameterDefinitions():
        text, writer = parameters.get(definition.name()), _WRITERS.get(definition.type())
        if writer is None or not isinstance(text, str) or not Path(text).is_absolute():
            continue
        suffix = Path(text).suffix.lstrip(".").lower()
        known = [*writer.supportedFormatExtensions()]
        if writer is QgsVectorFileWriter:
            known += sorted(PARQUET)
        if suffix not in known:
            said = f'"{suffix}" is no format' if suffix else "a name without an ending is no format"
            raise MendableError(
                f"{definition.name()}: {said} that can be written. Write a file that ends in "
                f"{'.tif' if writer is QgsRasterFileWriter else '.gpkg'}; known are "
                f"{listed(known, 20)}."
            )


def _refuse_weights(parameters: dict[str, Any], layers: list[LayerSource]) -> None:
    """Refuse weights that are texts, which count as nothing."""
    for name in _WEIGHTS & set(parameters):
        field = parameters[name]
        for source in layers:
            if not isinstance(source, VectorSource) or field not in source.names():
                continue
            if source.type_of(field) not in ("integer", "real"):
                raise MendableError(
                    f"{name} needs a field of numbers; {field} of {source.key} holds "
                    f"{source.type_of(field)} values. Make numbers of it by calculate_field first."
                )


def _refuse_without_crs(placed: list[LayerSource]) -> None:
    """Refuse layers of which some have a CRS and some have none: they would never meet."""
    lacking = [one for one in placed if not one.crs.isValid()]
    if lacking and len(lacking) < len(placed):
        other = next(one for one in placed if one.crs.isValid())
        needs_crs(lacking[0], f"it cannot be compared with {other.key}")


def _refuse_mixed(algorithm: QgsProcessingAlgorithm, placed: list[LayerSource]) -> None:
    """Refuse layers of one kind in several CRS for programs that do not reproject."""
    for kind in (VectorSource, RasterSource):
        own = [one for one in placed if isinstance(one, kind)]
        other = next((one for one in own if one.crs != own[0].crs), None)
        if other is not None:
            raise MendableError(
                f"{algorithm.id()} does not reproject: {own[0].key} is in {crs_name(own[0].crs)}, "
                f"{other.key} in {crs_name(other.crs)}. Bring one to the CRS of the other first."
            )


def _tell_mixed(placed: list[LayerSource], context: Context) -> None:
    """Say which layers are brought to the CRS of the first."""
    own = [one for one in placed if isinstance(one, VectorSource)]
    for other in own[1:]:
        if other.crs != own[0].crs:
            context.note(
                f"{other.key} is in {crs_name(other.crs)} and {own[0].key} in "
                f"{crs_name(own[0].crs)}: one is brought to the CRS of the other for the "
                "comparison."
            )


def _with_edits(source: VectorSource, context: Context) -> QgsVectorLayer:
    """Copy a layer as it is in QGIS, for programs that would read the saved file."""
    if source.features > _MOST_COPIED:
        raise MendableError(
            f"{source.key} has unsaved edits, which this program cannot read, and is too large "
            "to copy. Save the edits first, or use a native algorithm."
        )
    return memory_layer(source, source.rows(context.cancelled, geometry=True), multi=True)


def _cut(source: VectorSource, context: Context) -> dict[str, QgsVectorLayer]:
    """Copy a layer with the geometries cut that are drawn across the date line."""
    features, count = [], 0
    for feature in source.rows(context.cancelled, geometry=True):
        if len(features) >= _MOST_COPIED:
            return {}
        geometry, was_cut = dateline.whole(feature.geometry(), source)
        copy = QgsFeature(feature)
        if was_cut:
            copy.setGeometry(geometry)
            count += 1
        features.append(copy)
    context.note(dateline.note(count, source))
    return {source.id: memory_layer(source, features, multi=True)} if count else {}
