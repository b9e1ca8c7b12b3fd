# SPDX-License-Identifier: GPL-2.0-or-later
"""The catalogue of scenes as a GeoPackage: written whole beside the old one and put in its place at
once, so that nobody meets half of it."""

from __future__ import annotations

import datetime
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from osgeo import gdal, ogr, osr

from .base import LastingError, MendableError
from .scene_header import SceneRow

SCENES, SKIPPED = "scenes", "skipped"
FIELDS = {
    "scene": ogr.OFTString,
    "product": ogr.OFTString,
    "sensor": ogr.OFTString,
    "measures": ogr.OFTString,
    "date": ogr.OFTDate,
    "until": ogr.OFTDate,
    "cloud": ogr.OFTReal,
    "resolution": ogr.OFTReal,
    "bands": ogr.OFTString,
    "crs": ogr.OFTString,
    "path": ogr.OFTString,
    "subdataset": ogr.OFTString,
    "modified": ogr.OFTReal,
    "size": ogr.OFTInteger64,
}
"""The fields of a scene; `modified` and `size` are those of its file when it was read."""
_SKIPPED_FIELDS = {name: FIELDS.get(name, ogr.OFTString) for name in
                   ("path", "reason", "modified", "size")}  # fmt: skip
_TEXTS = ("scene", "product", "sensor", "measures", "bands", "crs", "path", "subdataset")

Stamp = tuple[float, int]
"""When a file was changed (seconds since 1970) and how large it is (bytes)."""


@dataclass
class Entry:
    """What is known of one file: its rows, or the reason why it was skipped."""

    stamp: Stamp
    rows: list[SceneRow] = field(default_factory=list)
    reason: str = ""


def read(path: Path) -> dict[str, Entry]:
    """Return the entries of a catalogue by path, none where there is no file.

    Raises MendableError for a file that is no catalogue, LastingError for one being edited.
    """
    if not path.exists():
        return {}
    _refuse_edited(path)  # reading would take the log in
    try:
        dataset = gdal.OpenEx(str(path), gdal.OF_VECTOR | gdal.OF_READONLY, ["GPKG"])
    except RuntimeError:
        dataset = None
    scenes = dataset.GetLayerByName(SCENES) if dataset is not None else None
    skipped = dataset.GetLayerByName(SKIPPED) if dataset is not None else None
    known = {one.GetName() for one in scenes.schema} if scenes is not None else set()
    if skipped is None or not set(FIELDS) <= known:
        raise MendableError(
            f"{path.name} is there already and is no catalogue of scenes: give another file name."
        )
    found: dict[str, Entry] = {}
    for feature in scenes:
        entry = found.setdefault(feature["path"], Entry(_stamp(feature)))
        entry.rows.append(_row(feature))
    for feature in skipped:
        found[feature["path"]] = Entry(_stamp(feature), reason=feature["reason"])
    return found


def _refuse_edited(path: Path) -> None:
    """Refuse a file with a log of changes, which would be taken for one of the file that comes
    into its place. Raises LastingError."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise LastingError(
            f"{path.name} is being edited: save or drop the edits of its layers, then index again."
        )


def _stamp(feature: ogr.Feature) -> Stamp:
    return feature["modified"], feature["size"]


def _row(feature: ogr.Feature) -> SceneRow:
    texts = {name: feature[name] or "" for name in _TEXTS}
    return SceneRow(
        **texts,
        footprint=bytes(feature.GetGeometryRef().ExportToIsoWkb()),
        resolution=feature["resolution"],
        day=_date(feature, "date"),
        until=_date(feature, "until"),
        cloud=feature["cloud"],
    )


def _date(feature: ogr.Feature, name: str) -> datetime.date | None:
    place = feature.GetFieldIndex(name)
    if not feature.IsFieldSetAndNotNull(place):
        return None
    year, month, day, *_ = feature.GetFieldAsDateTime(place)
    return datetime.date(year, month, day)


def write(path: Path, entries: dict[str, Entry]) -> None:
    """Write a catalogue into the place of an older one, whole or not at all.

    Raises LastingError when the folder cannot be written or the old file is being edited.
    """
    _refuse_edited(path)
    made = path.with_name(f".{path.stem}_{uuid.uuid4().hex}.gpkg")
    try:
        _fill(made, entries)
        os.replace(made, path)
    except (RuntimeError, OSError) as error:
        raise LastingError(f"The catalogue {path.name} could not be written: {error}.") from error
    finally:
        made.unlink(missing_ok=True)


def _fill(path: Path, entries: dict[str, Entry]) -> None:
    dataset = gdal.GetDriverByName("GPKG").Create(str(path), 0, 0, 0, gdal.GDT_Unknown)
    if dataset is None:
        raise OSError(gdal.GetLastErrorMsg())
    degrees = osr.SpatialReference()
    degrees.ImportFromEPSG(4326)
    scenes = dataset.CreateLayer(SCENES, degrees, ogr.wkbPolygon)
    skipped = dataset.CreateLayer(SKIPPED, None, ogr.wkbNone)
    for layer, fields in ((scenes, FIELDS), (skipped, _SKIPPED_FIELDS)):
        for name, kind in fields.items():
            layer.CreateField(ogr.FieldDefn(name, kind))
    dataset.StartTransaction()
    _scenes(scenes, entries.items())
    for place, entry in entries.items():
        if entry.reason:
            feature = ogr.Feature(skipped.GetLayerDefn())
            _set(feature, {"path": place, "reason": entry.reason}, entry.stamp)
            skipped.CreateFeature(feature)
    dataset.CommitTransaction()


def _scenes(layer: ogr.Layer, entries: Iterable[tuple[str, Entry]]) -> None:
    for _, entry in entries:
        for row in entry.rows:
            feature = ogr.Feature(layer.GetLayerDefn())
            values: dict[str, object] = {name: getattr(row, name) for name in _TEXTS}
            values.update(cloud=row.cloud, resolution=row.resolution)
            _set(feature, values, entry.stamp)
            for name, day in (("date", row.day), ("until", row.until)):
                if day is not None:
                    feature.SetField(name, day.year, day.month, day.day, 0, 0, 0, 0)
            feature.SetGeometry(ogr.CreateGeometryFromWkb(row.footprint))
            layer.CreateFeature(feature)


def _set(feature: ogr.Feature, values: dict[str, object], stamp: Stamp) -> None:
    for name, value in {**values, "modified": stamp[0], "size": stamp[1]}.items():
        if value is not None:
            feature.SetField(name, value)
