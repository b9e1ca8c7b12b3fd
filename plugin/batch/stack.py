# SPDX-License-Identifier: GPL-2.0-or-later
"""The vector results and numbers of all jobs in one GeoPackage: a layer for each last step, with
the job and its variables as fields, and a table of the jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from osgeo import gdal, ogr, osr

from .job import BatchError, Ended, Job, names
from .mosaic import crs_text
from .state import State
from .worker import JOBS

TABLE = "jobs"
_JOB = "job"
Kind = tuple[str, int, str]
"""The step, the multi-type of the geometry, and the CRS."""


@dataclass
class _Group:
    """The tables of one kind: where they lie, and the type of each field that one of them has."""

    system: osr.SpatialReference | None
    tables: list[tuple[str, Path, str]] = field(default_factory=list)
    fields: dict[str, int] = field(default_factory=dict)


def stacked(
    state: State,
    jobs: Sequence[Job],
    ended: Mapping[str, Ended],
    records: Mapping[str, Mapping[str, Any]],
    path: Path,
    remarks: list[str],
    stopped: Callable[[], bool],
) -> None:
    """Write the GeoPackage; `records` are those of the jobs that are done. It is left unfinished
    once `stopped` turns true. Raises BatchError."""
    own = {job.id: {_JOB: job.id, **job.flat} for job in jobs}
    types = _types(list(own.values()))
    groups = _grouped(state, records)
    target = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    if target is None:
        raise BatchError(f"{path} cannot be written: {gdal.GetLastErrorMsg()}")
    for (kind, group), name in zip(groups.items(), _titles(list(groups), remarks)):
        _write(target, name, kind, group, own, types, stopped)
    _write_jobs(target, jobs, ended, records, own)
    target.FlushCache()
    target = None


def _grouped(state: State, records: Mapping[str, Mapping[str, Any]]) -> dict[Kind, _Group]:
    """Return the tables of the jobs by their kinds, in the order in which they are met."""
    found: dict[Kind, _Group] = {}
    for job, record in records.items():
        for one in record.get("layers", []):
            if one["kind"] != "vector":
                continue
            path = state.folder / JOBS / job / one["file"]
            geometry, system, columns = _shape(path, one["table"])
            kind = (one["step"], geometry, crs_text(system))
            group = found.setdefault(kind, _Group(system))
            group.tables.append((job, path, one["table"]))
            for name, column in columns.items():
                group.fields[name] = _wider(group.fields.get(name, column), column)
    return found


def _shape(path: Path, table: str) -> tuple[int, osr.SpatialReference | None, dict[str, int]]:
    """Return the multi-type, the CRS and the types of the fields of a table."""
    _dataset, layer = _table(path, table)
    system, definition = layer.GetSpatialRef(), layer.GetLayerDefn()
    columns = [definition.GetFieldDefn(at) for at in range(definition.GetFieldCount())]
    types = {one.GetName(): one.GetType() for one in columns}
    return _multi(layer.GetGeomType()), system.Clone() if system else None, types


def _table(path: Path, name: str) -> tuple[Any, Any]:
    dataset = gdal.OpenEx(str(path), gdal.OF_VECTOR)
    layer = (
        None if dataset is None else dataset.GetLayerByName(name) if name else dataset.GetLayer()
    )
    if layer is None:
        raise BatchError(f"{path} cannot be read. Delete the job's folder and run the batch again.")
    return dataset, layer


def _multi(kind: int) -> int:
    """Return the type of a layer that holds several of a kind, with the same Z and M."""
    flat = ogr.GT_Flatten(kind)
    if flat in (ogr.wkbPoint, ogr.wkbLineString, ogr.wkbPolygon):
        flat = ogr.GT_GetCollection(flat)
    return int(ogr.GT_SetModifier(flat, ogr.GT_HasZ(kind), ogr.GT_HasM(kind)))


def _wider(one: int, other: int) -> int:
    """Return the type that holds the values of both."""
    order = (ogr.OFTInteger, ogr.OFTInteger64, ogr.OFTReal)
    if one == other:
        return one
    if one in order and other in order:
        return max(one, other, key=order.index)
    return int(ogr.OFTString)


def _titles(kinds: Sequence[Kind], remarks: list[str]) -> Iterator[str]:
    """Yield the name of each layer: its step, and for further kinds what sets them apart."""
    steps = [step for step, _kind, _crs in kinds]
    texts = []
    for at, (step, kind, crs) in enumerate(kinds):
        what = f"{ogr.GeometryTypeToName(kind)} in {crs or 'no CRS'}"
        if step in steps[:at]:
            remarks.append(f"Some results of {step} are {what}; they lie in a layer of their own.")
            texts.append(f"{step}_{ogr.GeometryTypeToName(kind)}_{crs.replace(':', '_')}")
        else:
            texts.append(TABLE + "_" + step if step.lower() == TABLE else step)
    return names(texts)


def _types(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the columns of rows with the type that holds all their values."""
    found: dict[str, int] = {}
    for row in rows:
        for key, value in row.items():
            if value is not None:
                kind = _type(value)
                found[key] = _wider(found.get(key, kind), kind)
    return found


def _type(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return int(ogr.OFTString)
    return int(ogr.OFTReal if isinstance(value, float) else ogr.OFTInteger64)


def _write(
    target: Any,
    name: str,
    kind: Kind,
    group: _Group,
    own: Mapping[str, Mapping[str, Any]],
    types: Mapping[str, int],
    stopped: Callable[[], bool],
) -> None:
    layer = _layer(target, name, group.system, kind[1], {*group.fields, *types})
    taken = {one.lower() for one in group.fields}
    titles = {key: _free(key, taken) for key in types}
    columns = {titles[key]: kind for key, kind in types.items()}
    _add_fields(layer, {**columns, **group.fields})
    for job, path, table in group.tables:
        if stopped():
            return
        values = {titles[key]: one for key, one in own[job].items() if one is not None}
        target.StartTransaction()
        _copy_table(layer, path, table, values, kind[1])
        target.CommitTransaction()


def _copy_table(layer: Any, path: Path, table: str, values: Mapping[str, Any], kind: int) -> None:
    _dataset, source = _table(path, table)
    for feature in source:
        _copy(feature, layer, values, kind)


def _copy(feature: Any, layer: Any, values: Mapping[str, Any], kind: int) -> None:
    made = ogr.Feature(layer.GetLayerDefn())
    made.SetFrom(feature, True)
    geometry = feature.GetGeometryRef()
    if geometry is not None:
        fits = ogr.GT_Flatten(kind) == ogr.wkbUnknown
        made.SetGeometry(geometry if fits else ogr.ForceTo(geometry.Clone(), kind))
    made.SetFID(-1)
    _fill(made, values)
    if layer.CreateFeature(made) != 0:
        raise BatchError(f"A feature could not be written: {gdal.GetLastErrorMsg()}")


def _write_jobs(
    target: Any,
    jobs: Sequence[Job],
    ended: Mapping[str, Ended],
    records: Mapping[str, Mapping[str, Any]],
    own: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write the table of the jobs: how each ended, what it answered, its variables and numbers."""
    rows = []
    for job in jobs:
        one, left = ended[job.id], records.get(job.id, {})
        record = left.get("record", {})
        row: dict[str, Any] = {
            _JOB: job.id, "status": one.status, "reason": one.reason or None,
            "seconds": float(one.seconds), "answer": record.get("answer"),
            "value": record.get("value"), "unit": record.get("unit"),
        }  # fmt: skip
        taken = set(row)
        for key, value in own[job.id].items():
            if key != _JOB:
                row[_free(key, taken)] = value
        for part in ("numbers", "texts"):
            for step, values in left.get(part, {}).items():
                for key, value in values.items():
                    row.setdefault(_free(f"{step}_{key}", taken), value)
        rows.append(row)
    types = _types(rows)
    layer = _layer(target, TABLE, None, ogr.wkbNone, set(types))
    _add_fields(layer, types)
    target.StartTransaction()
    for row in rows:
        made = ogr.Feature(layer.GetLayerDefn())
        _fill(made, {key: one for key, one in row.items() if one is not None})
        layer.CreateFeature(made)
    target.CommitTransaction()


def _layer(target: Any, name: str, system: Any, kind: int, fields: set[str]) -> Any:
    folded = {one.lower() for one in fields}
    options = [f"FID={_free('fid', folded)}", f"GEOMETRY_NAME={_free('geom', folded)}"]
    layer = target.CreateLayer(name, system, kind, options)
    if layer is None:
        raise BatchError(f"The layer {name} could not be made: {gdal.GetLastErrorMsg()}")
    return layer


def _add_fields(layer: Any, types: Mapping[str, int]) -> None:
    for name, kind in types.items():
        layer.CreateField(ogr.FieldDefn(name, kind))


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with a number where it is taken in any case; it is taken from then on."""
    free, number = name, 1
    while free.lower() in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free.lower())
    return free


def _fill(feature: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        at = feature.GetFieldIndex(name)
        text = isinstance(value, (int, float)) and not isinstance(value, bool)
        if at >= 0:
            feature.SetField(at, value if text else str(value))
