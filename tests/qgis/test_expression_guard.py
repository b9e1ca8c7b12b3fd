# SPDX-License-Identifier: GPL-2.0-or-later
"""Expressions that fail on some features, that tell of the user, or that only seem to be planar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError
from geo_olm.tools.expression import refuse_twice

pytestmark = pytest.mark.usefixtures("qgis_processing")

CODES = [(None, "12"), (None, "x"), (None, "7"), (None, None), (None, "n/a")]


def codes() -> Any:
    return layer("codes", "None", "code:string", CODES)


@pytest.mark.parametrize("tool", ["count", "filter"])
def test_features_on_which_an_expression_fails_are_told_b22(tmp_path: Path, tool: str) -> None:
    found = Bench(tmp_path, codes()).run(tool, layer="codes", where='to_int("code") > 5')
    assert found.numbers["count"] == 2
    told = next(note for note in found.notes if "left out" in note)
    assert told.startswith("2 features of codes were left out, since the expression fails there: ")
    assert "Cannot convert 'x' to int (feature 2)" in told
    assert told in found.text


def test_an_algorithm_tells_the_features_on_which_its_expression_fails(tmp_path: Path) -> None:
    found = Bench(tmp_path, codes()).run(
        "run_algorithm",
        algorithm="native:extractbyexpression",
        parameters={"INPUT": "codes", "EXPRESSION": 'to_int("code") > 5'},
    )
    assert found.numbers["count"] == 2
    assert any(note.startswith("2 features of codes were left out") for note in found.notes)


def test_an_expression_that_fails_everywhere_is_refused(tmp_path: Path) -> None:
    names = layer("names", "None", "name:string", [(None, "a"), (None, "b")])
    with pytest.raises(MendableError, match="fails on every feature of names: Cannot convert 'a'"):
        Bench(tmp_path, names).run("count", layer="names", where='to_int("name") > 5')


def test_an_expression_that_fails_nowhere_is_not_spoken_of(tmp_path: Path) -> None:
    found = Bench(tmp_path, codes()).run("count", layer="codes", where="\"code\" = 'x'")
    assert (found.numbers["count"], found.notes) == (1, ())


@pytest.mark.parametrize(
    "text",
    [
        "@user_account_name",
        "var('user_full_name')",
        "@qgis_os_name",
        "@project_path",
        "var('user_' || 'account_name')",
    ],
)
def test_an_expression_does_not_tell_of_the_user(tmp_path: Path, text: str) -> None:
    bench = Bench(tmp_path, codes())
    for tool, arguments in (
        ("calculate_field", {"layer": "codes", "name": "x", "expression": text}),
        ("count", {"layer": "codes", "where": f"{text} = 'me'"}),
        ("calculate", {"expression": text}),
        (
            "run_algorithm",
            {
                "algorithm": "native:fieldcalculator",
                "parameters": {"INPUT": "codes", "FIELD_NAME": "x", "FORMULA": text},
            },
        ),
    ):
        with pytest.raises(MendableError, match=r"tells of the user|name of a variable as it is"):
            bench.run(tool, **arguments)


def test_variables_of_the_layer_and_the_feature_are_read(tmp_path: Path) -> None:
    where = "@layer_name = 'codes' AND @id > 1"
    assert Bench(tmp_path, codes()).run("count", layer="codes", where=where).numbers["count"] == 4


def test_a_planar_area_of_a_transformed_geometry_is_taken_in_degrees(tmp_path: Path) -> None:
    """One degree by one at the equator, in the cylinder of equal area (EPSG:6933): 12,308 km2."""
    squares = layer("squares", "Polygon", "name:string", [(box(3, 0, 4, 1), "a")], "EPSG:4326")
    text = "area(transform($geometry, 'EPSG:4326', 'EPSG:6933')) / 1e6"
    bench = Bench(tmp_path, squares)
    found = bench.run("calculate_field", layer="squares", name="km2", expression=text)
    assert found.numbers["sum"] == pytest.approx(12_308.46, rel=1e-4)
    mixed = f"CASE WHEN 1 > 0 THEN {text} + area($geometry) END"
    with pytest.raises(MendableError, match="would be in degrees"):
        bench.run("calculate_field", layer="squares", name="km", expression=mixed)


def test_whole_numbers_beyond_two_to_the_53_stay_exact(tmp_path: Path) -> None:
    """9007199254740993 is 2**53 + 1, which a number with a point cannot hold."""
    large = 2**53 + 1
    rows = [(None, large), (None, 9_000_000_084), (None, 5)]
    bench = Bench(tmp_path, layer("ids", "None", "osm:int8", rows))
    assert f"osm: {large}" in bench.run("unique_values", layer="ids", field="osm").text
    assert f"osm: {large}" in bench.run("top_n", layer="ids", field="osm").text
    found = bench.run("statistics", layer="ids", field="osm", statistic="max")
    assert f"max = {large}, count = 3 for" in found.text
    assert found.numbers["max"] == large


@pytest.mark.parametrize("name", ["none", "Null", "undefined"])
def test_a_layer_may_be_called_none(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path, layer(name, "Point", "n:integer", [("POINT(0 0)", 1)]))
    assert bench.run("count", layer=name).numbers["count"] == 1
    assert bench.run("select_by_location", layer=name, predicate="intersects", other=name)
    found = bench.run(
        "run_algorithm",
        algorithm="native:extractbyexpression",
        parameters={"INPUT": name, "EXPRESSION": "1 = 1"},
    )
    assert found.numbers["count"] == 1
    with pytest.raises(MendableError, match="no value was given"):
        bench.run("count", layer=None)


@pytest.mark.parametrize(
    ("expression", "fine"),
    [
        ('1000.0 * "a" / "b" * 1000', False),
        ('"a" * 1000 / "b" * 1000', False),
        ('1000 * "a" / "b"', True),
        ('"a" * 10000 / "b" * 1000', True),
        ('"a" / 1000 / 1000', True),
    ],
)
def test_a_rate_per_thousand_is_multiplied_once(expression: str, fine: bool) -> None:
    question = "Which has the highest rate per 1,000?"
    if fine:
        refuse_twice(expression, question)
        return
    with pytest.raises(MendableError, match="multiplies by 1000 twice"):
        refuse_twice(expression, question)
    refuse_twice(expression, "Which is the highest?")


PEOPLE = [(box(0, 0, 1, 1), 5, "it costs $pop"), (box(0, 0, 2, 2), 7, "b")]


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("$pop > 6", 1),
        ("$POP > 4 and $area > 0", 2),
        ("\"note\" = 'it costs $pop'", 1),
    ],
)
def test_a_field_written_like_a_measure_of_the_geometry_is_the_field(
    tmp_path: Path, where: str, count: int
) -> None:
    lots = layer("lots", "Polygon", "pop:integer note:string", PEOPLE)
    assert Bench(tmp_path, lots).run("count", layer="lots", where=where).numbers["count"] == count


def test_a_measure_that_neither_qgis_nor_the_layer_knows_is_refused(tmp_path: Path) -> None:
    lots = layer("lots", "Polygon", "pop:integer note:string", PEOPLE)
    with pytest.raises(MendableError, match=r"\$people"):
        Bench(tmp_path, lots).run("count", layer="lots", where="$people > 6")
