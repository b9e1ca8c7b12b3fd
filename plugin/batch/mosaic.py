# SPDX-License-Identifier: GPL-2.0-or-later
"""The rasters of all jobs as one virtual mosaic for each last step and CRS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from osgeo import gdal, osr

from .job import BatchError, Job, names
from .state import State
from .worker import JOBS


def mosaics(
    state: State,
    jobs: Sequence[Job],
    records: Mapping[str, Mapping[str, Any]],
    remarks: list[str],
) -> list[Path]:
    """Write a VRT beside the folder of the jobs for each kind of raster, with relative paths.

    Remarks tell which steps have rasters of several CRS or numbers of bands. Raises BatchError.
    """
    groups: dict[str, dict[tuple[str, int], list[Path]]] = {}
    for job in jobs:
        for one in records[job.id].get("layers", []):
            if one["kind"] == "raster":
                path = state.folder / JOBS / job.id / one["file"]
                groups.setdefault(one["step"], {}).setdefault(_kind(path), []).append(path)
    found = []
    for step, kinds in groups.items():
        called = [step, *(f"{step}_{crs}_{bands}" for crs, bands in list(kinds)[1:])]
        if len(kinds) > 1:
            listed = "; ".join(
                f"{len(paths)} in {crs or 'no CRS'} with {bands} bands"
                for (crs, bands), paths in kinds.items()
            )
            remarks.append(f"The rasters of {step} differ and lie in {len(kinds)} files: {listed}.")
        for name, paths in zip(names(called), kinds.values()):
            found.append(_written(state, f"{name}.vrt", paths))
    return found


def _kind(path: Path) -> tuple[str, int]:
    dataset = gdal.Open(str(path))
    if dataset is None:
        raise BatchError(f"{path} cannot be read. Delete the job's folder and run the batch again.")
    system = dataset.GetSpatialRef()
    return crs_text(system), dataset.RasterCount


def crs_text(system: osr.SpatialReference | None) -> str:
    """Return a CRS by its authority, else by its name, "" for none."""
    if system is None:
        return ""
    authority, code = system.GetAuthorityName(None), system.GetAuthorityCode(None)
    return f"{authority}:{code}" if authority and code else str(system.GetName() or "")


def _written(state: State, name: str, paths: Sequence[Path]) -> Path:
    target = state.free(name)
    part = target.with_name(f".part-{target.name}")
    try:
        dataset = gdal.BuildVRT(str(part), [str(one) for one in paths])
        if dataset is None or dataset.RasterXSize == 0:
            raise BatchError(f"{target.name} could not be made: {gdal.GetLastErrorMsg()}")
        dataset.FlushCache()
        dataset = None
        state.put(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target
