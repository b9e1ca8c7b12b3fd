# SPDX-License-Identifier: GPL-2.0-or-later
"""Coordinate reference systems that outlive the thread on which they were first met.

QGIS 3.40 keeps a CRS under the thread that made it first: once that thread has ended, ellipsoidal
measures through the kept one are NaN or plainly wrong, on every thread. So what stays in the
project, or is measured in, is made anew on the main thread.
"""

from __future__ import annotations

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsDistanceArea,
    QgsMapLayer,
    QgsRectangle,
)

DEGREES = "EPSG:4326"


def are_degrees(box: QgsRectangle) -> bool:
    """Tell whether coordinates can be longitudes and latitudes."""
    return bool(QgsRectangle(-180, -90, 180, 90).contains(box))


def settle(layer: QgsMapLayer) -> None:
    """Give a layer that a worker made its CRS from the main thread. Main thread only."""
    old = layer.crs()
    if not old.isValid():
        return
    QgsCoordinateReferenceSystem.invalidateCache()
    QgsCoordinateTransform.invalidateCache()
    QgsCoordinateReferenceSystem(DEGREES)  # so that the main thread is the one that keeps it
    new = QgsCoordinateReferenceSystem(old.authid()) if old.authid() else made(old)
    epoch = old.coordinateEpoch()
    if epoch == epoch:
        new.setCoordinateEpoch(epoch)
    layer.setCrs(new)


def made(crs: QgsCoordinateReferenceSystem) -> QgsCoordinateReferenceSystem:
    """Return the same custom CRS, made on the calling thread."""
    return QgsCoordinateReferenceSystem.fromWkt(
        crs.toWkt(QgsCoordinateReferenceSystem.WktVariant.WKT_PREFERRED)
    )


def keep_ellipsoid(ellipsoid: str) -> None:
    """Let the main thread be the one that keeps an ellipsoid. Main thread only."""
    QgsDistanceArea().setEllipsoid(ellipsoid)
