# SPDX-License-Identifier: GPL-2.0-or-later
"""Attribute tables as pandas and geopandas frames, and frames as layers.

A plain file is read as it lies on the disk; a layer with edits, joins, virtual fields, a filter
or a selection is exported first by QGIS's own writer, so that none of these is lost.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qgis.core import (
    Qgis,
    QgsFeatureRequest,
    QgsFeatureSink,
    QgsProject,
    QgsProviderRegistry,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QCoreApplication

from .base import LastingError
from .context import Context
from .package import package
from .source import VectorSource

PLAIN_FORMATS = frozenset({".gpkg", ".geojson", ".fgb"})
"""Formats whose fields pyogrio and QGIS read alike."""
_KEY, _LAYER = "geo_olm_key", "table"
"""The feature id and the layer of temporary GeoPackages, so that a field may be called fid."""
_PLAIN_PARTS = {"path", "layerName", "layerId"}
_NULLABLE = {"int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64",
             "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32",
             "bool": "boolean"}  # fmt: skip


def frame(source: VectorSource, context: Context, geometry: bool = False) -> Any:
    """Return a layer's features as a frame with its fields in order; with `geometry` a geopandas
    one in the layer's CRS.

    Whole numbers stay whole where some are NULL. Called on the thread that computes. Raises
    LastingError when a package is missing, ToolCancelled.
    """
    plain = context.call(lambda: _plain_file(source, context.project))
    if plain is not None:
        found = _read(plain, source, geometry)
        if list(_columns(found)) == source.names():
            return found
    with tempfile.TemporaryDirectory(dir=context.temporary_folder) as folder:
        path = Path(folder) / "export.gpkg"
        _export(source, path, context)
        return _read((path, _LAYER), source, geometry)


def _plain_file(source: VectorSource, project: QgsProject) -> tuple[Path, str | None] | None:
    """Return file and layer name when the file holds just what the layer does. Main thread only."""
    layer = project.mapLayer(source.id)
    if not isinstance(layer, QgsVectorLayer) or layer.providerType() != "ogr":
        return None
    changed = layer.isEditable() or layer.vectorJoins() or layer.subsetString()
    fields = layer.fields()
    own = all(fields.fieldOrigin(at) == Qgis.FieldOrigin.Provider for at in range(fields.count()))
    parts = QgsProviderRegistry.instance().decodeUri("ogr", layer.source())
    extra = [key for key, value in parts.items() if value and key not in _PLAIN_PARTS]
    path = Path(parts.get("path") or "")
    if changed or not own or extra or path.suffix.lower() not in PLAIN_FORMATS:
        return None
    return (path, parts.get("layerName") or None) if path.is_file() else None


def _export(source: VectorSource, path: Path, context: Context) -> None:
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName, options.layerName = "GPKG", _LAYER
    options.layerOptions = [f"FID={_KEY}", "SPATIAL_INDEX=NO"]
    writer = QgsVectorFileWriter.create(
        str(path),
        source.fields,
        source.wkb,
        source.crs,
        context.call(context.project.transformContext),
        options,
    )
    for feature in source.rows(context.cancelled, geometry=True):
        writer.addFeature(feature, QgsFeatureSink.Flag.FastInsert)
    failed = writer.errorMessage() if writer.hasError() else ""
    del writer  # closes the file
    if failed:
        raise LastingError(f"{source.key} could not be copied for reading: {failed}.")


def _read(place: tuple[Path, str | None], source: VectorSource, geometry: bool) -> Any:
    pyogrio = package("pyogrio", "Reading a table")
    pandas = package("pandas", "Reading a table")
    if geometry:
        package("geopandas", "Reading a table with its geometries")
    path, layer = place
    names = source.names()
    found = pyogrio.read_dataframe(
        str(path),
        layer=layer,
        read_geometry=geometry,
        fid_as_index="fid" in names,
        use_arrow=True,
        arrow_to_pandas_kwargs={"types_mapper": _mapper(pandas)},
    )
    if "fid" in names and "fid" not in found.columns:
        found = found.reset_index()
    if geometry and not is_spatial(found):
        geopandas = package("geopandas", "Reading a table with its geometries")
        found = geopandas.GeoDataFrame(found, geometry=[None] * len(found))
    return found[[*names, "geometry"]] if geometry else found


def _mapper(pandas: Any) -> Any:
    """Return the pandas types that hold NULL beside whole numbers and truth values."""
    return lambda kind: (
        pandas.api.types.pandas_dtype(_NULLABLE[str(kind)]) if (str(kind) in _NULLABLE) else None
    )


def _columns(found: Any) -> Sequence[str]:
    return [name for name in found.columns if name != "geometry" or not is_spatial(found)]


def is_spatial(found: Any) -> bool:
    """Tell whether a frame is one of geopandas; a plain one may have a column of that name."""
    return type(found).__name__ == "GeoDataFrame"


def layer_of(found: Any, name: str, folder: Path) -> QgsVectorLayer:
    """Return a temporary layer of a frame's rows in order; a plain frame gives a table.

    Lists and records become JSON text. Any thread; the layer is given to the main one. Raises
    LastingError.
    """
    pyogrio = package("pyogrio", "Making a layer of a table")
    package("pyarrow", "Making a layer of a table")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "table.gpkg"
        options = {"FID": _KEY, **({"SPATIAL_INDEX": "NO"} if is_spatial(found) else {})}
        pyogrio.write_dataframe(
            writable(found), str(path), layer=_LAYER, driver="GPKG", use_arrow=True, **options
        )
        file = QgsVectorLayer(f"{path}|layername={_LAYER}", name, "ogr")
        wanted = [one.name() for one in file.fields() if one.name() != _KEY]
        request = QgsFeatureRequest().setSubsetOfAttributes(wanted, file.fields())
        layer: QgsVectorLayer = file.materialize(request)
        del file
    if layer is None or not layer.isValid():
        raise LastingError(f"No layer could be made of {name}.")
    layer.setName(name)
    layer.moveToThread(QCoreApplication.instance().thread())
    return layer


def writable(found: Any) -> Any:
    """Return a copy of a frame whose columns files can hold: what is neither a number, a text nor
    a date becomes JSON text, an index with a name a column."""
    copy = found.reset_index() if found.index.names != [None] else found.copy()
    copy.columns = [str(one) for one in copy.columns]
    for name in _columns(copy):
        kind = str(copy[name].dtype)
        if kind == "category":
            copy[name] = copy[name].astype(copy[name].cat.categories.dtype)
            kind = str(copy[name].dtype)
        if kind == "uint64":
            fits = not len(copy) or int(copy[name].max()) < 2**63
            copy[name] = copy[name].astype("int64" if fits else str)
        elif kind == "object":
            copy[name] = copy[name].map(_plain_value)
    return copy


def _plain_value(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)) or _is_day(value):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _is_day(value: Any) -> bool:
    return hasattr(value, "toordinal")
