# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes worlds: products, zones, images, the tasks over them, and what is true."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .agriculture import make_agriculture
from .agriculture_task import add_agriculture
from .city_table import read_table, table_tasks
from .climate import PERIODS, make_climate
from .climate_task import add_climate
from .earthquake import make_earthquake
from .earthquake_report import write_report
from .earthquake_task import add_earthquake
from .forest import make_forest
from .forest_task import add_forest
from .setting import Setting
from .size import Size
from .task_book import TaskBook
from .truth import Truth
from .urban import make_urban
from .urban_task import add_urban
from .vision import make_vision
from .vision_task import add_vision
from .worked_example import worked

FORMAT = 1
EXAMPLE = "CL01"
"""The task that serves every method as its one example, and is not asked."""


def make_worlds(
    seed: int, sizes: Sequence[Size], out: Path, say: Callable[[str], None] = lambda text: None
) -> Path:
    """Make a world of each size in a folder of its name and return the path of tasks.json.

    Sources in the tasks are relative to `out`. Beside them stand truth.json, example.json (the task
    that serves as example, and the same worked out) and earthquake.json (the 120 questions of the
    made-up study). Folders of the sizes are made anew. Raises OSError, RuntimeError where something
    cannot be written, LastingError when pyhdf or h5py is missing.
    """
    tasks: list[dict[str, Any]] = []
    examples: list[dict[str, Any]] = []
    worked_out: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    truths: dict[str, Any] = {}
    for size in sizes:
        setting = Setting(seed, size, out / size.name)
        if setting.folder.exists():
            shutil.rmtree(setting.folder)
        truth = _made(setting, say)
        mark = f"-{size.name}" if len(sizes) > 1 else ""
        book = _book(setting, mark, truth)
        shown = [one for one in book.tasks if one["id"] == f"{EXAMPLE}{mark}"]
        examples += shown
        worked_out += [worked(one, truth, len(PERIODS)) for one in shown]
        tasks += [one for one in book.tasks if one["id"] != f"{EXAMPLE}{mark}"]
        truths[size.name] = truth.form()
        say(f"{size.name}: earthquake")
        study = TaskBook(size.name, mark, truth)
        scenario = make_earthquake(setting)
        write_report(setting, scenario)
        add_earthquake(study, scenario)
        questions += study.tasks
    note = f"Generated, seed {seed}. Sources are relative to this folder: give it as DATA."
    made_up = f"{note} The earthquake is made up: no number is of the real event of 2023."
    _write(out / "earthquake.json", {"format": FORMAT, "note": made_up, "tasks": questions})
    _write(
        out / "example.json",
        {"format": FORMAT, "note": note, "tasks": examples, "examples": worked_out},
    )
    _write(out / "truth.json", {"format": FORMAT, "seed": seed, "sizes": truths})
    return _write(out / "tasks.json", {"format": FORMAT, "note": note, "tasks": tasks})


def make_table(table: Path, out: Path) -> Path:
    """Copy a table of cities to `out` and write the questions over it as table.json; return that
    path. Raises TableError, OSError."""
    rows = read_table(table)
    kept = out / "table.csv"
    kept.write_bytes(table.read_bytes())
    book = TaskBook("", "", Truth())
    table_tasks(kept.name, rows, book)
    note = f"Questions over {table.name}. Sources are relative to this folder: give it as DATA."
    return _write(out / "table.json", {"format": FORMAT, "note": note, "tasks": book.tasks})


def _made(setting: Setting, say: Callable[[str], None]) -> Truth:
    """Write everything but the tasks, and return what is true."""
    truth = Truth()
    setting.write_zones()
    for name, make in (
        ("agriculture", make_agriculture), ("climate", make_climate), ("urban", make_urban),
        ("forest", make_forest), ("vision", make_vision),
    ):  # fmt: skip
        say(f"{setting.size.name}: {name}")
        make(setting, truth)
    return truth


def _book(setting: Setting, mark: str, truth: Truth) -> TaskBook:
    book = TaskBook(setting.size.name, mark, truth)
    add_vision(book)
    add_agriculture(book)
    add_climate(book)
    add_urban(book)
    add_forest(book, setting)
    return book


def _write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
