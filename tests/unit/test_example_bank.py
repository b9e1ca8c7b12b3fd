# SPDX-License-Identifier: GPL-2.0-or-later
"""Worked examples: those most like a question, in a stable order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_case import RESOURCES

from geo_olm.plugin.agent.example import ExampleBank, load


def bank(tmp_path: Path, *questions: tuple[str, str]) -> ExampleBank:
    steps = [{"stage": "Analyse", "tool": "count", "arguments": {"layer": "x"}}]
    path = tmp_path / "examples.json"
    data = [
        {
            "question": text,
            "layers": ["x (3 points)"],
            "intent": intent,
            "needs": "",
            "steps": steps,
        }
        for text, intent in questions
    ]
    path.write_text(json.dumps({"examples": data}), encoding="utf-8")
    return load(path)


def nearest(found: ExampleBank, question: str, count: int, intent: str = "") -> list[str]:
    return [item.question for item in found.nearest(question, intent, count)]


def test_the_most_alike_comes_last(tmp_path: Path) -> None:
    found = bank(
        tmp_path,
        ("How long are the rivers?", "Measure"),
        ("How many lakes have no depth?", "Count"),
        ("Colour the parishes by rent.", "Map"),
    )
    assert nearest(found, "How many ponds have no depth value?", 1) == [
        "How many lakes have no depth?"
    ]
    assert nearest(found, "colour towns by rent", 3)[-1] == "Colour the parishes by rent."


def test_ties_keep_the_order_of_the_file_with_the_first_nearest(tmp_path: Path) -> None:
    found = bank(tmp_path, ("alpha one", "Count"), ("alpha two", "Count"), ("alpha three", "Count"))
    assert nearest(found, "alpha", 2) == nearest(found, "alpha", 2)
    assert nearest(found, "nothing alike", 2) == ["alpha two", "alpha one"]


def test_the_same_intent_decides_between_equals(tmp_path: Path) -> None:
    found = bank(tmp_path, ("rivers here", "Measure"), ("rivers there", "Count"))
    assert nearest(found, "rivers", 1, "Count") == ["rivers there"]
    assert nearest(found, "rivers", 1, "Measure") == ["rivers here"]


def test_a_question_that_names_a_value_finds_examples_that_pick_one() -> None:
    own = load(RESOURCES / "workflows" / "examples.json")
    picking = own.nearest("How many provinces has Turkey?", "Count", 3, ("polygon",), 1)
    assert [bool(one.picked) for one in picking] == [True, True, True]
    other = own.nearest("How many provinces lack a code?", "Count", 3, ("polygon",), 0)
    assert not any(one.picked for one in other)


def test_a_question_that_says_a_distance_finds_an_example_that_takes_one() -> None:
    own = load(RESOURCES / "workflows" / "examples.json")
    question = "How many parishes lie 45 km around Wake?"
    nearest = own.nearest(question, "Location", 1, ("polygon",), 1, True)
    assert nearest[0].is_far
    assert not own.nearest(question, "Location", 1, ("polygon",), 1)[0].is_far


def test_a_question_that_says_a_number_finds_an_example_that_compares_with_one() -> None:
    own = load(RESOURCES / "workflows" / "examples.json")
    question = "How many counties had more than 10000 births in 1974?"
    (found,) = own.nearest(question, "Count", 1, ("polygon",), 0, False, True)
    assert found.compares
    assert not own.nearest("How many counties?", "Count", 1, ("polygon",), 0)[0].compares


def test_what_an_example_picks_is_told_with_its_field_and_layer() -> None:
    own = {one.question: one for one in load(RESOURCES / "workflows" / "examples.json").examples}
    border = own["How many parishes touch Elmswell?"]
    assert border.picked == {"Elmswell": ("name", "parishes")}
    assert own["How many lakes have no depth value?"].picked == {}


def test_asking_for_more_than_there_are_gives_all(tmp_path: Path) -> None:
    assert len(nearest(bank(tmp_path, ("a b", "Count")), "a", 5)) == 1


def test_a_question_without_words_is_no_error(tmp_path: Path) -> None:
    assert nearest(bank(tmp_path, ("a b", "Count")), "?!", 1) == ["a b"]


@pytest.mark.parametrize("text", ["{}", '{"examples": [{}]}'])
def test_a_file_that_lacks_a_part_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "examples.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KeyError):
        load(path)


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("How many countries have no GDP value?", "count"),
        ("Which country has the largest population?", "top_n"),
        ("How many stations are within 500 m of the river?", "select_by_location"),
        ("Buffer the roads by 20 m.", "buffer"),
        ("What is the total number of beds?", "statistics"),
        ("Colour the states by population.", "style_graduated"),
    ],
)
def test_the_plugins_examples_show_the_tool_that_a_plain_question_needs(
    question: str, tool: str
) -> None:
    found = load(RESOURCES / "workflows" / "examples.json")
    shown = found.nearest(question, "", 3)
    assert tool in {step.tool for item in shown for step in item.steps}


def test_a_question_in_another_language_finds_examples_by_the_kinds_of_its_layers() -> None:
    found = load(RESOURCES / "workflows" / "examples.json")
    question = "Dans quel quartier y a-t-il le plus d'arbres ?"
    shown = found.nearest(question, "Rank", 3, ("polygon", "point"))
    assert "count_in_polygons" in {step.tool for item in shown for step in item.steps}


def test_the_kinds_of_an_example_are_those_of_the_layers_that_it_uses() -> None:
    found = load(RESOURCES / "workflows" / "examples.json")
    kinds = {item.question: item.kinds for item in found.examples}
    assert kinds["Height at each of the springs?"] == ("point", "raster")
    assert kinds["Only those in the South region."] == ("point",)
    assert kinds["Turn the classes raster into polygons."] == ("raster",)
