# SPDX-License-Identifier: GPL-2.0-or-later
"""What the library of workflows shows: entries of several places, and their earlier versions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from ...plugin.workflow.file import dumps
from ...plugin.workflow.graph import Graph


class Place(str, Enum):
    """Where a workflow is kept."""

    TEMPLATE = "template"
    PROFILE = "profile"
    PROJECT = "project"
    FILE = "file"


@dataclass(frozen=True)
class Entry:
    """One workflow: `key` is its name in the profile or the project, else the path of its file.

    Without a graph it cannot be opened, and `fault` says why; `remark` is what else is to be
    said of it. `changed` is a time as 2024-05-31 12:30, "" where none is known; `read_only` tells
    that saving it where it lies could lose something.
    """

    place: Place
    key: str
    name: str
    graph: Graph | None = None
    fault: str = ""
    remark: str = ""
    changed: str = ""
    versions: int = 0
    read_only: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the user may rename and delete it."""
        return self.place is not Place.TEMPLATE

    @property
    def about(self) -> str:
        """What it is for: its description, else its question."""
        if self.graph is None:
            return self.fault
        return self.graph.description or self.graph.question

    @cached_property
    def words(self) -> str:
        """All that it is found by: name, question, description, and its steps."""
        parts = [self.name, self.fault]
        if self.graph is not None:
            graph = self.graph
            parts += [graph.title, graph.question, graph.description]
            for one in graph.vertices:
                parts += [one.title, one.objective, one.tool.replace("_", " ")]
            parts += [f"{one.name} {one.label}" for one in graph.variables]
        return "\n".join(parts).casefold()

    @cached_property
    def digest(self) -> str:
        """A mark of the workflow's content, "" without one."""
        if self.graph is None:
            return ""
        return hashlib.blake2b(dumps(self.graph).encode(), digest_size=16).hexdigest()

    def has_words(self, phrase: str) -> bool:
        """Tell whether all words of a phrase are found in it."""
        return all(word in self.words for word in phrase.casefold().split())


@dataclass(frozen=True)
class EarlierVersion:
    """An earlier state of a workflow: `key` its file, which sorts by time, `time` as 2024-05-31
    12:30, `summary` in words what has changed since; without a graph it says why there is none."""

    key: str
    time: str
    summary: str
    graph: Graph | None = None
