# SPDX-License-Identifier: GPL-2.0-or-later
"""Correctness in both modes, on worked examples whose scores were counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import geo_olm
from geo_olm.plugin.evaluation.argument_match import as_defined, as_released, overlap
from geo_olm.plugin.evaluation.correctness import (
    Errors,
    ReleasedScorer,
    as_papers_define,
)
from geo_olm.plugin.evaluation.same_call import Call, Made, SameCalls, Wrapping, load

SAME = SameCalls(
    [
        Wrapping("filter", ("native:extractbyexpression",), {"layer": "INPUT"}),
        Wrapping("near", ("native:extractwithindistance",), {"layer": "INPUT", "m": "DISTANCE"}),
    ]
)


def call(name: str, **arguments: Any) -> Call:
    return Call(((name, arguments),))


A, B, C = call("filter", layer="roads"), call("count", layer="roads"), call("zoom", scale=8)


def defined(*found: Call, chains: Any = ((A, B, C),)) -> float:
    return round(as_papers_define(found, chains, SAME).value, 4)


def released(*found: Call, chains: Any = ((A, B, C),)) -> float:
    return round(ReleasedScorer(SAME).score(found, chains).value, 4)


@pytest.mark.parametrize(
    ("found", "paper", "release"),
    [
        ((A, B, C), 1.0, 1.0),
        ((A, B), 2 / 3, 2 / 3),  # one missed of three
        ((A, B, C, C), 2 / 3, 2 / 3),  # one too many
        ((B, A, C), 1 / 3, 1.0),  # out of order: one missed and one too many, or nothing
        ((call("filter", layer="rivers"), B, C), 2 / 3, 1.0),  # a wrong argument
        ((call("fly", layer="roads"), A, B, C), 2 / 3, 2 / 3),  # infeasible, or one too many
        ((), 0.0, 0.0),
        ((C, C, C, C, C, C, C), 0.0, 0.0),  # never below 0
    ],
)
def test_a_worked_example_scores_as_counted_by_hand(
    found: tuple[Call, ...], paper: float, release: float
) -> None:
    assert defined(*found) == round(paper, 4)
    assert released(*found) == round(release, 4)


def test_errors_are_told_by_kind_and_arguments_are_counted_though_not_subtracted() -> None:
    found = (call("filter", layer=""), call("fly"), B, B)
    score = ReleasedScorer(SAME).score(found, [(A, B, C)])
    assert score.errors == Errors(missed=1, redundant=1, infeasible=1, arguments=1)
    assert score.value == 0.0
    assert ReleasedScorer(SAME).score([call("filter", layer=""), B, C], [(A, B, C)]).value == 1.0


def test_what_is_feasible_grows_with_the_tasks_seen_so_that_their_order_matters() -> None:
    scorer = ReleasedScorer(SAME)
    before = scorer.score([call("fly"), A], [(A, B)]).errors
    scorer.score([call("fly")], [(call("fly"),)])
    after = scorer.score([call("fly"), A], [(A, B)]).errors
    assert (before.infeasible, before.redundant) == (1, 0)
    assert (after.infeasible, after.redundant) == (0, 1)


def test_a_released_score_of_a_reference_without_calls_is_nothing() -> None:
    assert released(A, chains=((),)) == 0.0
    assert defined(chains=((),)) == 1.0
    assert defined(A, chains=((),)) == 0.0


def test_handoffs_are_skipped_by_the_released_scorer() -> None:
    assert released(A, call("transfer_to_map_agent"), B, C) == 1.0


def test_looks_count_only_where_the_reference_has_them() -> None:
    look = call("layer_info", layer="roads")
    assert defined(look, A, B, C) == 1.0
    assert defined(A, chains=((look, A),)) == 0.5


def test_the_chain_that_fits_best_counts() -> None:
    assert defined(A, C, chains=((A, B, C), (A, C))) == 1.0
    assert released(A, C, chains=((A, B, C), (A, C))) == 1.0


def test_a_typed_tool_and_the_algorithm_that_it_wraps_are_the_same_call() -> None:
    algorithm = call("native:extractbyexpression", INPUT="roads", EXPRESSION='"a" = 1')
    assert defined(algorithm, chains=((A,),)) == 1.0
    assert defined(A, chains=((call("native:extractbyexpression", INPUT="roads"),),)) == 1.0
    assert defined(A, chains=((call("native:extractbyexpression", INPUT="rivers"),),)) == 0.0


def test_a_typed_call_is_compared_by_what_it_ran_too() -> None:
    ran = Call(
        (
            ("filter", {"layer": "roads", "conditions": []}),
            ("native:extractbyexpression", {"INPUT": "roads", "EXPRESSION": '"a" = 1'}),
        )
    )
    right = call("native:extractbyexpression", INPUT="roads", EXPRESSION="a=1")
    wrong = call("native:extractbyexpression", INPUT="roads", EXPRESSION='"a" = 2')
    assert defined(ran, chains=((right,),)) == 1.0
    assert defined(ran, chains=((wrong,),)) == 0.0


def test_a_result_is_known_by_the_call_that_made_it() -> None:
    expected = call("count", layer=Made(frozenset({"native:extractbyexpression"})))
    assert defined(call("count", layer=Made(frozenset({"filter"}))), chains=((expected,),)) == 1.0
    assert defined(call("count", layer=Made(frozenset({"near"}))), chains=((expected,),)) == 0.0
    assert defined(call("count", layer="roads"), chains=((expected,),)) == 0.0


@pytest.mark.parametrize(
    ("expected", "found", "right"),
    [
        ("Nurdağı", "nurdagi", True),
        ("\"NAME\" = 'Wake'", "NAME='wake'", True),
        ("roads", "rivers", False),
        (100, 109.9, True),
        (100, 111, False),
        (0, 0, True),
        (0, 0.01, False),
        (300, "300 m", True),
        (True, 1, False),
        ([1, 2], [1, 2.1], True),
        ([1, 2], [1], False),
        ({"field": "a"}, {"field": "A", "op": "="}, True),
        ("0,10,0,10 [EPSG:4326]", [0, 10, 0, 8], True),
        ("0,10,0,10", "20,30,0,10", False),
        ("100 * $v.loss / $v.cover", "100 * r2.loss / r2.cover", True),
        ("$v.mean - $w.mean", "0.52 - 0.38", True),
        ("$v.mean - $w.mean", "r3.mean + r4.mean", False),
        ("world/products/modis", "/srv/data/world/products/modis", True),
        ("world/products/modis", "/srv/data/products/modis", False),
    ],
)
def test_the_papers_mode_compares_names_numbers_and_areas(
    expected: Any, found: Any, right: bool
) -> None:
    assert as_defined(expected, found, SAME) is right


def test_the_released_mode_takes_any_text_and_numbers_within_two() -> None:
    assert as_released("roads", "rivers", SAME)
    assert not as_released("roads", " ", SAME)
    assert as_released(10, 11.9, SAME)
    assert not as_released(10, 12.1, SAME)
    assert not as_released(10, "10", SAME)


def test_areas_of_interest_are_compared_by_their_shared_part() -> None:
    assert overlap((0, 2, 0, 2), (1, 3, 0, 2)) == pytest.approx(2 / 6)
    assert overlap((0, 1, 0, 1), (2, 3, 2, 3)) == 0
    assert overlap((1, 1, 1, 1), (1, 1, 1, 1)) == 1


def test_the_shipped_table_names_no_algorithm_of_the_provider_qgis() -> None:
    path = Path(geo_olm.__file__).parent / "resources" / "evaluation" / "same_calls.json"
    table = load(path)
    assert table.same(["filter"], ["native:extractbyexpression"])
    assert '"qgis:' not in path.read_text(encoding="utf-8")
