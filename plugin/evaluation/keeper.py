# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what a run made: GeoPackages, GeoTIFFs, styles as QML, and files as written."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import (
    QgsMapLayer,
    QgsMapLayerStyle,
    QgsProject,
    QgsRasterLayer,
    QgsVectorFileWriter,
    QgsVectorFileWriterTask,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import pyqtSignal

from ..llm.base import Cancelled
from ..runner import RunTask
from .errand import Errand, Wait
from .outcome import Output

UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
FEATURE_ID = "kept_fid"


class KeepError(Exception):
    """An output could not be kept; the message names it."""


def style_of(layer: QgsMapLayer) -> str:
    """Return a layer's style as text, to see later whether it changed."""
    style = QgsMapLayerStyle()
    style.readFromLayer(layer)
    return str(style.xmlData())


class WriteTask(QgsVectorFileWriterTask):
    """Writes a layer in the background; `fault` says afterwards what went wrong, or ""."""

    ended = pyqtSignal(object)

    def __init__(
        self, layer: QgsVectorLayer, path: str, options: QgsVectorFileWriter.SaveVectorOptions
    ) -> None:
        """Take a snapshot of the layer, on the main thread."""
        super().__init__(layer, path, options)
        self.fault = ""
        self.errorOccurred.connect(self._fail)

    def finished(self, result: bool) -> None:
        """Tell the end, on the main thread."""
        super().finished(result)
        self.fault = self.fault or ("" if result else "the writing was stopped")
        self.ended.emit(None)

    def _fail(self, _code: int, message: str) -> None:
        self.fault = message or "it cannot be written"


class Keeper:
    """Writes a run's outputs into its folder; made before the run, so that it knows the inputs.

    Use it on the main thread.
    """

    def __init__(self, project: QgsProject, folder: Path) -> None:
        self._project = project
        self._folder = folder
        self._styles = {key: style_of(item) for key, item in project.mapLayers().items()}
        self.faults: list[str] = []

    def keep(self, files: Iterable[str]) -> Errand[list[Output]]:
        """Keep new layers, changed and new styles, and the named files; faults are gathered.

        Layers are written in the background.
        """
        outputs: list[Output] = []
        for key, layer in self._project.mapLayers().items():
            try:
                if key not in self._styles:
                    outputs += yield from self._keep_layer(layer)
                if style_of(layer) != self._styles.get(key):
                    outputs += self._keep_style(layer)
            except KeepError as error:
                self.faults.append(str(error))
        for name in dict.fromkeys(files):
            outputs += self._keep_file(Path(name))
        return outputs

    def _free(self, kind: str, name: str, suffix: str) -> Path:
        folder = self._folder / kind
        folder.mkdir(parents=True, exist_ok=True)
        stem = UNSAFE.sub("_", name).strip(". ")[:80] or "layer"
        path, count = folder / f"{stem}{suffix}", 1
        while path.exists():
            count += 1
            path = folder / f"{stem}_{count}{suffix}"
        return path

    def _keep_layer(self, layer: QgsMapLayer) -> Errand[list[Output]]:
        name = layer.name()
        if isinstance(layer, QgsVectorLayer):
            return [Output("layer", name, (yield from self._write_vector(layer)))]
        if isinstance(layer, QgsRasterLayer):
            return [Output("raster", name, (yield from self._write_raster(layer)))]
        return []

    def _write_vector(self, layer: QgsVectorLayer) -> Errand[str]:
        path = self._free("layers", layer.name(), ".gpkg")
        options = QgsVectorFileWriter.SaveVectorOptions()
        options.driverName = "GPKG"
        options.layerName = layer.name()
        options.layerOptions = [f"FID={FEATURE_ID}"]
        task = WriteTask(layer, str(path), options)
        name = layer.name()
        yield Wait(task)
        if task.fault:
            raise KeepError(f"The layer '{name}' could not be kept: {task.fault}")
        return str(path)

    def _write_raster(self, layer: QgsRasterLayer) -> Errand[str]:
        path, name, source = (
            self._free("rasters", layer.name(), ".tif"),
            layer.name(),
            layer.source(),
        )

        def work(emit: Callable[[Any], None], stopped: Cancelled) -> None:
            try:
                written = gdal.Translate(str(path), source, format="GTiff")
            except RuntimeError as error:
                raise KeepError(f"The raster '{name}' could not be kept: {error}") from error
            if written is None:
                raise KeepError(f"The raster '{name}' could not be kept.")
            written.FlushCache()

        yield Wait(RunTask("Geo-OLM", work))
        return str(path)

    def _keep_style(self, layer: QgsMapLayer) -> list[Output]:
        path = self._free("styles", layer.name(), ".qml")
        message, ok = layer.saveNamedStyle(str(path))
        if not ok:
            raise KeepError(f"The style of '{layer.name()}' could not be kept: {message}")
        return [Output("style", layer.name(), str(path))]

    def _keep_file(self, path: Path) -> list[Output]:
        if not path.is_file():
            self.faults.append(f"The file '{path.name}' is not there.")
            return []
        if self._folder.resolve() in path.resolve().parents:
            return [Output("file", path.name, str(path))]
        place = self._folder / "files"
        place.mkdir(parents=True, exist_ok=True)
        for item in (
            [path, *path.parent.glob(f"{path.stem}.*")] if path.suffix == ".shp" else [path]
        ):
            shutil.copyfile(item, place / item.name)
        return [Output("file", path.name, str(place / path.name))]


def files_of(record: Mapping[str, Any]) -> list[str]:
    """Return the files that a record names."""
    return [str(item) for item in record.get("files") or ()]
