# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers of a task: where their data lie, opened read-only, in a fresh project."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from qgis.core import (
    QgsApplication,
    QgsMapLayer,
    QgsProject,
    QgsRasterLayer,
    QgsVectorLayer,
)

from ...tools import parquet
from ...tools.base import ToolError
from .task import Task, TaskLayer

ELLIPSOID = "EPSG:7030"
ROOT = Path(__file__).resolve().parents[2]
SUBDATASET = re.compile(r'([A-Za-z0-9_]+):"([^"]+)"(.*)', re.DOTALL)
RASTERS = {".tif", ".tiff", ".vrt", ".img", ".asc", ".jp2", ".nc"}


class SourceError(Exception):
    """A task's data are not there or cannot be opened; the message names the layer and the path."""


def data_folder(tasks: Path, given: str = "") -> Path:
    """Find the folder that sources are relative to.

    That is `given`, else `../data` beside the task file's folder, else `../shared/data` beside the
    project. Raises SourceError when none of them is a folder.
    """
    places = [Path(given)] if given else [tasks.resolve().parent.parent / "data"]
    if not given:
        places.append(ROOT.parent / "shared" / "data")
    for place in places:
        if place.is_dir():
            return place.resolve()
    raise SourceError(f"No data folder: {places[0]} is not there; name one with DATA.")


def shipped_folder() -> Path:
    """Return the folder of the data that every QGIS carries."""
    return Path(QgsApplication.pkgDataPath()) / "resources" / "data"


def resolved(source: str, folder: Path) -> tuple[str, Path]:
    """Return a source with its path made absolute, and the path of the file alone."""
    subdataset = SUBDATASET.fullmatch(source)
    if subdataset:
        driver, relative, rest = subdataset.groups()
        path = folder / relative
        return f'{driver}:"{path}"{rest}', path
    relative, bar, rest = source.partition("|")
    if relative.startswith("qgis:"):
        folder, relative = shipped_folder(), relative[len("qgis:") :]
    path = folder / relative
    return f"{path}{bar}{rest}", path


def missing_sources(tasks: Sequence[Task], folder: Path) -> list[str]:
    """Return one line for each source that is not there."""
    return [
        f"{task.id}: {layer.name}: {resolved(layer.source, folder)[1]} is not there"
        for task in tasks
        for layer in task.layers
        if not resolved(layer.source, folder)[1].exists()
    ]


def open_layer(layer: TaskLayer, folder: Path) -> QgsMapLayer:
    """Open one layer read-only, CSV through OGR without geometry. Raises SourceError."""
    source, path = resolved(layer.source, folder)
    opened: QgsMapLayer
    if SUBDATASET.fullmatch(source) or path.suffix.lower() in RASTERS:
        opened = QgsRasterLayer(source, layer.name, "gdal")
    elif parquet.needs_us(path):
        opened = _parquet(layer, path)
    else:
        options = QgsVectorLayer.LayerOptions(QgsProject.instance().transformContext())
        # A Shapefile opened so loses the encoding of its .cpg file (QGIS 3.40).
        options.forceReadOnly = path.suffix.lower() == ".gpkg"
        opened = QgsVectorLayer(source, layer.name, "ogr", options)
        opened.setReadOnly(True)
    if not opened.isValid():
        raise SourceError(f"The layer '{layer.name}' cannot be opened here: {path}.")
    return opened


def _parquet(layer: TaskLayer, path: Path) -> QgsVectorLayer:
    try:
        return parquet.opened(path, layer.name)
    except ToolError as error:
        raise SourceError(f"The layer '{layer.name}' cannot be opened: {error.message}") from error


def open_project(task: Task, folder: Path) -> QgsProject:
    """Make a project of its own with the task's layers; its ellipsoid is WGS 84.

    Call it on the main thread; the caller clears the project. Raises SourceError.
    """
    layers = [open_layer(layer, folder) for layer in task.layers if layer.opened]
    project = QgsProject()
    for layer in layers:
        if layer.crs().isValid() and not project.crs().isValid():
            project.setCrs(layer.crs())
    project.addMapLayers(layers)
    project.setEllipsoid(ELLIPSOID)
    return project


def question_of(task: Task, folder: Path) -> str:
    """Return the question, with the path of each file that the method has to open itself."""
    files = [
        f"File {layer.name}: {resolved(layer.source, folder)[1]}"
        for layer in task.layers
        if not layer.opened
    ]
    return "\n".join([task.question, *files])


Listing = dict[str, tuple[int, int]]


def listing(tasks: Sequence[Task], folder: Path) -> Listing:
    """Return size and time of change of every file in the folders that hold the tasks' data, and
    of all in a folder that is a source itself."""
    paths = {resolved(layer.source, folder)[1] for task in tasks for layer in task.layers}
    folders = {path for path in paths if path.is_dir()}
    places = {path.parent for path in paths} | folders
    found: Listing = {}
    for place in places:
        for path in place.rglob("*") if place in folders else place.iterdir():
            if path.is_file():
                state = path.stat()
                found[str(path)] = (state.st_size, state.st_mtime_ns)
    return found


def changes(before: Listing, after: Listing) -> list[str]:
    """Return the files that appeared, vanished or changed between two listings."""
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
