# SPDX-License-Identifier: GPL-2.0-or-later
"""Delimited text as a table: encoding, delimiter, decimal mark and the type of every column are
read from the whole file, so that no code loses its zeros and no late text becomes NULL."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from .base import MendableError

ENDINGS = frozenset({".csv", ".tsv", ".txt", ".tab"})
_DELIMITERS = (",", ";", "\t", "|")
_PROBED_ROWS = 100
_MISSING = {"", "na", "n/a", "null", "nan", "none", "-"}
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)")
_REAL = re.compile(r"[+-]?(0|[1-9]\d*)?([.]\d*)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(0|[1-9]\d*),\d+([eE][+-]?\d+)?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_LARGEST = 2**63
_LONGEST_CELL = 2**31 - 1
"""A polygon as WKT is longer than the 131,072 characters that Python's reader takes."""


@dataclass(frozen=True)
class Table:
    """A table of texts: one type for each column, in FieldProfile's words, "" for none.

    `decimal` is the decimal mark of its numbers; `odd` counts rows that had more cells than the
    header, whose rest is left out.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[list[str]]
    decimal: str
    encoding: str
    odd: int

    def value(self, row: list[str], place: int) -> int | float | str | None:
        """Return a cell as its column's type; a blank one, or one that says so, is None."""
        text = row[place].strip()
        kind = self.types[place]
        if kind == "text":
            return row[place] if text else None
        if text.lower() in _MISSING:
            return None
        if kind == "integer":
            return int(text)
        return float(text.replace(",", ".")) if kind == "real" else text


def read_table(path: Path, stop: Callable[[], None] = lambda: None) -> Table:
    """Read a file; `stop` is called now and then and may raise. Raises MendableError."""
    csv.field_size_limit(_LONGEST_CELL)
    text, encoding = _decoded(path)
    if not text.strip():
        raise MendableError(f"{path.name} is empty: there is nothing to read.")
    delimiter = _delimiter(text)
    header, rows, odd = _rows(text, delimiter, path, stop)
    columns = range(len(header))
    comma = delimiter != "," and _has_decimal_comma(rows)
    types = tuple(_type(rows, place, comma) for place in columns)
    return Table(tuple(_unique(header)), types, rows, "," if comma else ".", encoding, odd)


def _decoded(path: Path) -> tuple[str, str]:
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace"), "UTF-16"
    if b"\0" in data:
        raise MendableError(f"{path.name} is no text table, whatever its name says.")
    try:
        return data.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "Windows-1252"


def _delimiter(text: str) -> str:
    """Return what parts the first rows most evenly."""

    def evenness(delimiter: str) -> tuple[int, int]:
        try:
            rows = list(islice(_parsed(text, delimiter), _PROBED_ROWS))
        except csv.Error:
            return 0, 0
        width = len(rows[0])
        return (sum(1 for row in rows if len(row) == width) if width > 1 else 0, width)

    return max(_DELIMITERS, key=evenness)


def _parsed(text: str, delimiter: str) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        if row:
            yield row


def _rows(
    text: str, delimiter: str, path: Path, stop: Callable[[], None]
) -> tuple[list[str], list[list[str]], int]:
    rows, odd = [], 0
    try:
        parsed = _parsed(text, delimiter)
        header = next(parsed)
        width = len(header)
        for number, row in enumerate(parsed):
            if number % 10_000 == 0:
                stop()
            odd += len(row) > width
            rows.append((row + [""] * (width - len(row)))[:width])
    except csv.Error as error:
        raise MendableError(f"{path.name} is damaged: {error}. Ask for the file anew.") from error
    return header, rows, odd


def _unique(header: list[str]) -> Iterator[str]:
    """Yield the names of the columns, numbered where one is missing or comes twice."""
    seen: set[str] = set()
    for place, text in enumerate(header, start=1):
        name = first = text.strip() or f"column_{place}"
        number = 2
        while name.lower() in seen:
            name, number = f"{first}_{number}", number + 1
        seen.add(name.lower())
        yield name


def _has_decimal_comma(rows: list[list[str]]) -> bool:
    return any(_COMMA.fullmatch(cell.strip()) for row in rows for cell in row)


def _type(rows: list[list[str]], place: int, comma: bool) -> str:
    """Return the narrowest type that every filled cell of a column has."""
    kinds = set()
    for row in rows:
        text = row[place].strip()
        if text.lower() not in _MISSING:
            kinds.add(_kind(text, comma))
            if "text" in kinds:
                return "text"
    if kinds == {"integer", "real"}:
        return "real"
    return kinds.pop() if len(kinds) == 1 else "text"


def _kind(text: str, comma: bool) -> str:
    if _INTEGER.fullmatch(text):
        return "integer" if -_LARGEST <= int(text) < _LARGEST else "text"
    if any(mark.isdigit() for mark in text) and (
        _COMMA.fullmatch(text) if comma and "," in text else _REAL.fullmatch(text)
    ):
        return "real"
    if _DAY.fullmatch(text):
        return "date"
    return "datetime" if _MOMENT.fullmatch(text) else "text"
