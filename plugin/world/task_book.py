# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects the tasks of a world in the format of task files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .script import Script
from .truth import Truth

TOLERANCE = 0.005
"""Share by which a number may differ, so that a rounded one is right too."""

Values = Mapping[str, float]


class TaskBook:
    """The tasks of one world; `root` is its folder relative to the data's, `mark` ends the ids."""

    def __init__(self, root: str, mark: str, truth: Truth) -> None:
        self.root, self._mark, self.truth = root, mark, truth
        self.tasks: list[dict[str, Any]] = []

    def zones(self, name: str) -> dict[str, Any]:
        """Return a layer of zones."""
        return {"name": name, "source": f"{self.root}/zones/{name}.gpkg"}

    def folder(self, name: str) -> str:
        """Return the path of a folder of products, such as climate/modis."""
        return f"{self.root}/products/{name}"

    def products(self, name: str) -> dict[str, Any]:
        """Return a folder of products, which the method has to index itself."""
        said = name.replace("/", " ")
        return {"name": f"{said} products", "source": self.folder(name), "open": "file"}

    def add(
        self, identity: str, area: str, question: str, layers: Sequence[Mapping[str, Any]],
        expect: Mapping[str, Any], script: Script, intent: str, tags: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Add a task with its calls and, where it has sub-tasks, its graph."""
        work = len(script.steps) - 1
        task: dict[str, Any] = {
            "id": f"{identity}{self._mark}",
            "level": 1 if work < 3 else 2 if work < 5 else 3,
            "area": area,
            "question": question,
            "layers": list(layers),
            "expect": dict(expect),
            "chains": [script.chain(intent)],
        }
        if tags:
            task["tags"] = list(tags)
        if work:
            task["graph"] = script.graph()
        self.tasks.append(task)


def number(value: float, tolerance: float = TOLERANCE) -> dict[str, Any]:
    """Expect a number."""
    return {"number": {"value": value, "rel_tol": tolerance}}


def exactly(count: int) -> dict[str, Any]:
    """Expect a count."""
    return {"number": {"value": count}}


def words(*texts: str) -> dict[str, Any]:
    """Expect one of some texts in the answer."""
    return {"text": {"any_of": list(texts)}}


def refusal(*reasons: str) -> dict[str, Any]:
    """Expect a refusal whose reason holds one of some texts."""
    return {"reject": {"reason_any_of": list(reasons)}}


def gap(values: Values, digits: int) -> tuple[float, int]:
    """Return a rounded number in the widest gap between values, and how many lie above it."""
    ranked = sorted(values.values())
    gaps = [(two - one, (one + two) / 2) for one, two in zip(ranked, ranked[1:])]
    middle = round(max(gaps)[1], digits)
    return middle, sum(one > middle for one in ranked)
