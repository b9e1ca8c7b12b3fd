# SPDX-License-Identifier: GPL-2.0-or-later
"""The results file: one entry for each run, and a summary for each method."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .interval import wilson
from .model_name import is_scripted, quantisation, size
from .outcome import Grade, Output
from .phase import PHASES
from .task_fault import is_number
from .watch import as_json

TOKENS = ("prompt", "cached", "evaluated", "generated")
SECONDS = ("model", "tools", "total")
MEANS = ("correctness_paper", "correctness_released", "cost", "energy")


class ResultError(Exception):
    """A results file cannot be gone on with; the message says why."""


def numbers(found: Any, names: tuple[str, ...]) -> dict[str, float]:
    """Return the named numbers of a record's part; what is missing or no number is 0."""
    part = found if isinstance(found, Mapping) else {}
    return {name: part[name] if is_number(part.get(name)) else 0 for name in names}


@dataclass(frozen=True)
class Measured:
    """What was measured of a run beside its record; None is what could not be.

    Correctness is from 0 to 1, `cost` in US dollars, `energy` in joules, `phases` in seconds.
    """

    correctness_paper: float | None = None
    correctness_released: float | None = None
    cost: float | None = None
    energy: float | None = None
    phases: Mapping[str, float] = field(default_factory=dict)


def entry(
    key: tuple[str, str, int],
    asked: str,
    record: Mapping[str, Any],
    judged: Grade,
    outputs: list[Output],
    error: str,
    measured: Measured | None = None,
    turns: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Make a run's entry. `asked` is the model that was asked for ("" is the server's first);
    `turns` are those of a dialogue."""
    task, method, repeat = key
    found = record.get("model")
    model = found if isinstance(found, Mapping) else {}
    tokens = record.get("tokens")
    name = str(model.get("name") or asked)
    also = measured or Measured()
    estimated = bool(tokens.get("estimated")) if isinstance(tokens, Mapping) else True
    return {
        "task": task,
        "method": method,
        "model": name,
        "server": "" if is_scripted(name) else str(model.get("server") or ""),
        "size": size(name),
        "quantisation": quantisation(name),
        "asked": asked,
        "digest": str(model.get("digest") or ""),
        "repeat": repeat,
        "success": judged.success,
        "reasons": list(judged.reasons),
        "status": record.get("status"),
        "answer": record.get("answer"),
        "value": record.get("value"),
        "outputs": [item.as_json() for item in outputs],
        "correctness_paper": also.correctness_paper,
        "correctness_released": also.correctness_released,
        "calls": as_json(record.get("calls") or []),
        "tokens": {**numbers(tokens, TOKENS), "estimated": estimated},
        "seconds": numbers(record.get("seconds"), SECONDS),
        "phases": numbers(also.phases, PHASES),
        "energy": also.energy,
        "cost": also.cost,
        "error": error,
        **({"turns": as_json(turns)} if turns else {}),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return for each method the number of runs, the share of right ones, and means."""
    found: dict[str, Any] = {}
    for method in dict.fromkeys(run["method"] for run in runs):
        own = [run for run in runs if run["method"] == method]
        right = sum(run["success"] for run in own)
        found[method] = {
            "runs": len(own),
            "right": right,
            "success": right / len(own),
            "models": sorted({run["model"] for run in own}),
            "tokens": {
                name: statistics.fmean(run["tokens"][name] for run in own) for name in TOKENS
            },
            "seconds": {
                name: statistics.fmean(run["seconds"][name] for run in own) for name in SECONDS
            },
            "interval": wilson(right, len(own)),
            **{name: _mean(run.get(name) for run in own) for name in MEANS},
        }
    return found


def _mean(values: Iterable[Any]) -> float | None:
    known = [one for one in values if one is not None]
    return statistics.fmean(known) if known else None


class ResultFile:
    """OUT/results.json, whole after every run: it is written beside and then moved into place."""

    def __init__(self, path: Path, order: Sequence[tuple[str, str, int]] = ()) -> None:
        """Read what an earlier evaluation left. Raises ResultError when it is no results file.

        Runs stand in `order`, whenever they were added; others stand before them.
        """
        self.path = path
        self._places = {key: place for place, key in enumerate(order)}
        self.runs: list[dict[str, Any]] = []
        if path.exists():
            try:
                self.runs = list(json.loads(path.read_text(encoding="utf-8"))["runs"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ResultError(f"{path} is no results file; move it away: {error}") from error

    def finished(self, key: tuple[str, str, int], asked: str) -> bool:
        """Tell whether a run is there already, made with the same model asked for."""
        return any(self._key(run) == key and run.get("asked") == asked for run in self.runs)

    def add(self, run: dict[str, Any]) -> None:
        """Add a run, in place of one of the same task, method and repeat, and write the file."""
        kept = [item for item in self.runs if self._key(item) != self._key(run)]
        self.runs = sorted([*kept, run], key=lambda one: self._places.get(self._key(one), -1))
        document = {"runs": self.runs, "summary": summary(self.runs)}
        beside = self.path.with_suffix(".part")
        beside.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
        os.replace(beside, self.path)

    @staticmethod
    def _key(run: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        return run.get("task"), run.get("method"), run.get("repeat")
