# SPDX-License-Identifier: GPL-2.0-or-later
"""Near misses of what a run says: numbers, texts, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from geo_olm.plugin.evaluation.answer_grade import number_misses, reject_misses, text_misses

REASONS = {"reason_any_of": ["no income", "does not have", "no road"]}


def said(answer: str = "", value: Any = None, **more: Any) -> dict[str, Any]:
    return {"status": "ok", "answer": answer, "value": value, "reason": "", **more}


def test_the_right_value_in_a_clumsy_sentence_passes() -> None:
    assert number_misses(said("Countries it be.", 17), {"value": 17, "rel_tol": 0}) == []


def test_the_right_number_in_the_sentence_without_a_value_fails() -> None:
    assert number_misses(said("There are 17 countries.", None), {"value": 17, "rel_tol": 0})


@pytest.mark.parametrize("value", ["17", True, float("nan"), float("inf"), None])
def test_what_is_no_number_is_no_value(value: Any) -> None:
    assert number_misses(said(value=value), {"value": 17, "rel_tol": 0.5})


def test_true_does_not_count_as_one() -> None:
    assert number_misses(said(value=True), {"value": 1})


def test_one_too_few_fails_where_the_tolerance_is_zero() -> None:
    assert number_misses(said(value=16), {"value": 17, "rel_tol": 0})
    assert number_misses(said(value=17.001), {"value": 17})


def test_noise_of_floats_passes_where_the_tolerance_is_zero() -> None:
    assert number_misses(said(value=0.1 + 0.2), {"value": 0.3, "rel_tol": 0}) == []


def test_the_tolerance_is_relative_and_holds_for_negative_values() -> None:
    assert number_misses(said(value=-99.1), {"value": -100, "rel_tol": 0.01}) == []
    assert number_misses(said(value=-98.9), {"value": -100, "rel_tol": 0.01})
    assert number_misses(said(value=100), {"value": -100, "rel_tol": 0.01})


def test_a_right_figure_in_another_unit_fails() -> None:
    assert number_misses(said(value=2194618637.0), {"value": 2194.618637, "rel_tol": 0.005})


@pytest.mark.parametrize(
    "answer",
    [
        "Anson has it.",
        "It is ANSON, with 9.55",
        "**Anson**",
        "Anson's rate is highest",
        "the county “Anson”",
    ],
)
def test_a_text_is_found_as_a_word(answer: str) -> None:
    assert text_misses(said(answer), {"any_of": ["Anson"]}) == []


@pytest.mark.parametrize("answer", ["Hanson has it.", "Ansonville", "An son", "", "Mecklenburg"])
def test_a_text_inside_another_word_fails(answer: str) -> None:
    assert text_misses(said(answer), {"any_of": ["Anson"]})


@pytest.mark.parametrize("answer", ["14267", "EPSG:42670", "4267.5", "3.4267", "42,4267"])
def test_a_code_inside_a_longer_number_fails(answer: str) -> None:
    assert text_misses(said(answer), {"any_of": ["EPSG:4267", "4267"]})


@pytest.mark.parametrize("answer", ["EPSG:4267.", "epsg:4267", "It is 4267, NAD27", "(4267)"])
def test_a_code_is_found_beside_punctuation(answer: str) -> None:
    assert text_misses(said(answer), {"any_of": ["EPSG:4267", "4267"]}) == []


def test_accents_and_blanks_do_not_matter() -> None:
    assert text_misses(said("Sao  Paulo"), {"any_of": ["São Paulo"]}) == []
    assert text_misses(said("İstanbul"), {"any_of": ["Istanbul"]}) == []


def test_a_text_does_not_count_where_it_is_only_the_reason() -> None:
    assert text_misses(said("", reason="Anson"), {"any_of": ["Anson"]})


def refused(reason: str, status: str = "rejected", answer: str = "") -> dict[str, Any]:
    return said(answer, status=status, reason=reason)


@pytest.mark.parametrize(
    "reason",
    ["The layer nc has no income field.", "nc DOES NOT HAVE it", "There are no roads here"],
)
def test_a_refusal_with_a_fitting_reason_passes(reason: str) -> None:
    assert reject_misses(refused(reason), REASONS) == []


def test_a_refusal_without_a_reason_fails() -> None:
    assert "without a reason" in reject_misses(refused(" ", answer="no income"), REASONS)[0]


def test_a_fitting_phrase_with_status_ok_fails() -> None:
    assert "not rejected" in reject_misses(refused("no income", status="ok"), REASONS)[0]


def test_a_failed_run_is_no_refusal() -> None:
    assert reject_misses(refused("no income", status="failed"), REASONS)


def test_a_refusal_for_another_reason_fails() -> None:
    assert "another" in reject_misses(refused("The server is down."), REASONS)[0]


def test_a_phrase_that_starts_inside_a_word_is_no_reason() -> None:
    assert reject_misses(refused("The casino income is known."), REASONS)


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    expect = {"reason_any_of": ["doesn't have"]}
    assert reject_misses(refused("nc doesn\u2019t have it"), expect) == []
