# SPDX-License-Identifier: GPL-2.0-or-later
"""What the data of a layer are now, as a short text that changes when they may have changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qgis.core import QgsMapLayer, QgsProject, QgsProviderRegistry, QgsVectorLayer

_NO_DATA = ("-shm", ".aux.xml", ".qmd", ".qml")


def fingerprint(layer: QgsMapLayer, project: QgsProject, version: int) -> str:
    """Return the fingerprint of a layer's data. Main thread only.

    It takes in the source with the size and time of its files and those beside them, the filter,
    the CRS, the fields with those that are calculated or joined, and `version`, which counts the
    edits of this session. Selection and style are no data.
    """
    parts: list[Any] = [
        layer.providerType(),
        layer.source(),
        layer.crs().authid() or layer.crs().toWkt(),
        project.ellipsoid(),
        version,
        [[str(one), one.stat().st_size, one.stat().st_mtime_ns] for one in _files(layer)],
    ]
    if isinstance(layer, QgsVectorLayer):
        parts += [layer.subsetString(), layer.featureCount(), _fields(layer)]
        parts += [fingerprint(one, project, 0) for one in _joined(layer, project)]
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


def _files(layer: QgsMapLayer) -> Iterator[Path]:
    """Yield the file of a layer and those beside it that share its stem, such as -wal and .dbf."""
    decoded = QgsProviderRegistry.instance().decodeUri(layer.providerType(), layer.source())
    path = Path(str(decoded.get("path") or ""))
    if not path.name or not path.is_file():
        return
    for one in sorted(path.parent.iterdir()):
        beside = one.stem == path.stem or one.name.startswith(path.name)
        if beside and one.is_file() and not one.name.endswith(_NO_DATA):
            yield one


def _fields(layer: QgsVectorLayer) -> list[list[str]]:
    found = []
    for place, one in enumerate(layer.fields()):
        origin = layer.fields().fieldOrigin(place)
        found.append([one.name(), one.typeName(), str(origin), layer.expressionField(place)])
    return found


def _joined(layer: QgsVectorLayer, project: QgsProject) -> list[QgsMapLayer]:
    joined = (project.mapLayer(one.joinLayerId()) for one in layer.vectorJoins())
    return [one for one in joined if one is not None]
