# SPDX-License-Identifier: GPL-2.0-or-later
"""What a task may hold, and what is wrong with one that does not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Fault:
    """What is wrong with a task, and the keys that lead to it; a number is a place in a list."""

    place: tuple[str | int, ...]
    text: str


@dataclass(frozen=True)
class Shape:
    """The keys that an expectation may have, and those that it must have."""

    keys: Mapping[str, Callable[[Any], bool]]
    required: tuple[str, ...] = ()


def is_number(value: Any) -> bool:
    """Tell whether a JSON value is a number (true and false are not)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Tell whether a JSON value is a text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def _is_share(value: Any) -> bool:
    return is_number(value) and value >= 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_place(value: Any) -> bool:
    return _is_count(value) and value > 0


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(is_text(item) for item in value)


def _is_text_or_texts(value: Any) -> bool:
    return is_text(value) or _is_texts(value)


def _is_aggregate(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"field", "value", "rel_tol"}
        and is_text(value.get("field"))
        and is_number(value.get("value"))
        and _is_share(value.get("rel_tol", 0))
    )


def _is_measure(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"value", "rel_tol"}
        and is_number(value.get("value"))
        and _is_share(value.get("rel_tol", 0))
    )


def _or_null(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


SHAPES = {
    "number": Shape({"value": is_number, "rel_tol": _is_share}, ("value",)),
    "text": Shape({"any_of": _is_texts}, ("any_of",)),
    "reject": Shape({"reason_any_of": _is_texts}, ("reason_any_of",)),
    "layer": Shape(
        {
            "geometry": _or_null(_is_text_or_texts),
            "feature_count": _or_null(_is_count),
            "count_tol": _is_share,
            "crs": _or_null(_is_text_or_texts),
            "fields_include": _is_texts,
            "sum": _is_aggregate,
            "mean": _is_aggregate,
            "min": _is_aggregate,
            "max": _is_aggregate,
            "total_area_m2": _is_measure,
        }
    ),
    "raster": Shape(
        {
            "band_count": _is_count,
            "min": is_number,
            "max": is_number,
            "mean": is_number,
            "rel_tol": _is_share,
            "crs": _or_null(_is_text_or_texts),
        }
    ),
    "undone": Shape({"turn": _is_place}, ("turn",)),
    "style": Shape(
        {"renderer": is_text, "field": is_text, "classes": _is_count, "mode": is_text},
        ("renderer",),
    ),
    "file": Shape(
        {
            "name": is_text,
            "driver": is_text,
            "feature_count": _or_null(_is_count),
            "geometry": _or_null(_is_text_or_texts),
            "crs": _or_null(_is_text_or_texts),
            "fields_include": _is_texts,
        },
        ("driver",),
    ),
}
AGGREGATES = (
    "sum",
    "mean",
    "min",
    "max",
    "count",
    "count_distinct",
    "union_area",
    "join_in_order",
)
JSON_AGGREGATES = ("sum", "sorted_join", "all_equal")
_TURN = {"question", "expect", "chain"}
_SINGLE = ("question", "expect", "chains", "gold")
_FEWEST = 2
"""Turns that a dialogue has at least."""
_CHAIN_FAULT = "each chain has steps, each with a tool, the last answer or reject"
CHECK = {"what", "value", "tolerance", "agg", "expression", "where", "json"}


def _check_faults(check: Any, place: tuple[str, ...]) -> list[Fault]:
    if not isinstance(check, dict):
        return [Fault(place, "a check is an object")]
    faults = [Fault((*place, key), f"unknown key '{key}'") for key in check if key not in CHECK]
    if not is_number(check.get("value")) and not isinstance(check.get("value"), str):
        faults.append(Fault((*place, "value"), "a check needs a value, a number or a text"))
    if not _is_share(check.get("tolerance", 0)):
        faults.append(Fault((*place, "tolerance"), "the tolerance is a number of 0 or more"))
    known = (*JSON_AGGREGATES, None) if "json" in check else AGGREGATES
    if check.get("agg") not in known:
        faults.append(Fault((*place, "agg"), f"unknown aggregate '{check.get('agg')}'"))
    elif "json" not in check and check["agg"] != "count" and not is_text(check.get("expression")):
        faults.append(Fault(place, f"the aggregate '{check['agg']}' needs an expression"))
    return faults


def _expect_faults(raw: dict[str, Any]) -> list[Fault]:
    expect = raw.get("expect")
    if not isinstance(expect, dict) or not expect:
        return [Fault(("expect",), "a task needs an object 'expect' that is not empty")]
    faults: list[Fault] = []
    for kind, values in expect.items():
        place = ("expect", kind)
        if kind == "checks" and isinstance(values, list):
            faults += [item for check in values for item in _check_faults(check, place)]
        elif kind == "records" and isinstance(values, list):
            faults += [
                Fault(place, "a record is an object") for row in values if type(row) is not dict
            ]
        elif kind not in SHAPES:
            faults.append(Fault(place, f"unknown expectation '{kind}'"))
        elif not isinstance(values, dict):
            faults.append(Fault(place, f"'{kind}' is an object"))
        else:
            faults += _shape_faults(values, SHAPES[kind], place)
    if "reject" in expect and len(expect) > 1:
        faults.append(Fault(("expect", "reject"), "a refusal stands alone"))
    if ("checks" in expect or "records" in expect) and "file" not in expect:
        faults.append(Fault(("expect",), "checks and records need an expected file"))
    return faults


def _shape_faults(values: dict[str, Any], shape: Shape, place: tuple[str, ...]) -> list[Fault]:
    faults = [Fault(place, f"'{key}' is missing") for key in shape.required if key not in values]
    for key, value in values.items():
        if key not in shape.keys:
            faults.append(Fault((*place, key), f"unknown key '{key}'"))
        elif not shape.keys[key](value):
            faults.append(Fault((*place, key), f"'{key}' cannot be {json.dumps(value)}"))
    return faults


def _layer_faults(layers: Any) -> list[Fault]:
    if not isinstance(layers, list) or not layers:
        return [Fault(("layers",), "a task needs a list of layers that is not empty")]
    faults, names = [], set()
    for layer in layers:
        if not isinstance(layer, dict) or not is_text(layer.get("name")):
            faults.append(Fault(("layers",), "a layer needs a name"))
            continue
        if not is_text(layer.get("source")):
            faults.append(Fault(("layers",), f"the layer '{layer['name']}' needs a source"))
        if layer.get("open", "layer") not in ("layer", "file"):
            faults.append(Fault(("layers", "open"), "'open' can only be 'layer' or 'file'"))
        if layer["name"] in names:
            faults.append(Fault(("layers",), f"two layers are called '{layer['name']}'"))
        names.add(layer["name"])
    return faults


def _is_chain(chain: Any) -> bool:
    found = chain.get("steps") if isinstance(chain, dict) else None
    return (
        isinstance(found, list)
        and bool(found)
        and all(
            isinstance(step, dict)
            and is_text(step.get("tool"))
            and isinstance(step.get("arguments", {}), dict)
            for step in found
        )
        and found[-1]["tool"] in ("answer", "reject")
    )


def _is_chains(chains: Any) -> bool:
    return isinstance(chains, list) and all(map(_is_chain, chains))


def _turn_faults(turn: Any, number: int) -> list[Fault]:
    """Return what is wrong with one turn of a dialogue, counted from 1."""
    place: tuple[str | int, ...] = ("turns", number)
    if not isinstance(turn, dict):
        return [Fault(place, "a turn is an object")]
    faults = [Fault((*place, key), f"unknown key '{key}'") for key in turn if key not in _TURN]
    if not is_text(turn.get("question")):
        faults.append(Fault((*place, "question"), "the question is missing or blank"))
    if "chain" in turn and not _is_chain(turn["chain"]):
        faults.append(Fault((*place, "chain"), _CHAIN_FAULT))
    faults += [replace(one, place=(*place, *one.place)) for one in _expect_faults(turn)]
    undone = turn["expect"].get("undone") if isinstance(turn.get("expect"), dict) else None
    if isinstance(undone, dict) and _is_place(undone.get("turn")) and undone["turn"] >= number:
        faults.append(Fault((*place, "expect", "undone"), "only an earlier turn can be undone"))
    return faults


def _dialogue_faults(raw: dict[str, Any]) -> list[Fault]:
    """Return what is wrong with the turns of a task that is a dialogue."""
    faults = [
        Fault((key,), f"a dialogue has '{key}' in its turns alone") for key in _SINGLE if key in raw
    ]
    turns = raw["turns"]
    if not isinstance(turns, list) or len(turns) < _FEWEST:
        return [*faults, Fault(("turns",), f"a dialogue has a list of at least {_FEWEST} turns")]
    for number, turn in enumerate(turns, 1):
        faults += _turn_faults(turn, number)
    return faults


def _single_faults(raw: dict[str, Any]) -> list[Fault]:
    """Return what is wrong with the question, the chains and the expectations of a task."""
    faults = []
    if not is_text(raw.get("question")):
        faults.append(Fault(("question",), "the question is missing or blank"))
    gold = raw.get("gold", [])
    if not isinstance(gold, list) or any(
        not isinstance(step, dict) or ("algorithm" in step) == ("tool" in step) for step in gold
    ):
        faults.append(Fault(("gold",), "each step of gold names an algorithm or a tool"))
    if not _is_chains(raw.get("chains", [])):
        faults.append(Fault(("chains",), _CHAIN_FAULT))
    expect = raw.get("expect")
    if isinstance(expect, dict) and "undone" in expect:
        faults.append(Fault(("expect", "undone"), "only a turn of a dialogue can be undone"))
    return faults


def task_faults(raw: Any) -> list[Fault]:
    """Return everything that is wrong with a task as it stands in the file."""
    if not isinstance(raw, dict):
        return [Fault((), "a task is an object")]
    faults = []
    if not isinstance(raw.get("id"), str) or not IDENTIFIER.fullmatch(raw["id"]):
        faults.append(Fault(("id",), "the id needs letters, digits, '-' and '_' only"))
    if "turns" in raw:
        return faults + _dialogue_faults(raw) + _layer_faults(raw.get("layers"))
    faults += _single_faults(raw)
    return faults + _layer_faults(raw.get("layers")) + _expect_faults(raw)
