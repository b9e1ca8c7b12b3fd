# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths into JSON documents, and lists of records."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from geo_olm.plugin.evaluation.json_path import PathMissing, aggregated, record_misses, value_at

LAYERS = [
    {"name": "parks", "crs": "EPSG:31287", "count": 119, "box": [1.5, 2.5, 3.5, 4.25]},
    {"name": "cafes", "crs": "EPSG:31287", "count": 392, "box": [0.5, 1.5, 2.5, 3.5]},
]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("#", 2),
        ("0.name", "parks"),
        ("1.box.3", 3.5),
        ("name=cafes.count", 392),
        ("*.count", [119, 392]),
    ],
)
def test_a_path_leads_to_its_value(path: str, value: Any) -> None:
    assert value_at(LAYERS, path) == value


@pytest.mark.parametrize("path", ["2.name", "0.nothing", "name=roads.count", "0.#", "0.*", "x"])
def test_a_path_that_leads_nowhere_is_told(path: str) -> None:
    with pytest.raises(PathMissing):
        value_at(LAYERS, path)


def test_lists_are_reduced() -> None:
    assert aggregated([119, 392], "sum") == 511
    assert aggregated(["parks", "cafes"], "sorted_join") == "cafes,parks"
    assert aggregated(["a", "a"], "all_equal") == "a"


@pytest.mark.parametrize(
    ("values", "aggregate"), [(["a", "b"], "all_equal"), ([], "sum"), (["1", 2], "sum")]
)
def test_lists_that_cannot_be_reduced_are_told(values: list[Any], aggregate: str) -> None:
    with pytest.raises(PathMissing):
        aggregated(values, aggregate)


def spoiled(key: str, value: Any) -> list[dict[str, Any]]:
    found = deepcopy(LAYERS)
    found[0][key] = value
    return found


def test_equal_records_pass_in_any_order_and_with_rounding() -> None:
    found = spoiled("box", [1.501, 2.5, 3.5, 4.25])
    assert record_misses(found[::-1], LAYERS) == []


@pytest.mark.parametrize(
    "found",
    [
        LAYERS[:1],
        [*LAYERS, {"name": "more", "crs": "", "count": 0, "box": []}],
        spoiled("count", 118),
        spoiled("count", "119"),
        spoiled("crs", "EPSG:4326"),
        spoiled("box", [1.6, 2.5, 3.5, 4.25]),
        spoiled("box", [1.5, 2.5, 3.5]),
        spoiled("name", "park"),
        spoiled("extra", 1),
        {"parks": 1},
        None,
    ],
)
def test_records_that_differ_fail(found: Any) -> None:
    assert record_misses(found, LAYERS)
