# SPDX-License-Identifier: GPL-2.0-or-later
"""Gathers what the jobs of a batch made: vectors and numbers into one GeoPackage, rasters into
virtual mosaics. Each is written beside its place and moved there once it is whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .job import BatchError, Ended, Job
from .mosaic import mosaics
from .stack import stacked
from .state import State

RESULTS = "results.gpkg"


class Told(Protocol):
    """Hears what the gathering remarks on, and says whether it is to stop."""

    def isCanceled(self) -> bool:
        """Tell whether to stop."""

    def pushInfo(self, text: str) -> None:
        """Take a line."""


@dataclass(frozen=True)
class Made:
    """The files that were made, and what a reader of them must know."""

    files: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()


def gathered(state: State, jobs: Sequence[Job], ended: Mapping[str, Ended], told: Told) -> Made:
    """Gather the results of the jobs that are done; nothing is gathered after a stop.

    Raises BatchError, OSError.
    """
    if told.isCanceled():
        return Made()
    done = [job for job in jobs if ended[job.id].is_done]
    records: dict[str, dict[str, Any]] = {job.id: state.record(job.id) for job in done}
    remarks: list[str] = []
    target = state.free(RESULTS)
    part = target.with_name(f".part-{target.name}")
    part.unlink(missing_ok=True)
    try:
        stacked(state, jobs, ended, records, part, remarks, told.isCanceled)
        if told.isCanceled():
            return Made()
        state.put(part, target)
    except RuntimeError as error:  # GDAL's, where another plugin has it raise
        raise BatchError(f"The results could not be gathered: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    files = [target, *mosaics(state, done, records, remarks)]
    state.drop(files)
    for remark in remarks:
        told.pushInfo(remark)
    return Made(tuple(files), tuple(remarks))
