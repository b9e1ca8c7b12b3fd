# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws what a step made as a small picture with a few facts, off the main thread."""

from __future__ import annotations

from collections.abc import Callable

from qgis.core import (
    QgsFeatureRequest,
    QgsMapLayer,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsRectangle,
    QgsUnitTypes,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QCoreApplication, QSize
from qgis.PyQt.QtGui import QColor

from ..tools.base import LayerReference
from ..ui.graph.preview import Seen
from ..ui.number import SPACE, count, number

_ROWS, _COLUMNS, _NAMES, _EDGE = 5, 4, 4, 1.06


def tr(text: str) -> str:
    """Translate a text of a preview."""
    return QCoreApplication.translate("Preview", text)


class Preview:
    """One picture on its way; `drawn` gets it on the main thread. Main thread only."""

    def __init__(
        self,
        reference: LayerReference,
        layer: QgsMapLayer | None,
        ground: QColor,
        drawn: Callable[[Seen], None],
    ) -> None:
        self._reference, self._layer, self._ground = reference, layer, ground
        self._drawn = drawn
        self._job: QgsMapRendererParallelJob | None = None

    def start(self, size: QSize, ratio: float) -> None:
        """Begin; a layer that is gone, or has no place on a map, is told of at once."""
        layer = self._layer
        if layer is None or not layer.isValid():
            text = tr("{} is not in the project any more. Run the step again to see it.")
            self._drawn(Seen(message=text.replace("{}", self._reference.name)))
            return
        extent = QgsRectangle(layer.extent())
        if not layer.isSpatial() or extent.isNull() or not extent.isFinite():
            self._drawn(self._rows(layer))
            return
        settings = QgsMapSettings()
        settings.setLayers([layer])
        settings.setDestinationCrs(layer.crs())
        settings.setOutputSize(size)
        settings.setDevicePixelRatio(ratio)
        settings.setOutputDpi(96)
        settings.setBackgroundColor(self._ground)
        extent.scale(_EDGE)
        if extent.isEmpty():
            extent.grow(1.0 if not layer.crs().isGeographic() else 0.001)
        settings.setExtent(extent)
        job = QgsMapRendererParallelJob(settings)
        job.finished.connect(self._finished)
        self._job = job
        job.start()

    def cancel(self) -> None:
        """Stop drawing; nothing comes after this."""
        job, self._job = self._job, None
        if job is not None:
            job.finished.disconnect(self._finished)
            job.cancelWithoutBlocking()

    def _finished(self) -> None:
        job, self._job = self._job, None
        if job is None or self._layer is None:
            return
        image = job.renderedImage()
        self._drawn(Seen(image=image, facts=facts(self._reference, self._layer)))

    def _rows(self, layer: QgsMapLayer) -> Seen:
        """Return the first rows of a table."""
        if not isinstance(layer, QgsVectorLayer):
            return Seen(facts=facts(self._reference, layer))
        names = [one.name() for one in layer.fields()][:_COLUMNS]
        request = QgsFeatureRequest().setLimit(_ROWS)
        rows = tuple(
            tuple(layer.fields().field(name).displayString(one[name]) for name in names)
            for one in layer.getFeatures(request)
        )
        return Seen(header=tuple(names), rows=rows, facts=facts(self._reference, layer))


def facts(reference: LayerReference, layer: QgsMapLayer) -> tuple[tuple[str, str], ...]:
    """Return what is worth knowing of a layer, each with its name: count, CRS, extent, fields."""
    found = []
    if reference.features >= 0:
        found.append((tr("Made"), count(reference.features, reference.geometry)))
    if layer.isSpatial() and layer.crs().isValid():
        found.append((tr("CRS"), layer.crs().authid() or layer.crs().description()))
        extent = layer.extent()
        if not extent.isNull() and extent.isFinite():
            found.append((tr("Extent"), _extent(extent, layer)))
    if isinstance(layer, QgsVectorLayer):
        names = [one.name() for one in layer.fields()]
        more = ", …" if len(names) > _NAMES else ""
        found.append((tr("Fields"), f"{len(names)}: {', '.join(names[:_NAMES])}{more}"))
    return tuple(found)


def _extent(extent: QgsRectangle, layer: QgsMapLayer) -> str:
    unit = layer.crs().mapUnits()
    sides = [extent.width(), extent.height()]
    name = QgsUnitTypes.toAbbreviatedString(unit)
    if name == "m" and max(sides) >= 1000:
        sides, name = [one / 1000 for one in sides], "km"
    shown = " × ".join(number(float(f"{one:.3g}")) for one in sides)
    return f"{shown}°" if name == "deg" else f"{shown}{SPACE}{name}"
