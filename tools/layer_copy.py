# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary copies of layers, made on the thread that computes and given to the main thread."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from qgis.core import Qgis, QgsFeature, QgsMemoryProviderUtils, QgsVectorLayer, QgsWkbTypes
from qgis.PyQt.QtCore import QCoreApplication

from .base import LastingError
from .source import VectorSource

_AT_ONCE = 2_000


def memory_layer(
    source: VectorSource, features: Iterable[QgsFeature], multi: bool = False
) -> QgsVectorLayer:
    """Return a temporary layer with the fields of `source` and these features, in its CRS.

    `multi` makes room for geometries of several parts. Any thread. Raises LastingError.
    """
    wkb: Qgis.WkbType = QgsWkbTypes.multiType(source.wkb) if multi else source.wkb
    layer = QgsMemoryProviderUtils.createMemoryLayer(source.key, source.fields, wkb, source.crs)
    rows = iter(features)
    while True:  # a few at a time, so that other threads have their turn
        some = list(islice(rows, _AT_ONCE))
        if some and not layer.dataProvider().addFeatures(some)[0]:
            raise LastingError(f"The features of {source.key} could not be copied.")
        if len(some) < _AT_ONCE:
            break
    layer.updateExtents()
    layer.moveToThread(QCoreApplication.instance().thread())
    return layer
