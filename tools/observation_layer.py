# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of scenes as layers that know their time: rasters of one day, zones with a day each."""

from __future__ import annotations

import datetime

from qgis.core import (
    Qgis,
    QgsDateTimeRange,
    QgsRasterLayer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QDate, QDateTime, Qt, QTime

from .context import Context


def qt_day(day: datetime.date | None) -> QDate | None:
    """Return a day as an attribute holds it, None for none."""
    return QDate(day.year, day.month, day.day) if day is not None else None


def time_raster(
    layer: QgsRasterLayer, day: datetime.date | None, until: datetime.date | None
) -> None:
    """Let a raster stand for the days from `day` to `until`. Main thread only."""
    if day is None:
        return
    first, last = qt_day(day), qt_day(until or day)
    zone = Qt.TimeSpec.UTC
    span = QgsDateTimeRange(
        QDateTime(first, QTime(0, 0), zone), QDateTime(last, QTime(23, 59, 59), zone)
    )
    properties = layer.temporalProperties()
    properties.setMode(Qgis.RasterTemporalMode.FixedTemporalRange)
    properties.setFixedTemporalRange(span)
    properties.setIsActive(True)


def time_vector(layer: QgsVectorLayer, field: str, until: str) -> None:
    """Let features stand for the days from one field to another. Main thread only."""
    properties = layer.temporalProperties()
    properties.setMode(Qgis.VectorTemporalMode.FeatureDateTimeStartAndEndFromFields)
    properties.setStartField(field)
    properties.setEndField(until)
    properties.setIsActive(True)


def timed(
    layer_id: str, day: datetime.date | None, until: datetime.date | None, context: Context
) -> None:
    """Let the raster of a result know its days. Any thread."""  # fmt: skip

    def mark() -> None:
        layer = context.project.mapLayer(layer_id)
        if isinstance(layer, QgsRasterLayer):
            time_raster(layer, day, until)

    context.call(mark)
