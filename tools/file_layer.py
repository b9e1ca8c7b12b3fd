# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers in a file of any format that is read here, opened so that the file and its folder
stay as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    Qgis,
    QgsFeatureRequest,
    QgsMapLayer,
    QgsProviderRegistry,
    QgsProviderSublayerDetails,
    QgsRasterLayer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QCoreApplication

from . import delimited, delimited_layer, parquet
from .base import MendableError
from .context import Context
from .source import field_type
from .spelling import bare, listed

MOST_LAYERS = 30
_LAYER_NAME = re.compile(r"\|layername=([^|]+)")
_KINDS = (Qgis.LayerType.Vector, Qgis.LayerType.Raster)
_PROVIDERS = ("ogr", "gdal")
_MOST_READ = 20_000
_ARCHIVE = "/vsizip/"
_SHEETS = {".xlsx": "OGR_XLSX_HEADERS", ".xls": "OGR_XLS_HEADERS", ".ods": "OGR_ODS_HEADERS"}
"""GDAL's options on whether the first row of a sheet holds names."""
_UNNAMED = re.compile(r"Field\d+")
_PARTS = {".shp": (".shx", ".dbf")}
"""Files without which another one cannot be read."""


@dataclass(frozen=True)
class Wanted:
    """A file to open: its path for GDAL, the file itself, and the layer meant ("" for all)."""

    source: str
    path: Path
    layer: str


def wanted(source: str, layer: str, context: Context) -> Wanted:
    """Return what a source means, within the folders that may be read. Raises MendableError."""
    named = _LAYER_NAME.search(source)
    path = context.boundary().readable(source)
    if not path.exists():
        raise MendableError(f"There is no file {path.name} in {path.parent}. Check its name.")
    if path.is_dir():
        raise MendableError(f"{path.name} is a folder: name one of its files.")
    text = source.partition("|")[0].strip()
    inside = text if text.lower().startswith("/vsi") or re.match(r"\w+:\"", text) else str(path)
    return Wanted(inside, path, layer or (named.group(1) if named else ""))


def opened(asked: Wanted, crs: str, context: Context) -> list[QgsMapLayer]:
    """Return the layers of a file that are asked for, given to the main thread.

    Any thread. Raises MendableError when the file is damaged, of no format that is known, or has
    no such layer, LastingError for a missing package.
    """
    path = asked.path
    if parquet.needs_us(path):
        return [parquet.opened(path, path.stem)]
    if path.suffix.lower() in delimited.ENDINGS and asked.source == str(path):
        stop = context.stop_if_cancelled
        found = delimited_layer.layers_of(path, path.stem, crs, context.note, stop)
        return list(found)
    with _Quiet() as said:
        parts = _chosen(_sublayers(asked), asked, context)
        return [_layer(one, asked, said, context) for one in parts]


class _Quiet:
    """Keeps what GDAL says from the console, and the last of it for a message."""

    def __enter__(self) -> Callable[[], str]:
        gdal.ErrorReset()
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        return lambda: str(gdal.GetLastErrorMsg()).strip()

    def __exit__(self, *_: object) -> None:
        gdal.PopErrorHandler()


def _sublayers(asked: Wanted) -> list[QgsProviderSublayerDetails]:
    source = asked.source
    for ending in _PARTS.get(asked.path.suffix.lower(), ()):
        if not any(one.exists() for one in _spellings(asked.path, ending)):
            raise MendableError(
                f"{asked.path.name} lacks its file {asked.path.with_suffix(ending).name}: a "
                "Shapefile is several files. Put them side by side."
            )
    sources = [source]
    if asked.path.suffix.lower() == ".zip" and source == str(asked.path):
        members = gdal.ReadDirRecursive(f"{_ARCHIVE}{source}") or []
        sources = [f"{_ARCHIVE}{source}/{one}" for one in members if _is_data(one)]
        if not sources:
            raise MendableError(f"{asked.path.name} is damaged, or holds no file of layers.")
    found = [part for one in sources for part in _parts(one)]
    if not found:
        raise MendableError(_unread(asked))
    return found


def _spellings(path: Path, ending: str) -> tuple[Path, Path]:
    return path.with_suffix(ending), path.with_suffix(ending.upper())


def _is_data(member: str) -> bool:
    endings = {".shp", ".gpkg", ".geojson", ".json", ".kml", ".gml", ".gpx", ".fgb", ".tif", ".csv"}
    return Path(member).suffix.lower() in endings


def _parts(source: str) -> list[QgsProviderSublayerDetails]:
    deep = Qgis.SublayerQueryFlag.ResolveGeometryType | Qgis.SublayerQueryFlag.CountFeatures
    flags = Qgis.SublayerQueryFlags(deep)
    found = QgsProviderRegistry.instance().querySublayers(source, flags)
    return [one for one in found if one.type() in _KINDS and one.providerKey() in _PROVIDERS]


def _chosen(
    parts: list[QgsProviderSublayerDetails], asked: Wanted, context: Context
) -> list[QgsProviderSublayerDetails]:
    names = [_named(one, asked) for one in parts]
    if asked.layer:
        exact = [one for one in parts if _named(one, asked) == asked.layer]
        near = [one for one in parts if bare(_named(one, asked)) == bare(asked.layer)]
        if exact or near:
            return exact or near
        raise MendableError(
            f'{asked.path.name} has no layer "{asked.layer}". Its layers: {listed(names, 40)}.'
        )
    if asked.path.suffix.lower() == ".gpx":
        filled = [one for one in parts if one.featureCount()]
        parts = filled or parts
    if len(parts) > MOST_LAYERS:
        raise MendableError(
            f"{asked.path.name} has {len(parts)} layers: name one with layer. "
            f"They are {listed(names, 60)}."
        )
    if len(parts) > 1:
        context.note(f"{asked.path.name} has {len(parts)} layers; each was opened.")
    return parts


def _named(part: QgsProviderSublayerDetails, asked: Wanted) -> str:
    name = str(part.name()) or asked.path.stem
    return Path(name).stem if asked.path.suffix.lower() == ".zip" else name


def _layer(
    part: QgsProviderSublayerDetails, asked: Wanted, said: Callable[[], str], context: Context
) -> QgsMapLayer:
    name = _named(part, asked)
    if part.type() == Qgis.LayerType.Raster:
        plain = QgsRasterLayer.LayerOptions(loadDefaultStyle=False)
        layer: QgsMapLayer = QgsRasterLayer(part.uri(), name, part.providerKey(), plain)
    else:
        options = QgsVectorLayer.LayerOptions()
        options.loadDefaultStyle = False
        # A Shapefile opened so loses the encoding of its .cpg file (QGIS 3.40); a GeoPackage
        # opened for writing gets files beside it.
        options.forceReadOnly = asked.path.suffix.lower() == ".gpkg"
        layer = QgsVectorLayer(part.uri(), name, part.providerKey(), options)
        if layer.isValid():
            _check_read(layer, asked, said)
            layer = _headed(layer, asked, context)
    if not layer.isValid():
        raise MendableError(_unread(asked))
    layer.moveToThread(QCoreApplication.instance().thread())
    return layer


def _check_read(layer: QgsVectorLayer, asked: Wanted, said: Callable[[], str]) -> None:
    """Read the first features, so that a damaged file is told now and not by a wrong number."""
    expected, seen = layer.featureCount(), 0
    gdal.ErrorReset()
    for _ in layer.getFeatures():
        seen += 1
        if seen >= _MOST_READ:
            return
    if said() or (0 <= seen < expected):
        reason = said() or f"it tells of {expected} features and {seen} can be read"
        raise MendableError(
            f"{asked.path.name} is damaged: {reason.rstrip('.')}. Ask for the file anew."
        )


def _headed(layer: QgsVectorLayer, asked: Wanted, context: Context) -> QgsVectorLayer:
    """Return a sheet of texts with its first row as names: GDAL takes them for data where no
    column holds numbers. It is a copy, since the option holds for this thread alone."""
    option = _SHEETS.get(asked.path.suffix.lower(), "")
    fields = layer.fields()
    unnamed = all(_UNNAMED.fullmatch(one.name()) for one in fields)
    if not option or not unnamed or any(field_type(one) != "text" for one in fields):
        return layer
    gdal.SetThreadLocalConfigOption(option, "FORCE")
    try:
        headed = QgsVectorLayer(layer.source(), layer.name(), layer.providerType())
        copy: QgsVectorLayer = headed.materialize(QgsFeatureRequest())
    finally:
        gdal.SetThreadLocalConfigOption(option, None)
    copy.setName(layer.name())
    context.note("The first row of the sheet was taken as the names of its columns.")
    return copy


def _unread(asked: Wanted) -> str:
    return (
        f"{asked.path.name} cannot be opened: it is damaged, or of no format that QGIS reads here. "
        "Check the file, or ask for a GeoPackage."
    )
