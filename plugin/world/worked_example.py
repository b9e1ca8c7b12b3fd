# SPDX-License-Identifier: GPL-2.0-or-later
"""The example task worked out with the results that its calls give, in the form of
resources/evaluation/examples.json, so that every method may be shown the same one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .truth import Truth


def worked(task: Mapping[str, Any], truth: Truth, files: int) -> dict[str, Any]:
    """Return the example's question, layers and steps with thought, call and result.

    The task picks a zone, indexes `files` scenes of temperature, and computes it on a day.
    """
    steps = task["chains"][0]["steps"]
    objectives = [one["objective"] for one in task["graph"]["tasks"].values()]
    series = steps[2]["arguments"]
    zone, day = steps[0]["arguments"]["conditions"][0]["value"], series["start"]
    found = truth.of("temperature", day, zone).mean
    results = [
        f'r1: layer "districts where name is {zone}", 1 feature (polygon, EPSG:4326); count = 1.',
        f'r2: layer "scenes", {files} features (polygon, EPSG:4326): {files} scenes of {files} '
        f"files, {files} read anew, 0 gone, 0 skipped.",
        'r3: layer "temperature by r1", 1 feature (polygon, EPSG:4326): mean of temperature in °C '
        f"in value; highest = {found:.4g} ({zone} {day}), lowest = {found:.4g} ({zone} {day}).",
        "",
    ]
    names = {"$z": "r1", "$s": "r2", "$v": "r3"}
    thoughts = [*objectives, "r3.mean is the answer."]
    return {
        "question": task["question"],
        "layers": ["districts (7 polygons, EPSG:4326): name"],
        "steps": [
            {"thought": thought, "tool": step["tool"],
             "arguments": _renamed(step["arguments"], names), "result": result}
            for thought, step, result in zip(thoughts, steps, results)
        ],
    }  # fmt: skip


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Put the ids of results in the place of the names that the calls give them."""
    if isinstance(value, Mapping):
        return {key: _renamed(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    if isinstance(value, str) and value.startswith("$"):
        name, dot, key = value.partition(".")
        return f"{names[name]}{dot}{key}"
    return value
