# SPDX-License-Identifier: GPL-2.0-or-later
"""Attribute tables as pandas and geopandas frames.

A plain file is read as it lies on the disk; a layer with edits, joins, virtual fields, a filter
or a selection is exported first by QGIS's own writer, so that none of these is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qgis.core import (
    Qgis,
    QgsFeatureSink,
    QgsProject,
    QgsProviderRegistry,
    QgsVectorFileWriter,
    QgsVectorLayer,
)

from .base import LastingError
from .context import Context
from .package import package
from .source import VectorSource, plain

PLAIN_FORMATS = frozenset({".gpkg", ".geojson", ".fgb"})
"""Formats whose fields pyogrio and QGIS read alike."""
_KEY, _LAYER = "geo_olm_key", "table"
"""The feature id and the layer of an export, so that a field may be called fid."""
_PLAIN_PARTS = {"path", "layerName", "layerId"}
_PURPOSE = "Reading a table"
_GOOD_ARROW = (3, 8, 3)
"""Before it GDAL gives wrong truth values by Arrow. In QGIS pyogrio meets the GDAL of QGIS."""
_NULLABLE = {"int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64",
             "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32",
             "bool": "boolean"}  # fmt: skip


def frame(source: VectorSource, context: Context, geometry: bool = False) -> Any:
    """Return a layer's features as a frame with its fields in order; with `geometry` a geopandas
    one in the layer's CRS.

    Whole numbers stay whole where some are NULL. Called on the thread that computes. Raises
    LastingError when a package is missing, ToolCancelled.
    """
    place = context.call(lambda: _plain_file(source, context.project))
    if place is not None:
        found = _read(place, source, geometry, context)
        if list(_columns(found)) == source.names() and len(found) == source.features:
            return found
    context.temporary_folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=context.temporary_folder) as folder:
        path = Path(folder) / "export.gpkg"
        _export(source, path, context)
        found = _read((path, _LAYER), source, geometry, context)
        if geometry:  # QGIS writes an empty geometry for none
            found.loc[found.geometry.is_empty, "geometry"] = None
        return found


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
        context.call(lambda: context.project.transformContext()),
        options,
    )
    for feature in source.rows(context.cancelled, geometry=True):
        writer.addFeature(feature, QgsFeatureSink.Flag.FastInsert)
    failed = writer.errorMessage() if writer.hasError() else ""
    del writer  # closes the file
    if failed:
        raise LastingError(f"{source.key} could not be copied for reading: {failed}.")


def _read(
    place: tuple[Path, str | None], source: VectorSource, geometry: bool, context: Context
) -> Any:
    pyogrio = package("pyogrio", _PURPOSE)
    pandas = package("pandas", _PURPOSE)
    if geometry:
        package("geopandas", _PURPOSE)
    path, layer = place
    names = source.names()
    options: dict[str, Any] = {}
    if pyogrio.__gdal_version__ >= _GOOD_ARROW:
        options = {"use_arrow": True, "arrow_to_pandas_kwargs": {"types_mapper": _mapper(pandas)}}
    found = pyogrio.read_dataframe(
        str(path), layer=layer, read_geometry=geometry, fid_as_index="fid" in names, **options
    )
    if "fid" in names and "fid" not in found.columns:
        found = found.reset_index()
    if geometry and not is_spatial(found):
        geopandas = package("geopandas", _PURPOSE)
        found = geopandas.GeoDataFrame(found, geometry=[None] * len(found))
    if list(_columns(found)) == names and len(found) == source.features:
        _harmonise(found, source, pandas, context)
    return found[[*names, "geometry"]] if geometry else found


def _mapper(pandas: Any) -> Any:
    """Return the pandas types that hold NULL beside whole numbers and truth values."""
    return lambda kind: (
        pandas.api.types.pandas_dtype(_NULLABLE[str(kind)]) if (str(kind) in _NULLABLE) else None
    )


def _harmonise(found: Any, source: VectorSource, pandas: Any, context: Context) -> None:
    """Give the columns the same types whether they came by Arrow or not: whole numbers and truth
    values beside NULL, days as days, moments in UTC without saying so."""
    gaps = []
    for name in source.names():
        kind, dtype = source.type_of(name), str(found[name].dtype)
        wanted = {"integer": "Int64", "boolean": "boolean"}.get(kind)
        if kind == "date" and dtype.startswith("datetime"):
            found[name] = found[name].dt.date.where(found[name].notna(), None)
        elif getattr(found[name].dtype, "tz", None) is not None:
            found[name] = found[name].dt.tz_convert("UTC").dt.tz_localize(None)
        elif wanted and (dtype.startswith(("int", "bool")) or dtype == wanted):
            found[name] = found[name].astype(wanted)
        elif wanted and not dtype.startswith(("Int", "UInt")):
            gaps.append((name, wanted))
    if gaps:  # pandas made real numbers of them, which may have lost digits
        names = [name for name, _ in gaps]
        rows = source.rows(context.cancelled, only=names)
        values = [[plain(feature[name]) for name in names] for feature in rows]
        for at, (name, wanted) in enumerate(gaps):
            found[name] = pandas.array([one[at] for one in values], dtype=wanted)


def _columns(found: Any) -> Sequence[str]:
    return [name for name in found.columns if name != "geometry" or not is_spatial(found)]


def is_spatial(found: Any) -> bool:
    """Tell whether a frame is one of geopandas; a plain one may have a column of that name."""
    return type(found).__name__ == "GeoDataFrame"
