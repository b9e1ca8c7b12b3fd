# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades a run from its record and its kept outputs, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .answer_grade import number_misses, reject_misses, text_misses
from .file_grade import file_misses
from .layer_grade import vector_misses
from .outcome import Grade, Output, best_misses
from .raster_grade import raster_misses
from .style_grade import style_misses


def _of_kind(outputs: Sequence[Output], *kinds: str) -> list[Output]:
    return [item for item in outputs if item.kind in kinds]


def grade(expect: Mapping[str, Any], record: Mapping[str, Any], outputs: Sequence[Output]) -> Grade:
    """Judge a run against every expectation; of several outputs the best match counts.

    A file that the run wrote counts as a layer or a raster too. Call it on the main thread.
    """
    if "reject" in expect:
        misses = reject_misses(record, expect["reject"])
        return Grade(not misses, tuple(misses))
    misses = []
    if record.get("status") != "ok":
        misses.append(f"the run ended as {record.get('status')}")
    if "number" in expect:
        misses += number_misses(record, expect["number"])
    if "text" in expect:
        misses += text_misses(record, expect["text"])
    if "layer" in expect:
        layers = _of_kind(outputs, "layer", "file")
        misses += best_misses("layer", layers, lambda o: vector_misses(o.path, expect["layer"]))
    if "raster" in expect:
        rasters = _of_kind(outputs, "raster", "file")
        misses += best_misses("raster", rasters, lambda o: raster_misses(o.path, expect["raster"]))
    if "style" in expect:
        styles = _of_kind(outputs, "style")
        misses += best_misses("style", styles, lambda o: style_misses(o.path, expect["style"]))
    if "file" in expect:
        files = _of_kind(outputs, "file")
        misses += best_misses("file", files, lambda o: file_misses(o.path, expect))
    return Grade(not misses, tuple(misses))
