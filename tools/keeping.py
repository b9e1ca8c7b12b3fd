# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary results written to one GeoPackage, rasters as GeoTIFF beside it; the project's layers
then point to what was written, with their names, styles and places in the layer tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    QgsDataProvider,
    QgsMapLayer,
    QgsMapLayerStyle,
    QgsRasterLayer,
    QgsVectorLayer,
)

from . import execution
from .base import LastingError, MendableError, ToolError
from .context import Context
from .source import opened

_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_NEW_LAYER = 1
"""The choice of the algorithm that writes features with which a file's other layers stay."""


@dataclass(frozen=True)
class Kept:
    """What was kept: the GeoPackage or the only file, the ids of the layers, all files written,
    and a sentence for each layer that could not be kept."""

    path: str
    layers: tuple[str, ...]
    files: tuple[str, ...]
    faults: tuple[str, ...]


def keep(identities: Iterable[str], target: Path, context: Context) -> Kept:
    """Keep temporary layers of the project, by their ids, in a GeoPackage that may be there.

    Nothing there is overwritten: names that are taken get a number. Called on the thread that
    computes. Raises MendableError for a file that is no GeoPackage, ToolCancelled.
    """
    if not target.suffix:
        target = target.with_suffix(".gpkg")
    taken = _names_in(target)
    done, files, faults = [], [], []
    for identity in identities:
        layer = context.call(lambda one=identity: context.project.mapLayer(one))
        if layer is None:
            continue
        name = context.call(layer.name)
        try:
            if isinstance(layer, QgsVectorLayer):
                file = _keep_vector(layer, name, target, taken, context)
            elif isinstance(layer, QgsRasterLayer):
                file = _keep_raster(layer, name, target, context)
            else:
                raise LastingError("it is no vector layer, table or raster.")
        except ToolError as error:
            faults.append(f"{name} was not kept: {error.message}")
            continue
        done.append(identity)
        files.append(str(file))
    files = list(dict.fromkeys(files))
    main = str(target) if str(target) in files or not files else files[0]
    return Kept(main, tuple(done), tuple(files), tuple(faults))


def _names_in(target: Path) -> set[str]:
    """Return the names of the tables of a GeoPackage, folded. Raises MendableError."""
    if not target.exists():
        return set()
    dataset = opened(str(target), "GPKG")
    if dataset is None:
        raise MendableError(f"{target.name} is there and is no GeoPackage. Choose another name.")
    return {dataset.GetLayer(at).GetName().lower() for at in range(dataset.GetLayerCount())}


def _keep_vector(
    layer: QgsVectorLayer, name: str, target: Path, taken: set[str], context: Context
) -> Path:
    table = _free_name(name, taken)
    fields = context.call(lambda: [one.name().lower() for one in layer.fields()])
    parameters = {
        "INPUT": context.call(layer.id),
        "OUTPUT": str(target),
        "LAYER_NAME": table,
        "ACTION_ON_EXISTING_FILE": _NEW_LAYER,
        # The results of a GeoPackage carry its feature ids as a field, and not always each once.
        "LAYER_OPTIONS": "FID=kept_fid" if "fid" in fields else "",
    }
    execution.run("native:savefeatures", parameters, context)
    taken.add(table.lower())
    source = f"{target}|layername={table}"
    context.call(lambda: _point_to(layer, source, "ogr"))
    context.call(lambda: layer.saveStyleToDatabase(table, "", True, ""))
    return target


def _keep_raster(layer: QgsRasterLayer, name: str, target: Path, context: Context) -> Path:
    stem, number = _UNSAFE.sub("_", name).strip(". ") or "raster", 2
    path = target.with_name(f"{stem}.tif")
    while path.exists():
        path, number = target.with_name(f"{stem}_{number}.tif"), number + 1
    source = context.call(layer.source)

    def told(share: float, *_: object) -> int:
        context.progress(100.0 * share)
        return int(not context.cancelled())

    try:
        written = gdal.Translate(str(path), source, format="GTiff", callback=told)
    except RuntimeError as error:
        written, said = None, str(error)
    else:
        said = gdal.GetLastErrorMsg()
    if written is None or context.cancelled():
        del written
        path.unlink(missing_ok=True)
        context.stop_if_cancelled()
        raise LastingError(f"{said or 'it could not be written'}.")
    del written  # closes the file
    context.call(lambda: _point_to(layer, str(path), "gdal"))
    return path


def _free_name(name: str, taken: set[str]) -> str:
    plain, number = " ".join(name.split()).replace("|", "_"), 2
    free = plain
    while free.lower() in taken:
        free, number = f"{plain} ({number})", number + 1
    return free


def _point_to(layer: QgsMapLayer, source: str, provider: str) -> None:
    """Give a layer of the project another source; all else of it stays. Main thread only."""
    style, metadata, name = QgsMapLayerStyle(), layer.metadata().clone(), layer.name()
    style.readFromLayer(layer)
    layer.setDataSource(source, name, provider, QgsDataProvider.ProviderOptions(), False)
    if not layer.isValid():
        raise LastingError(f"{source} cannot be opened.")
    style.writeToLayer(layer)
    layer.setMetadata(metadata)
    layer.triggerRepaint()
