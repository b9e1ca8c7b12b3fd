# SPDX-License-Identifier: GPL-2.0-or-later
"""Example questions name what the layers really have, and ask only what can be answered."""

from __future__ import annotations

from geo_olm.tools.base import Family, FieldProfile, LayerProfile
from geo_olm.ui.example_question import example_questions

POINTS = LayerProfile("stops", "1", Family.POINT, "Point", "EPSG:3857", features=90)
AREAS = LayerProfile("wards", "2", Family.POLYGON, "Polygon", "EPSG:3857", features=12)


def with_fields(*fields: FieldProfile) -> LayerProfile:
    return LayerProfile("wards", "2", Family.POLYGON, "Polygon", features=12, fields=fields)


def texts(*layers: LayerProfile) -> list[str]:
    return [question.text for question in example_questions(layers)]


def test_no_layers_give_no_questions() -> None:
    assert texts() == []


def test_a_field_with_gaps_is_asked_for_its_gaps() -> None:
    layer = with_fields(FieldProfile("pop", "integer", empty=3, distinct=2))
    assert texts(layer) == ["How many features of wards have no value in pop?"]


def test_gaps_in_numbers_are_asked_before_gaps_in_names() -> None:
    layer = with_fields(
        FieldProfile("name", "text", empty=3), FieldProfile("pop", "integer", empty=1, distinct=2)
    )
    assert texts(layer) == ["How many features of wards have no value in pop?"]


def test_a_field_that_is_always_or_never_empty_is_not_asked_for_gaps() -> None:
    layer = with_fields(FieldProfile("a", "text", empty=12), FieldProfile("b", "text", empty=0))
    assert texts(layer) == ["How many features has wards?"]


def test_the_largest_are_asked_by_a_measure_and_not_by_an_id() -> None:
    measure = FieldProfile("area_km2", "real", minimum="1", maximum="9", distinct=12)
    identity = FieldProfile("ward_id", "integer", minimum="1", maximum="12", distinct=12)
    assert texts(with_fields(identity, measure)) == [
        "Which 5 features of wards have the largest area_km2?"
    ]


def test_groups_need_a_few_distinct_values() -> None:
    few = FieldProfile("kind", "text", distinct=4)
    each = FieldProfile("name", "text", distinct=12)
    assert texts(with_fields(each, few)) == ["How many features of wards are there for each kind?"]


def test_points_and_polygons_are_asked_together() -> None:
    assert texts(AREAS, POINTS) == ["How many features of stops lie within wards?"]


def test_two_layers_without_polygons_are_asked_for_a_distance() -> None:
    line = LayerProfile("roads", "3", Family.LINE, "LineString", "EPSG:3857", features=5)
    assert texts(POINTS, line) == ["How many features of stops lie within 500 m of roads?"]


def test_a_raster_is_asked_for_its_values() -> None:
    raster = LayerProfile("dem", "4", Family.RASTER, "raster", "EPSG:3857")
    assert texts(raster) == ["What are the lowest, mean and highest values of dem?"]


def test_results_and_empty_layers_are_left_out() -> None:
    result = LayerProfile("kept", "5", Family.POINT, "Point", features=3, short="r1")
    empty = LayerProfile("none", "6", Family.POINT, "Point", features=0)
    assert texts(result, empty) == []


def test_kinds_are_mixed_and_there_are_four_at_most() -> None:
    fields = (
        FieldProfile("pop", "integer", minimum="0", maximum="9", distinct=9, empty=2),
        FieldProfile("kind", "text", distinct=3, empty=0),
    )
    layers = [
        LayerProfile(f"layer{n}", str(n), Family.POLYGON, "Polygon", features=20, fields=fields)
        for n in range(5)
    ]
    found = texts(*layers)
    assert len(found) == 4
    assert [text.split()[0] for text in found[:3]] == ["How", "Which", "How"]
    assert len(set(found)) == 4
