# SPDX-License-Identifier: GPL-2.0-or-later
"""Objectives: what they must say, where they contradict the parameters or the question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.workflow import phrase
from geo_olm.plugin.workflow.change import applied
from geo_olm.plugin.workflow.graph import Answer, Graph, Vertex
from geo_olm.plugin.workflow.objective import (
    Project,
    check_objective,
    check_question,
    missing_parts,
    written,
)
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import ToolDefinition

ROOT = Path(__file__).resolve().parents[2]
PHRASES = phrase.load(ROOT / "resources" / "workflows" / "operations.json")
PROJECT = Project(
    {
        "roads": ["name", "class", "width"],
        "towns": ["name", "people", "country"],
        "zones": ["zone", "area_ha"],
        "dem": [],
    },
    ["motorway", "Turkey"],
)


def objective(text: str, *others: str) -> Vertex:
    return Vertex("v9", "vector", text, after=others)


def missing(text: str, *others: str) -> tuple[str, ...]:
    graph = Graph("", (*(Vertex(one) for one in others), objective(text, *others)))
    return missing_parts(graph, graph.vertex("v9"), PHRASES, PROJECT)


@pytest.mark.parametrize(
    "text",
    [
        "Buffer the roads by 500 m. Return the polygons.",
        "Buffer roads by half a kilometre and return the zone as a layer",
        "Make a buffer of 1,500 metres around towns.",
        "Buffer towns by 2 miles",
        "Puffer um towns von 500 Metern",
        "Filter roads whose class is 'motorway'",
        "Keep only the towns in Turkey",
        "Select the towns with people above 10000",
        "Count the towns",
        "How many roads are there? Tell the number of roads.",
        "Sum people of towns",
        "Find the mean area_ha of zones",
        "Clip roads to zones",
        "Intersect towns with zones",
        "Join towns to zones",
        "Reproject roads to EPSG:3035",
        "Dissolve zones",
        "Load images of zones between 2019-05-01 and 2019-06-01",
        "Compute NDVI of dem",
        "Zonal statistics of dem by zones",
        "Detect 'cars' in dem",
        "Show towns on the map",
        "Measure something of towns",
    ],
)
def test_an_objective_that_says_all_its_parts_is_whole(text: str) -> None:
    assert missing(text) == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("source",)),
        ("Buffer the roads", ("distance",)),
        ("Buffer the roads by 500", ("distance",)),
        ("Buffer by 500 m", ("source",)),
        ("Buffer", ("source", "distance")),
        ("Filter the towns", ("condition",)),
        ("Filter", ("source", "condition")),
        ("Count them", ("source",)),
        ("Sum of towns", ("field",)),
        ("Find the largest", ("source", "field")),
        ("Clip the roads", ("other",)),
        ("Join towns", ("other",)),
        ("Reproject roads", ("crs",)),
        ("Load images of zones", ("dates",)),
        ("Detect in dem", ("class",)),
        ("Do it", ("source",)),
        ("Zonal statistics of dem", ("other",)),
        ("Buffer the motorways by 1 km", ("source",)),
    ],
)
def test_each_part_that_is_missing_is_named(text: str, parts: tuple[str, ...]) -> None:
    assert missing(text) == parts


def test_what_arrives_from_a_step_is_a_source() -> None:
    assert missing("Buffer what v1 gives by 500 m", "v1") == ()
    assert missing("Buffer them by 500 m", "v1") == ()
    assert missing("Clip roads to v1", "v1") == ()
    assert missing("Clip v1 to v2", "v1", "v2") == ()


def test_buffer_the_roads_is_not_valid() -> None:
    graph = Graph("", (objective("Buffer the roads"),))
    found = list(check_objective(graph, graph.vertices[0], PHRASES, PROJECT))
    assert [(one.code, one.message) for one in found] == [
        ("objective", "The objective of v9 does not say the distance with its unit.")
    ]
    whole = Graph("", (objective("Buffer the roads by 500 m"),))
    assert [one.code for one in check_objective(whole, whole.vertices[0], PHRASES, PROJECT)] == [
        "return"
    ]


@pytest.mark.parametrize(
    ("text", "parameters", "words", "mended"),
    [
        ("Buffer roads by 500 m", {"layer": Layer("roads"), "distance": 50}, "says 500 m, but",
         {"layer": Layer("roads"), "distance": 500}),
        ("Buffer roads by 2 km", {"layer": Layer("roads"), "distance": 2}, "says 2 km, but",
         {"layer": Layer("roads"), "distance": 2000}),
        ("Count the towns", {"layer": Layer("roads")}, "names towns, but the step works on roads",
         {"layer": Layer("towns")}),
        ("Sum people of towns", {"layer": Layer("towns"), "field": "country"},
         "names the field people, but it takes country",
         {"layer": Layer("towns"), "field": "people"}),
    ],
)  # fmt: skip
def test_an_objective_and_parameters_that_differ_are_told_with_both_mends(
    text: str, parameters: dict[str, Any], words: str, mended: dict[str, Any]
) -> None:
    graph = Graph("", (Vertex("v9", "vector", text, "buffer", parameters),))
    found = list(check_objective(graph, graph.vertices[0], PHRASES, PROJECT))
    assert [one.code for one in found] == ["contradiction"]
    assert words in found[0].message
    taken, kept = (applied(graph, mend.change) for mend in found[0].mends)
    assert taken.vertices[0].parameters == mended
    assert kept.vertices[0].parameters == parameters
    for one in (taken, kept):
        assert list(check_objective(one, one.vertices[0], PHRASES, PROJECT)) == []


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("Buffer roads by 0.5 km", {"layer": Layer("roads"), "distance": 500}),
        ("Buffer roads by half a mile", {"layer": Layer("roads"), "distance": 804.672}),
        ("Buffer what arrives by 500 m", {"layer": Output("v1"), "distance": 500}),
        ("Sum people of towns", {"layer": Layer("towns"), "field": "people"}),
    ],
)
def test_the_same_said_otherwise_is_no_contradiction(text: str, parameters: dict[str, Any]) -> None:
    graph = Graph("", (Vertex("v9", "vector", text, "buffer", parameters),))
    assert list(check_objective(graph, graph.vertices[0], PHRASES, PROJECT)) == []


def test_what_the_question_says_and_no_step_uses_is_told() -> None:
    graph = Graph(
        "How many towns lie within 2 km of roads called 'Ring' in 2020?",
        (Vertex("v1", "vector", "", "buffer", {"layer": Layer("roads"), "distance": 200}),),
    )
    assert [one.message for one in check_question(graph, PHRASES, PROJECT)] == [
        "The question says 2 km, and no step uses that distance.",
        "The question says 2020, and no step uses that year.",
        "The question names towns, and no step uses that layer.",
        'The question says "Ring", and no step uses it.',
    ]
    used = Graph(
        graph.question,
        (
            Vertex("v1", "", "", "buffer", {"layer": Layer("roads"), "distance": 2000}),
            Vertex("v2", "", "", "filter", {"layer": Layer("towns"), "where": "\"name\" = 'Ring'"}),
            Vertex("v3", "", "For 2020.", "filter", {}),
        ),
    )
    assert list(check_question(used, PHRASES, PROJECT)) == []


def test_an_objective_is_written_from_what_the_step_does() -> None:
    buffer = ToolDefinition("buffer", "", {}, label="Buffer")
    vertex = Vertex("v2", "vector", "", "buffer", {"layer": Layer("roads"), "distance": 500})
    assert written(vertex, buffer) == "Buffer of roads: distance 500. Return the result."
    later = Vertex("v3", "vector", "", "buffer", {"layer": Output("v2"), "distance": 500})
    assert written(later, buffer) == (
        "Buffer with what arrives from v2: distance 500. Return the result."
    )


def test_numbers_are_read_with_their_marks_and_units() -> None:
    found = {one.text: one.metres for one in PHRASES.distances(
        "1,500 m, 2 km, 3 miles, 10 feet, 5 Metern, 30 m², 20-metre, 4 km²")}  # fmt: skip
    assert found == {
        "1,500 m": 1500, "2 km": 2000, "3 miles": 4828.032, "10 feet": 3.048, "5 Metern": 5,
        "20-metre": 20,
    }  # fmt: skip


NAMED = Project(
    {"world": ["continent", "pop"]},
    names={"Africa": [("world", "continent")], "Asia": [("world", "continent")]},
)


def unsaid(question: str, **parameters: Any) -> list[str]:
    vertex = Vertex("v1", "table", "", "statistics", {"layer": Layer("world"), **parameters})
    return [one.message for one in check_question(Graph(question, (vertex,)), PHRASES, NAMED)]


def test_a_value_that_the_question_names_must_be_picked_by_a_step() -> None:
    question = "What is the total population of Africa?"
    assert unsaid(question, group_by="continent") == [
        "The question says Africa, a value of the field continent; no step picks it by a condition."
    ]
    where = [{"field": "continent", "op": "=", "value": "Africa"}]
    assert unsaid(question, conditions=where) == []
    assert unsaid(question, where="\"continent\" = 'Africa'") == []
    assert unsaid("What is the total population of africa and Afric?") == []


PICKS = replace(NAMED, filters={"statistics": {"conditions": "layer"}})
AFRICA = {"field": "continent", "op": "=", "value": "Africa"}


def mends_of(*steps: Vertex, project: Project = PICKS) -> list[Any]:
    graph = Graph("What is the total population of Africa?", steps)
    return [mend for one in check_question(graph, PHRASES, project) for mend in one.mends]


@pytest.mark.parametrize("had", [{}, {"conditions": [{"field": "continent", "op": "is empty"}]}])
def test_a_name_that_no_step_picks_is_picked_by_the_only_step_that_can(had: Any) -> None:
    step = Vertex("v1", "table", "", "statistics", {"layer": Layer("world"), "field": "pop", **had})
    (mend,) = mends_of(step)
    assert mend.label == "Only where continent is Africa"
    (edited,) = mend.change.edited
    assert edited.parameters == {"layer": Layer("world"), "field": "pop", "conditions": [AFRICA]}


def test_a_name_is_not_mended_where_it_is_not_plain_which_step_should_pick_it() -> None:
    step = Vertex("v1", "table", "", "statistics", {"layer": Layer("world")})
    assert len(mends_of(step)) == 1
    assert mends_of(step, replace(step, id="v2")) == []
    assert mends_of(replace(step, parameters={"layer": Layer("rivers")})) == []
    assert mends_of(step, project=NAMED) == []
    for other in ({"field": "pop", "op": ">", "value": 5}, {**AFRICA, "value": "Asia"}):
        given = {"layer": Layer("world"), "conditions": [other]}
        assert mends_of(replace(step, parameters=given)) == []


@pytest.mark.parametrize(
    ("question", "unit", "wanted"),
    [
        ("How many square kilometres is it?", "ha", "km2"),
        ("What is the total area in hectares?", "km2", "ha"),
        ("Quelle est la surface en km² ?", "ha", "km2"),
        ("How large is it in m2?", "ha", "m2"),
        ("¿Cuántos kilómetros cuadrados mide?", "m2", "km2"),
    ],
)
def test_an_area_is_given_in_the_unit_that_the_question_says(
    question: str, unit: str, wanted: str
) -> None:
    step = Vertex("v1", "table", "", "measure", {"layer": Layer("world"), "unit": unit})
    (found,) = check_question(Graph(question, (step,)), PHRASES, PICKS)
    assert found.message == f"The question asks for {wanted}, but v1 gives {unit}."
    (mend,) = found.mends
    assert mend.change.edited[0].parameters == {"layer": Layer("world"), "unit": wanted}
    right = replace(step, parameters={"layer": Layer("world"), "unit": wanted})
    assert list(check_question(Graph(question, (right,)), PHRASES, PICKS)) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("classes 21 to 24, and 1,500 of 12.5", [21, 24, 1500, 12.5]),
        ("more than 50 million in 1999 within 20 km, 30 % and 50 ha of EPSG:27700", []),
        ("B12, NY18, 10:30, 2020-05 and 5", []),
    ],
)
def test_plain_numbers_are_told_from_distances_years_codes_and_names(
    text: str, numbers: list[float]
) -> None:
    assert [number for number, _ in PHRASES.plain_numbers(text)] == numbers


def test_a_number_that_the_question_says_must_be_used() -> None:
    question = "How many hectares have the classes 21 to 24 in lc?"
    given = {"layer": Layer("lc"), "classes": [21, 22, 23, 24]}
    step = Vertex("v1", "raster", "", "class_areas", given)
    assert list(check_question(Graph(question, (step,)), PHRASES, PICKS)) == []
    other = replace(step, parameters={**given, "classes": [21, 22]})
    (found,) = check_question(Graph(question, (other,)), PHRASES, PICKS)
    assert found.message == "The question says 24, and no step uses that number."
    where = replace(step, parameters={"layer": Layer("lc"), "where": '"c" in (21, 24.0)'})
    assert list(check_question(Graph(question, (where,)), PHRASES, PICKS)) == []


@pytest.mark.parametrize(
    ("question", "key", "wanted"),
    [
        ("What is the easting of the easternmost station?", "y_max", "x_max"),
        ("Which is the southernmost?", "y_max", "y_min"),
        ("¿Cuál está más al oeste?", "x_max", "x_min"),
    ],
)
def test_the_answer_is_the_end_of_the_side_that_the_question_asks_for(
    question: str, key: str, wanted: str
) -> None:
    step = Vertex("v1", "database", "", "points_from_table", {"layer": Layer("world")})
    graph = Graph(question, (step,), answer=Answer(value=Output("v1", key)))
    (found,) = check_question(graph, PHRASES, PICKS)
    assert found.message == f"The question asks for {wanted}, but the answer is {key}."
    mended = applied(graph, found.mends[0].change)
    assert mended.answer.value == Output("v1", wanted)
    assert list(check_question(mended, PHRASES, PICKS)) == []


def test_a_year_may_stand_in_a_name_by_its_last_two_digits() -> None:
    question = "Which county had the highest rate in the 1974 columns?"
    given = {"layer": Layer("nc"), "expression": '1000 * "SID74" / "BIR74"'}
    step = Vertex("v1", "table", "", "top_n", given)
    assert list(check_question(Graph(question, (step,)), PHRASES, PICKS)) == []
    other = replace(step, parameters={**given, "expression": '"SID79"'})
    (found,) = check_question(Graph(question, (other,)), PHRASES, PICKS)
    assert found.message == "The question says 1974, and no step uses that year."


def test_a_word_made_of_a_name_says_the_name_but_not_where_a_longer_name_stands() -> None:
    known = ["Africa", "Niger", "Nigeria", "Brazil", "Ely", "Asia"]
    said = "African and Brazilian cities of Nigeria, Elysian, Asiatically"
    assert sorted(phrase.proper(said, known)) == ["Africa", "Brazil", "Nigeria"]


def test_a_file_that_the_question_names_must_be_read_or_written() -> None:
    question = "Save the African countries as africa.gpkg; they come from rivers.csv."
    step = Vertex("v1", "database", "", "save_layer", {"layer": Layer("rivers"), "path": "a.gpkg"})
    (found,) = check_question(Graph(question, (step,)), PHRASES, Project({}))
    assert found.message == (
        "The question names the file africa.gpkg, and no step reads or writes it."
    )
    right = replace(step, parameters={"layer": Layer("rivers"), "path": "africa.gpkg"})
    assert list(check_question(Graph(question, (right,)), PHRASES, Project({}))) == []


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("How many hospitals are in Wake county?", "hospitals"),
        ("how many other counties lie within 45 km of Wake?", "counties"),
        ("How many provinces has Turkey?", "provinces"),
        ("How many census tracts?", "census tracts"),
        ("Merge them. How many are there?", "are"),
        ("What is the total area?", ""),
    ],
)
def test_what_a_question_asks_the_number_of_is_found(question: str, what: str) -> None:
    assert phrase.counted(question) == what


def test_a_distance_that_no_step_uses_goes_to_the_only_step_that_takes_one() -> None:
    question = "How many other counties lie within 45 km of Wake county?"
    far = replace(PICKS, far=("select_by_location", "buffer"))
    given = {"layer": Layer("nc"), "predicate": "touches", "other": Layer("nc")}
    step = Vertex("v1", "vector", "", "select_by_location", given)
    (found,) = check_question(Graph(question, (step,)), PHRASES, far)
    assert found.message == "The question says 45 km, and no step uses that distance."
    edited = found.mends[0].change.edited[0].parameters
    assert edited == {**given, "predicate": "within_distance", "distance": 45000}
    buffer = Vertex("v1", "vector", "", "buffer", {"layer": Layer("nc"), "distance": 45})
    (found,) = check_question(Graph(question, (buffer,)), PHRASES, far)
    assert found.mends[0].change.edited[0].parameters == {"layer": Layer("nc"), "distance": 45000}
    two = (step, replace(buffer, id="v2"))
    assert [one.mends for one in check_question(Graph(question, two), PHRASES, far)] == [()]
    assert [one.mends for one in check_question(Graph(question, (step,)), PHRASES, PICKS)] == [()]


def test_a_density_says_nothing_of_the_unit_of_an_area() -> None:
    step = Vertex("v1", "table", "", "measure", {"layer": Layer("world"), "unit": "ha"})
    question = "Colour them by people per km² or people/km2."
    assert list(check_question(Graph(question, (step,)), PHRASES, PICKS)) == []


def test_a_name_that_the_question_does_not_say_is_doubted_beside_one_that_it_says() -> None:
    asia = {**AFRICA, "value": "Asia"}

    def doubts(question: str, *where: Any) -> list[str]:
        given = {"layer": Layer("world"), "conditions": list(where)}
        graph = Graph(question, (Vertex("v1", "table", "", "statistics", given),))
        found = check_question(graph, PHRASES, PICKS)
        return [one.message for one in found if one.code == "unsaid value"]

    said = "v1 picks Asia, which the question does not say."
    assert doubts("How many people live in Africa?", AFRICA, asia) == [said]
    assert doubts("How many people live in Africa and Asia?", AFRICA, asia) == []
    assert doubts("Combien de gens vivent en Asie ?", asia) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("more than 50 million people", 50e6),
        ("más de 3 millones", 3e6),
        ("plus de 2 milliards", 2e9),
        ("über 1.5 Millionen", 1.5e6),
        ("at least 20 thousand", 20e3),
    ],
)
def test_numbers_in_words_of_scale_are_numbers(text: str, number: float) -> None:
    assert [one.number for one in PHRASES.large_numbers(text)] == [number]


def test_a_number_in_millions_must_be_used_as_it_is_meant() -> None:
    question = "How many countries have more than 50 million people?"
    wrong = [{"field": "pop", "op": ">", "value": 500000000}]
    assert unsaid(question, conditions=wrong) == [
        "The question says 50 million, which is 50000000; no step uses it."
    ]
    assert unsaid(question, conditions=[{"field": "pop", "op": ">", "value": 50000000}]) == []
