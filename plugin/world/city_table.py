# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions over a table of cities that someone has typed in, such as the published one of the
earthquake study: the same facts as of the made-up one, by city and day of the image."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .earthquake_report import COLUMNS
from .earthquake_task import AREA, TOLERANCE
from .script import Script
from .task_book import TaskBook, number, words

_FACTS = {
    "buildings_total": "How many buildings has {city} in the table, by the image of {day}?",
    "buildings_damaged": "How many buildings of {city} are damaged in the image of {day}?",
    "pct_damaged": "Which percentage of the buildings of {city} is damaged in the image of {day}?",
    "population_affected": "How many people of {city} are affected by the image of {day}?",
}
_WHOLE = ("buildings_total", "buildings_damaged")


class TableError(Exception):
    """A table cannot be used; the message names the line and the column."""


@dataclass(frozen=True)
class CityRow:
    """A city on the day of an image, with its numbers by column; None for one not given."""

    city: str
    day: str
    numbers: dict[str, float | None]


def read_table(path: Path) -> list[CityRow]:
    """Read a table with the columns city, image_date, buildings_total, buildings_damaged,
    pct_damaged, population_affected, source_page. Raises TableError, OSError."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file)
        missing = [one for one in COLUMNS if one not in (table.fieldnames or ())]
        if missing:
            raise TableError(f"{path.name} has no column {missing[0]}; it needs {COLUMNS}.")
        found = [_row(line, row, path.name) for line, row in enumerate(table, start=2)]
    if not found:
        raise TableError(f"{path.name} has no row.")
    return found


def _row(line: int, row: dict[str, str], name: str) -> CityRow:
    try:
        day = datetime.date.fromisoformat(row["image_date"].strip()).isoformat()
    except ValueError as error:
        raise TableError(
            f'{name}, line {line}: image_date "{row["image_date"]}" is no date such as 2023-02-09.'
        ) from error
    if not row["city"].strip():
        raise TableError(f"{name}, line {line}: city is empty.")
    numbers = {one: _number(row[one], one, line, name) for one in _FACTS}
    return CityRow(row["city"].strip(), day, numbers)


def _number(text: str, column: str, line: int, name: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError as error:
        raise TableError(f'{name}, line {line}: {column} "{text}" is no number.') from error


def table_tasks(source: str, rows: Sequence[CityRow], book: TaskBook) -> None:
    """Add a question for each number of the table, and for the largest of each day."""
    layers = [{"name": "table", "source": source}]
    for serial, (question, expect, script, intent) in enumerate(_asked(rows), start=1):
        book.add(f"TB{serial:03}", AREA, question, layers, expect, script, intent)


def _asked(rows: Sequence[CityRow]) -> Iterator[tuple[str, dict[str, Any], Script, str]]:
    for row in rows:
        for column, form in _FACTS.items():
            value = row.numbers[column]
            if value is not None:
                script = _of_day(row.day, row.city).add(
                    "v", f"Take {column} of {row.city} on {row.day}; return the number.",
                    "statistics", layer="$f", field=column, statistic="sum",
                )  # fmt: skip
                question = form.format(city=row.city, day=row.day)
                intent = "Count" if column in _WHOLE else "Statistics"
                yield question, number(value, TOLERANCE), script.answer(value="$v.sum"), intent
    for day in dict.fromkeys(row.day for row in rows):
        shares = {row.city: row.numbers["pct_damaged"] for row in rows if row.day == day}
        known = {city: value for city, value in shares.items() if value is not None}
        if len(known) > 1:
            most = max(known.values())
            script = _of_day(day).add(
                "v", "Take the city with the largest share of damage; return its name.", "top_n",
                layer="$f", field="pct_damaged", n=1,
            )  # fmt: skip
            yield (
                f"Which city has the largest percentage of damaged buildings on {day}?",
                words(*(city for city, value in known.items() if value == most)),
                script.answer(text="$v.name"), "Rank",
            )  # fmt: skip


def _of_day(day: str, city: str = "") -> Script:
    conditions = [{"field": "image_date", "op": "=", "value": day}]
    if city:
        conditions.append({"field": "city", "op": "=", "value": city})
    return Script().add(
        "f", f"Pick the rows of {city or 'all cities'} on {day}; return the table.", "filter",
        layer="table", conditions=conditions,
    )  # fmt: skip
