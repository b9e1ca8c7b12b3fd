# SPDX-License-Identifier: GPL-2.0-or-later
"""The jobs of a batch: what each is called, what it fills in, and how one ended."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...tools.boundary import file_of
from ..workflow.file import dumps
from ..workflow.graph import Graph, Status, Type

DONE = ("ok", "rejected")
"""The statuses of a job that is not run again."""

_LONGEST = 60
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


class BatchError(Exception):
    """A batch that cannot run; the message is a sentence with the place and the next step."""


@dataclass(frozen=True)
class Job:
    """One input. `id` is the name of its folder too; `place` says where it was read ("line 3").

    A layer among the variables is a source, or {"source", "extent" [xmin, ymin, xmax, ymax],
    "crs", "closed" [right, top]} for the part of it that lies in a tile.
    """

    id: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""

    @property
    def flat(self) -> dict[str, Any]:
        """The variables with a text or number each, as a table takes them."""
        return {
            key: str(one["source"]) if isinstance(one, Mapping) else one
            for key, one in self.variables.items()
        }


@dataclass(frozen=True)
class Ended:
    """How a job ended: status ok, rejected, failed or cancelled, and why."""

    id: str
    key: str
    status: str
    reason: str = ""
    seconds: float = 0.0
    attempts: int = 1
    worker: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the job need not run again."""
        return self.status in DONE


def names(texts: list[str]) -> Iterator[str]:
    """Yield a name for each text that every system takes for a folder, each once."""
    taken: set[str] = set()
    for number, text in enumerate(texts, 1):
        name = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", text))[:_LONGEST]
        name = name.strip("._ ") or f"job_{number}"
        name = f"_{name}" if _DEVICES.match(name) else name
        free, count = name, 1
        while free.casefold() in taken:
            count += 1
            free = f"{name}_{count}"
        taken.add(free.casefold())
        yield free


def layer_names(graph: Graph) -> dict[str, bool]:
    """Return what a workflow takes layers for, in order: variables (true) and project layers."""
    variables = {one.name: True for one in graph.variables if one.type is Type.LAYER}
    used = {name: False for vertex in graph.vertices for name in vertex.layers()}
    return {**used, **variables}


def key_of(graph: Graph, job: Job) -> str:
    """Return what a job's result depends on, as a short text: the steps, the variables, and the
    size and time of the files that they name."""
    bare = [
        replace(one, position=None, comment="", title="", status=Status.PENDING, history="")
        for one in graph.vertices
    ]
    told = replace(graph, vertices=tuple(bare), groups=(), notes=(), title="", description="")
    files = {name: _state(job.flat.get(name)) for name in layer_names(graph)}
    parts = [dumps(told), dict(job.variables), files]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:24]


def _state(source: Any) -> list[int]:
    path = file_of(source) if isinstance(source, str) else None
    try:
        found = Path(path).stat() if path is not None else None
    except (OSError, ValueError):
        found = None
    return [found.st_size, found.st_mtime_ns] if found else []
