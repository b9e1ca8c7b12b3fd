# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary copies of layers, made on the thread that computes and given to the main thread."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import Qgis, QgsFeature, QgsVectorLayer, QgsWkbTypes

from .new_layer import new_layer
from .source import VectorSource


def memory_layer(
    source: VectorSource, features: Iterable[QgsFeature], multi: bool = False
) -> QgsVectorLayer:
    """Return a temporary layer with the fields of `source` and these features, in its CRS.

    `multi` makes room for geometries of several parts. Any thread. Raises LastingError.
    """
    wkb: Qgis.WkbType = QgsWkbTypes.multiType(source.wkb) if multi else source.wkb
    return new_layer(source.key, source.fields, wkb, source.crs, features)
