# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of maps: one of some layers, or one for each feature of a layer."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsCoordinateTransform,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsPrintLayout,
    QgsRectangle,
)
from qgis.PyQt.QtCore import QCoreApplication, QSize, QThread
from qgis.PyQt.QtGui import QImage

from . import argument, wording
from .base import Family, LastingError, MendableError, ToolCancelled, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields
from .feature_name import named, naming_field
from .map_layout import DPI, exported, laid_out
from .map_view import MapView, output_file, viewed
from .registry import Unchecked
from .source import VectorSource

_SIZE = (1600, 1200)
_POLL_S = 0.05
_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_LONGEST_NAME = 80
_MOST_PICTURES = 500
_AROUND = 1.2


class ExportMap(Unchecked):
    """A map as a file."""

    definition = ToolDefinition(
        "export_map",
        "Save a map of layers as a picture or page (.png, .jpg, .pdf, .svg) in the output folder; "
        "with a title it has a legend, a scale bar and a north arrow.",
        argument.arguments(
            {
                "layers": {"type": "array", "items": argument.layer()},
                "path": {"type": "string", "description": "a file name such as map.png"},
                "title": {"type": "string"},
            },
            ["path"],
        ),
        label="Save a map",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Draw a plain picture in the background, a page on the main thread."""
        path = output_file(arguments["path"], context)
        view = viewed(arguments.get("layers", []), context)
        title = arguments.get("title", "")
        if title or path.suffix.lower() in (".pdf", ".svg"):
            context.call(lambda: _page(view, title, path, context))
        else:
            _drawn(view, path, context)
        shown = ", ".join(context.call(lambda: [one.name() for one in view.layers]))
        return ToolResult(
            f"file {path.name}: a map of {shown}.",
            texts={"file": path.name},
            files=(str(path),),
        )


def _page(view: MapView, title: str, path: Path, context: Context) -> None:
    """Lay a page out, write it, and keep the layout in the project until undo. Main thread."""
    layout = laid_out(context.project, view, title, legend=bool(title))
    exported(layout, path)
    manager = context.project.layoutManager()
    layout.setName(manager.generateUniqueTitle() if manager.layoutByName(layout.name()) else title)
    if not title or not manager.addLayout(layout):
        return

    name = layout.name()

    def restore() -> str:
        live = manager.layoutByName(name)
        return f"Removed the layout {name}." if live and manager.removeLayout(live) else ""

    context.store.remember(restore)


def _drawn(view: MapView, path: Path, context: Context) -> None:
    """Draw a view into an image file. Raises ToolCancelled, LastingError."""
    context.stop_if_cancelled()

    def start() -> QgsMapRendererParallelJob:
        settings = QgsMapSettings()
        settings.setLayers(list(view.layers))
        settings.setDestinationCrs(view.crs)
        settings.setExtent(view.extent)
        settings.setOutputSize(QSize(*_SIZE))
        settings.setOutputDpi(DPI)
        settings.setTransformContext(context.project.transformContext())
        settings.setEllipsoid(context.project.ellipsoid())
        job = QgsMapRendererParallelJob(settings)
        job.start()
        return job

    job = context.call(start)
    if QThread.currentThread() is QCoreApplication.instance().thread():
        job.waitForFinished()
    while context.call(job.isActive):
        if context.cancelled():
            context.call(job.cancel)
            raise ToolCancelled()
        time.sleep(_POLL_S)
    image: QImage = context.call(job.renderedImage)
    context.stop_if_cancelled()
    if image.isNull() or not image.save(str(path)):
        raise LastingError(f"The map could not be written to {path.name}.")


class ExportAtlas(Unchecked):
    """A map for each feature."""

    definition = ToolDefinition(
        "export_atlas",
        "Save one map picture (.png) for each feature of a layer, named after it, in the output "
        "folder.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "name_field": argument.field(),
                "layers": {"type": "array", "items": argument.layer()},
                "title": {"type": "string", "description": "stands before each name"},
            },
            ["layer"],
        ),
        label="Map for each feature",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Lay out and write a page for each feature, one hop to the main thread each."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        if source.features > _MOST_PICTURES:
            raise MendableError(
                f"{source.key} has {source.features} features; at most {_MOST_PICTURES} maps are "
                "made at once. Filter some first."
            )
        field = naming_field(source, context)
        if arguments.get("name_field"):
            fields = SourceFields(source, context.cancelled)
            field = field_named(arguments["name_field"], fields)
        view = viewed([source.key, *arguments.get("layers", [])], context)
        files = _pages(source, field, view, arguments.get("title", ""), context)
        if not files:
            raise MendableError(f"No feature of {source.key} has a geometry.")
        names = [path.name for path in files]
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if names[10:] else "")
        return ToolResult(
            f"{wording.counted(len(files), 'map')} of {source.key}: {listed}.",
            numbers={"count": float(len(files))},
            files=tuple(str(path) for path in files),
        )


def _pages(
    source: VectorSource, field: str, view: MapView, title: str, context: Context
) -> list[Path]:
    """Write the pages; what was written goes when the run is stopped or fails."""
    files: list[Path] = []
    try:
        for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
            context.stop_if_cancelled()
            if not feature.hasGeometry():
                continue
            name = named(feature, field)
            path = output_file(f"{safe(name)}.png", context, (".png",))
            files.append(path)
            box = feature.geometry().boundingBox()
            heading = f"{title} {name}".strip()

            def page(box: QgsRectangle = box, heading: str = heading, path: Path = path) -> None:
                near = MapView(view.layers, view.crs, _around(box, source, view, context))
                layout: QgsPrintLayout = laid_out(context.project, near, heading, legend=True)
                exported(layout, path)

            context.call(page)
            context.progress(100.0 * (number + 1) / max(1, source.features))
    except BaseException:
        for path in files:
            path.unlink(missing_ok=True)
        raise
    return files


def _around(
    box: QgsRectangle, source: VectorSource, view: MapView, context: Context
) -> QgsRectangle:
    """Return a feature's box with some room, in the view's CRS. Main thread only."""
    found = QgsRectangle(box)
    if source.crs.isValid() and source.crs != view.crs:
        way = QgsCoordinateTransform(source.crs, view.crs, context.project)
        found = way.transformBoundingBox(found)
    if found.width() == 0 and found.height() == 0:
        found.grow(max(view.extent.width(), view.extent.height()) / 50)
    found.scale(_AROUND)
    return found


def safe(name: str) -> str:
    """Return a text as a file name: without what parts folders or a system refuses."""
    text = _UNSAFE.sub("_", name).strip(" .")
    return text[:_LONGEST_NAME] or "map"
