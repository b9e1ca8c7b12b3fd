# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads values out of a JSON document by a path, and compares them with expected ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outcome import near
from .task_fault import is_number

RECORD_TOLERANCE = 1e-6
ROUNDING = 0.005


class PathMissing(Exception):
    """The document has nothing at a path; the message names the step that failed."""


def _step(value: Any, step: str) -> Any:
    if step == "#" and isinstance(value, list):
        return len(value)
    if "=" in step and isinstance(value, list):
        key, _, wanted = step.partition("=")
        for item in value:
            if isinstance(item, dict) and str(item.get(key)) == wanted:
                return item
    elif step.isdigit() and isinstance(value, list) and int(step) < len(value):
        return value[int(step)]
    elif isinstance(value, dict) and step in value:
        return value[step]
    raise PathMissing(f"there is nothing at '{step}'")


def value_at(document: Any, path: str) -> Any:
    """Follow a path: a number is an index, * every record, # the length, key=value picks one.

    With * the values come as a list. Raises PathMissing.
    """
    head, dot, rest = path.partition(".")
    if head == "*":
        if not isinstance(document, list):
            raise PathMissing("there is no list at '*'")
        return [value_at(item, rest) if dot else item for item in document]
    found = _step(document, head)
    return value_at(found, rest) if dot else found


def aggregated(value: Any, aggregate: str | None) -> Any:
    """Reduce a list of values: sum, sorted_join, or all_equal (the value that all share).

    Raises PathMissing where the list does not allow it.
    """
    if aggregate is None:
        return value
    if not isinstance(value, list) or not value:
        raise PathMissing("there are no values")
    if aggregate == "sorted_join":
        return ",".join(sorted(str(item) for item in value))
    if aggregate == "sum":
        if not all(is_number(item) for item in value):
            raise PathMissing("not every value is a number")
        return sum(value)
    if any(item != value[0] for item in value):
        raise PathMissing("the values differ")
    return value[0]


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(_same(found[at], item) for at, item in enumerate(expected))
        )
    if isinstance(expected, float):
        room = ROUNDING + abs(expected) * RECORD_TOLERANCE
        return is_number(found) and abs(found - expected) <= room
    if is_number(expected):
        return is_number(found) and near(found, expected)
    return type(found) is type(expected) and bool(found == expected)


def record_misses(document: Any, expected: list[Mapping[str, Any]]) -> list[str]:
    """Judge a list of records: each expected one is there, with its keys and no others.

    Records are paired by their first key; numbers may differ by a millionth and by rounding.
    """
    if not isinstance(document, list) or not all(isinstance(item, dict) for item in document):
        return ["it is no list of records"]
    misses = []
    if len(document) != len(expected):
        misses.append(f"it has {len(document)} records instead of {len(expected)}")
    for record in expected:
        key = next(iter(record))
        found = next((item for item in document if item.get(key) == record[key]), None)
        if found is None:
            misses.append(f"there is no record with {key} {record[key]}")
        elif set(found) != set(record):
            misses.append(f"the keys of {record[key]} are {', '.join(map(str, found))}")
        else:
            misses += [
                f"{name} of {record[key]} is {found[name]} instead of {record[name]}"
                for name in record
                if not _same(found[name], record[name])
            ]
    return misses
