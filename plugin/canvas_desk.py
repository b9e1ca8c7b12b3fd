# SPDX-License-Identifier: GPL-2.0-or-later
"""Does for the canvas what needs QGIS: opens what is dropped on it, draws previews of results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from qgis.core import QgsMimeDataUtils, QgsProject, QgsRasterLayer, QgsVectorLayer
from qgis.PyQt.QtCore import QObject

from ..tools.base import ToolError
from .preview import Preview
from .source import opened_in

_KEPT = 24
Waiting = tuple[tuple[str, ...], tuple[float, float], str, str]
"""The ids of layers that are in the project now, where they go, and the step and parameter that
take them."""


class CanvasDesk(QObject):
    """The wiring of one canvas; `tell` says a sentence to the user. Main thread only."""

    def __init__(self, view: Any, tell: Callable[[str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._tell = view, tell
        self._waiting: list[Waiting] = []
        self._drawn: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._drawing: Preview | None = None
        view.sources_dropped.connect(self._open)
        view.document.known_changed.connect(self._take)
        view.previews.wanted.connect(self._preview)
        QgsProject.instance().layersWillBeRemoved.connect(self._forget)

    def close(self) -> None:
        """Let go of the project and of a picture that is being drawn."""
        QgsProject.instance().layersWillBeRemoved.disconnect(self._forget)
        self._cancel()

    # -- what is dropped

    def _open(self, sources: Sequence[str], at: Any, step: str, port: str) -> None:
        """Open files and items of the browser in the project; the canvas takes them once they
        have been read."""
        ids: list[str] = []
        for text in sources:
            try:
                found = _opened(text)
            except ToolError as error:
                self._tell(error.message)
                continue
            if not found:
                name = _name(text)
                self._tell(self.tr("{} holds no layer that QGIS can open.").replace("{}", name))
            ids += [one.id() for one in found]
        if ids:
            self._waiting.append((tuple(ids), at, step, port))
            self._take()

    def _take(self) -> None:
        """Hand on the layers that the canvas knows by now."""
        document = self._view.document
        known = {one.id: one.key for one in document.layers}
        left: list[Waiting] = []
        for ids, at, step, port in self._waiting:
            if not all(one in known for one in ids):
                left.append((ids, at, step, port))
                continue
            names, joins = [known[one] for one in ids], self._view.commands.joins
            if step and document.graph.has(step):
                for name in names:
                    joins.take_layer(name, step, port)
            else:
                joins.place_layers(names, at)
        self._waiting = left

    # -- previews

    def _preview(self, key: str, result: Any, size: Any, ratio: float) -> None:
        """Draw what a step made, off the main thread; a picture that was drawn before is kept."""
        self._cancel()
        reference = result.layers[0]
        layer = QgsProject.instance().mapLayer(reference.id)
        spot = (reference.id, size.width(), size.height(), ratio, self._view.palette().cacheKey())
        if layer is not None and spot in self._drawn:
            self._drawn.move_to_end(spot)
            self._view.previews.show(key, self._drawn[spot])
            return
        colour = self._view.palette().color(self._view.backgroundRole())

        def drawn(seen: Any) -> None:
            self._drawing = None
            if QgsProject.instance().mapLayer(reference.id) is not None:
                self._drawn[spot] = seen
                while len(self._drawn) > _KEPT:
                    self._drawn.popitem(last=False)
            self._view.previews.show(key, seen)

        self._drawing = Preview(reference, layer, colour, drawn)
        self._drawing.start(size, ratio)

    def _cancel(self) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        self._drawing = None

    def _forget(self, ids: Sequence[str]) -> None:
        """Drop the pictures of layers that go."""
        gone = set(ids)
        for spot in [one for one in self._drawn if one[0] in gone]:
            del self._drawn[spot]
        self._cancel()


def _opened(text: str) -> list[Any]:
    """Return the layers that a file or an item of QGIS's browser means, opened in the project.

    Raises ToolError for a Parquet file that cannot be read.
    """
    project = QgsProject.instance()
    item = QgsMimeDataUtils.Uri(text)
    if not item.isValid() or item.layerType not in ("vector", "raster"):
        return opened_in(text, project)
    if item.providerKey in ("ogr", "gdal"):
        return opened_in(item.uri, project)
    kind = QgsVectorLayer if item.layerType == "vector" else QgsRasterLayer
    layer = kind(item.uri, item.name, item.providerKey)
    if not layer.isValid():
        return []
    project.addMapLayer(layer)
    return [layer]


def _name(text: str) -> str:
    item = QgsMimeDataUtils.Uri(text)
    return str(item.name or item.uri) if item.isValid() else text.rpartition("/")[2]
