# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of layers for the model: fields with samples and ranges, computed once for each state
of a layer's data and capped, so that a large layer costs a fraction of a second."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from qgis.core import QgsCoordinateReferenceSystem, QgsMapLayer, QgsUnitTypes, QgsVectorLayer
from qgis.PyQt.QtCore import QObject

from .base import FieldProfile, LayerProfile
from .source import LayerSource, VectorSource, crs_name, field_type, plain

MOST_FEATURES = 20_000
MOST_SECONDS = 0.3
MOST_DISTINCT = 1_000
_SAMPLE_CHARACTERS = 40


def shown(value: Any) -> str:
    """Return a value as text for a model: whole numbers without a point, long texts cut."""
    if isinstance(value, float):
        return f"{value:.10g}"
    text = str(value)
    return text if len(text) <= _SAMPLE_CHARACTERS else text[: _SAMPLE_CHARACTERS - 1] + "…"


class _Column:
    """What is gathered of one field."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.values: Counter[Any] = Counter()
        self.open = True
        self.empty = 0
        self.least: Any = None
        self.most: Any = None

    def add(self, value: Any) -> None:
        """Take one value in."""
        if value is None or (isinstance(value, str) and not value.strip()):
            self.empty += 1
            return
        if isinstance(value, (list, dict)):
            value = str(value)
        if self.open or value in self.values:
            self.values[value] += 1
            self.open = len(self.values) < MOST_DISTINCT
        if self.kind != "text" and self.kind != "other":
            self.least = value if self.least is None or value < self.least else self.least
            self.most = value if self.most is None or value > self.most else self.most

    def profile(self, name: str, alias: str, complete: bool) -> FieldProfile:
        """Return the profile; unknown where the scan stopped early."""
        few = 8 if len(self.values) <= 8 else 4
        known = complete and self.open
        return FieldProfile(
            name=name,
            type=self.kind,
            alias=alias,
            samples=tuple(shown(value) for value, _ in self.values.most_common(few)),
            minimum=shown(self.least) if self.least is not None and complete else "",
            maximum=shown(self.most) if self.most is not None and complete else "",
            distinct=len(self.values) if known else None,
            empty=self.empty if complete else None,
            values=tuple(self.values) if self.kind == "text" else (),
        )


def field_profiles(source: VectorSource) -> tuple[FieldProfile, ...]:
    """Scan a layer up to the caps and profile its fields. Any thread."""
    columns = [_Column(field_type(field)) for field in source.fields]
    complete, stop = True, time.monotonic() + MOST_SECONDS
    for seen, feature in enumerate(source.rows(lambda: False)):
        if seen >= MOST_FEATURES or (seen % 200 == 199 and time.monotonic() > stop):
            complete = False
            break
        for column, value in zip(columns, feature.attributes()):
            column.add(plain(value))
    return tuple(
        column.profile(field.name(), field.alias(), complete)
        for column, field in zip(columns, source.fields)
    )


def _unit(crs: QgsCoordinateReferenceSystem) -> str:
    if not crs.isValid():
        return ""
    return QgsUnitTypes.toString(crs.mapUnits()).replace("meter", "metre")


def layer_profile(source: LayerSource, fields: tuple[FieldProfile, ...]) -> LayerProfile:
    """Put the profile of a layer together from its snapshot and its fields' profiles."""
    crs = source.crs
    text = crs_name(crs)
    unit = _unit(crs)
    if isinstance(source, VectorSource):
        return LayerProfile(
            key=source.key,
            id=source.id,
            family=source.family,
            geometry=source.geometry,
            crs=text,
            unit=unit,
            features=source.features,
            fields=fields,
            short=source.short,
            has_z=source.has_z(),
            source=source.source,
        )
    return LayerProfile(
        key=source.key,
        id=source.id,
        family=source.family,
        geometry="raster",
        crs=text,
        unit=unit,
        bands=source.bands,
        cells=source.cells,
        short=source.short,
        source=source.source,
    )


class DataWatch(QObject):
    """Counts the changes of a vector layer's data. It lives on the main thread."""

    def __init__(self, layer: QgsVectorLayer) -> None:
        super().__init__()
        self.version = 0
        for signal in (
            layer.dataChanged,
            layer.layerModified,
            layer.subsetStringChanged,
            layer.updatedFields,
            layer.editingStopped,
        ):
            signal.connect(self.changed)

    def changed(self, *_: Any) -> None:
        """Take one change in."""
        self.version += 1


class Profiler:
    """Profiles of layers, kept until the layer's data change."""

    def __init__(self) -> None:
        self._watches: dict[str, DataWatch] = {}
        self._kept: dict[str, tuple[Any, tuple[FieldProfile, ...]]] = {}

    def watch(self, layer: QgsMapLayer) -> None:
        """Count the changes of a layer from now on. Main thread only."""
        if isinstance(layer, QgsVectorLayer) and layer.id() not in self._watches:
            self._watches[layer.id()] = DataWatch(layer)

    def version(self, layer_id: str) -> int:
        """Return how often the data of a watched layer changed since it is watched."""
        watch = self._watches.get(layer_id)
        return watch.version if watch else 0

    def profile(self, source: LayerSource) -> LayerProfile:
        """Return the profile of a snapshot, on the calling thread."""
        if not isinstance(source, VectorSource):
            return layer_profile(source, ())
        state = (self.version(source.id), source.features, tuple(source.names()))
        kept = self._kept.get(source.id)
        if kept is None or kept[0] != state or source.is_selection():
            kept = (state, field_profiles(source))
            self._kept[source.id] = kept
        return layer_profile(source, kept[1])

    def close(self) -> None:
        """Let go of the layers. Main thread only."""
        for watch in self._watches.values():
            watch.deleteLater()
        self._watches.clear()
        self._kept.clear()
