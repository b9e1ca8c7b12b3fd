# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of Earth observation, and the flow score, on examples counted by hand."""

from __future__ import annotations

import pytest

from geo_olm.plugin.evaluation.earth_metric import (
    detection_f1,
    error_percent,
    errors_by_application,
    land_cover_accuracy,
    recall,
)
from geo_olm.plugin.evaluation.flow_score import flow_score, model_judge, rule_judge


def test_the_error_is_the_mean_square_of_relative_errors_and_a_missing_point_is_one() -> None:
    expected = {"a": 10.0, "b": 20.0, "c": 4.0}
    found = {"a": 11.0, "b": 20.0}
    assert error_percent([(found, expected)]) == pytest.approx(100 * (0.01 + 0 + 1) / 3)
    assert error_percent([(found, expected), (expected, expected)]) == pytest.approx(
        100 * (0.01 + 1) / 3 / 2
    )


def test_wrong_values_can_take_the_error_above_a_hundred() -> None:
    assert error_percent([({"a": 30.0}, {"a": 10.0})]) == pytest.approx(400)


def test_an_expected_zero_is_right_or_an_error_of_one() -> None:
    assert error_percent([({"a": 0.0, "b": 3.0}, {"a": 0.0, "b": 0.0})]) == pytest.approx(50)


def test_errors_are_told_for_each_application_and_none_without_prompts() -> None:
    found = errors_by_application([("Forest", {}, {"a": 1.0}), ("Urban", {"a": 1.0}, {"a": 1.0})])
    assert found == {"Agriculture": None, "Climate": None, "Urban": 0.0, "Forest": 100.0}


def test_recall_ignores_what_is_too_much_and_f1_does_not() -> None:
    assert recall({1, 2, 9}, {1, 2, 3, 4}) == 0.5
    assert detection_f1({1, 2, 9}, {1, 2, 3, 4}) == pytest.approx(2 * 2 / 7)
    assert recall({1}, set()) is None
    assert detection_f1(set(), set()) is None


def test_land_cover_counts_labels_of_images() -> None:
    expected = {"i1": ["forest", "water"], "i2": ["urban"]}
    assert land_cover_accuracy({"i1": ["forest"], "i2": ["water"]}, expected) == pytest.approx(
        1 / 3
    )


GOLD = {
    "task0": {
        "objective": "Load xView1 images over Athens in July 2017",
        "agent": "database_agent",
        "next": ["task1"],
        "prev": [],
    },
    "task1": {
        "objective": "Run the detector YOLO-v8 on xView1",
        "agent": "detector_agent",
        "next": [],
        "prev": [],
    },
}


def test_a_flow_equal_to_the_reference_scores_one() -> None:
    assert flow_score(GOLD, GOLD).value == 1.0


def test_a_missing_task_is_counted_and_so_is_the_number_of_tasks() -> None:
    found = flow_score({"task0": GOLD["task0"]}, GOLD)
    assert (found.missing, found.count_differs) == (1, True)
    assert found.value == pytest.approx(1 - 2 / (4 * 2 + 1))


def test_an_objective_without_the_names_is_wrong() -> None:
    other = {**GOLD, "task1": {**GOLD["task1"], "objective": "Do something"}}
    found = flow_score(other, GOLD)
    assert (found.missing, found.wrong_objective) == (0, 1)
    assert found.value == pytest.approx(1 - 1 / 9)


def test_a_task_of_another_agent_is_missing_from_its_group() -> None:
    other = {**GOLD, "task1": {**GOLD["task1"], "agent": "map_agent"}}
    assert flow_score(other, GOLD).missing == 1


def test_each_expected_task_takes_the_best_that_is_left() -> None:
    load = GOLD["task0"]["objective"]
    two = {
        "a": {"objective": load, "agent": "d"},
        "b": {"objective": "Load FAIR1M images over Paris in May 2016", "agent": "d"},
    }
    assert flow_score({"x": two["b"], "y": two["a"]}, two).value == 1.0


def test_the_rule_judge_rates_from_one_to_five_by_what_is_named() -> None:
    expected = GOLD["task0"]["objective"]
    assert rule_judge(expected, expected) == 5
    assert rule_judge(expected, "Nothing of the kind") == 1
    assert 1 < rule_judge(expected, "Load images over Athens") < 5


def test_a_model_as_judge_counts_as_one_when_it_gives_no_number() -> None:
    assert model_judge(lambda prompt: "I rate it 4.")("a", "b") == 4
    assert model_judge(lambda prompt: "good")("a", "b") == 1


def test_the_papers_threshold_is_stricter_than_the_released_one() -> None:
    three = flow_score(GOLD, GOLD, judge=lambda a, b: 3)
    assert three.value == 1.0
    assert flow_score(GOLD, GOLD, judge=lambda a, b: 3, threshold=4).wrong_objective == 2
