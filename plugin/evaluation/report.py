# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes report.html beside the results: one file with charts, tables and every transcript."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from .interval import wilson
from .model_name import is_scripted
from .phase import PHASES
from .report_chart import Chart, Point
from .report_transcript import anchor, transcript

Run = Mapping[str, Any]

_CORRECT = ("correctness_paper", "correctness_released")

_STYLE = """
body { font: 15px/1.45 sans-serif; color: #22262a; background: #fff; margin: 24px auto;
  max-width: 1180px; padding: 0 16px }
h1 { font-size: 22px } h2 { font-size: 17px; margin-top: 28px }
table { border-collapse: collapse; font-size: 13px; width: 100% }
th, td { text-align: right; padding: 4px 8px; border-bottom: 1px solid #e3e6e9;
  white-space: nowrap }
th:first-child, td:first-child, .words { text-align: left }
.right { color: #0f6b45 } .miss { color: #8f1d14 } .small { color: #61686f; font-size: 12px }
.note { background: #fdf3d8; padding: 8px 12px; border-radius: 4px }
.wide { overflow-x: auto }
pre { background: #f4f6f7; padding: 8px; white-space: pre-wrap; max-height: 20em; overflow: auto }
summary { cursor: pointer } a { color: inherit }
"""
_SCRIPT = """
function show() {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part) { part.open = true; part.scrollIntoView(); }
}
addEventListener("hashchange", show); show();
"""
_SCRIPTED = (
    "Rows of faults were not made by a model: a script that knows the right calls replied and "
    "erred at the stated rates. They compare how the methods bear faults. Their tokens are "
    "estimates, without a cap."
)
_INTERVALS = (
    "Intervals are 95 % Wilson intervals over all runs; repeats of one question depend on each "
    "other, so they are rather too narrow. Tokens are counted as the papers do, read and written; "
    "evaluated ones are those that the server had not cached."
)


@dataclass(frozen=True)
class Group:
    """The runs of one method with one model."""

    method: str
    model: str
    runs: tuple[Run, ...]

    @property
    def right(self) -> int:
        """The number of right runs."""
        return sum(bool(run["success"]) for run in self.runs)

    def mean(self, value: Callable[[Run], Any]) -> float | None:
        """Return the mean of what is known, None where nothing is."""
        known = [found for found in map(value, self.runs) if found is not None]
        return statistics.fmean(known) if known else None

    def one(self, key: str) -> str:
        """Return what the runs say of themselves under a key."""
        return ", ".join(sorted({str(run.get(key) or "") for run in self.runs} - {""}))


def groups(runs: Sequence[Run]) -> list[Group]:
    """Group runs by method and model, the best first."""
    keys = dict.fromkeys((run["method"], run["model"]) for run in runs)
    found = [
        Group(*key, tuple(run for run in runs if (run["method"], run["model"]) == key))
        for key in keys
    ]
    return sorted(found, key=lambda one: (-one.right / len(one.runs), one.method))


def read_and_written(run: Run) -> float:
    """Return a run's tokens as the papers count them."""
    return float(run["tokens"]["prompt"] + run["tokens"]["generated"])


_AXES: tuple[tuple[str, Callable[[Run], Any]], ...] = (
    ("Tokens read and written per question", read_and_written),
    ("Evaluated tokens per question", lambda run: run["tokens"]["evaluated"]),
    ("Cost per question in US dollars", lambda run: run.get("cost")),
    ("Seconds per question", lambda run: run["seconds"]["total"]),
)


def report(runs: Sequence[Run], folder: Path) -> str:
    """Return the whole page; `folder` holds the runs' events."""
    found = groups(runs)
    parts = ["<h1>Evaluation</h1>", f"<p>{len(runs)} runs. {_INTERVALS}</p>"]
    if any(is_scripted(one.model) for one in found):
        parts.append(f"<p class=note>{_SCRIPTED}</p>")
    parts += ["<h2>Methods</h2>", _methods(found)]
    for title, value in _AXES:
        parts += _charts(found, title, value)
    parts += ["<h2>By question</h2>", _questions(found)]
    parts.append("<h2>Transcripts</h2>")
    parts += [transcript(run, folder) for one in found for run in one.runs]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Evaluation</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}<script>{_SCRIPT}</script>"
        "</body></html>\n"
    )


def write_report(runs: Sequence[Run], folder: Path) -> Path:
    """Write the page into the folder of the results, whole or not at all. Raises OSError."""
    path = folder / "report.html"
    beside = path.with_suffix(".part")
    beside.write_text(report(runs, folder), encoding="utf-8")
    os.replace(beside, path)
    return path


def _charts(found: Sequence[Group], title: str, value: Callable[[Run], Any]) -> list[str]:
    """Draw one chart for models and one for the scripted faults; none where nothing is known."""
    parts = []
    for scripted in (False, True):
        own = [one for one in found if is_scripted(one.model) is scripted]
        points = [_point(one, one.mean(value) or 0.0, own) for one in own]
        if any(point.x > 0 for point in points):
            of = " (scripted faults, no model)" if scripted else ""
            parts += [f"<h2>Success against {escape(title.lower())}{of}</h2>"]
            parts += [f"<div class=wide>{Chart(points, title).svg()}</div>"]
    return parts


def _point(one: Group, x: float, shown: Sequence[Group]) -> Point:
    models = {other.model for other in shown}
    label = one.method if len(models) == 1 else f"{one.method} {one.model}"
    low, high = wilson(one.right, len(one.runs))
    return Point(label, one.method, x, one.right / len(one.runs), low, high)


def _methods(found: Sequence[Group]) -> str:
    heads = ["Method", "Model", "Size", "Quantisation", "Server", "Runs", "Success", "95 %"]
    heads += ["Correct (paper)", "Correct (released)", "Tokens", "Evaluated", "Calls", "Seconds"]
    heads += [name.capitalize() for name in PHASES]
    heads += ["Cost $", "Energy J"]
    rows = [_method(one) for one in found]
    used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    return _table([heads[at] for at in used], [[row[at] for at in used] for row in rows])


def _method(one: Group) -> list[str]:
    low, high = wilson(one.right, len(one.runs))
    row = [escape(one.method), escape(one.model)]
    row += [escape(one.one(key)) for key in ("size", "quantisation", "server")]
    row += [str(len(one.runs)), f"{one.right / len(one.runs):.0%}", f"{low:.0%} to {high:.0%}"]
    for key in _CORRECT:
        row.append(_share(one.mean(partial(_own, key))))
    row.append(_number(one.mean(read_and_written)))
    row.append(_number(one.mean(lambda run: run["tokens"]["evaluated"])))
    row.append(_number(one.mean(lambda run: len(run["calls"])), 1))
    row.append(_number(one.mean(lambda run: run["seconds"]["total"]), 1))
    for name in PHASES:
        row.append(_number(one.mean(partial(_phase, name)), 1))
    row.append(_number(one.mean(partial(_own, "cost")), 5))
    row.append(_number(one.mean(partial(_own, "energy")), 1))
    return row


def _own(key: str, run: Run) -> Any:
    return run.get(key)


def _phase(name: str, run: Run) -> Any:
    return (run.get("phases") or {}).get(name)


def _questions(found: Sequence[Group]) -> str:
    tasks = list(dict.fromkeys(run["task"] for one in found for run in one.runs))
    rows = []
    for one in found:
        cells = [f"{escape(one.method)} <span class=small>{escape(one.model)}</span>"]
        for task in tasks:
            cells.append(" ".join(_verdict(run) for run in one.runs if run["task"] == task))
        rows.append(cells)
    return _table(["Method", *(escape(task) for task in tasks)], rows)


def _verdict(run: Run) -> str:
    mark, style = ("&#10003;", "right") if run["success"] else ("&#10007;", "miss")
    said = "right" if run["success"] else "wrong: " + "; ".join(run.get("reasons") or ())
    return (
        f'<a class={style} href="#{escape(anchor(run), quote=True)}" '
        f'title="{escape(said, quote=True)}">{mark}</a>'
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{one}</th>" for one in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class=wide><table><tr>{head}</tr>{body}</table></div>"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
