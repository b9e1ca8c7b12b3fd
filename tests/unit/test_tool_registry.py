# SPDX-License-Identifier: GPL-2.0-or-later
"""Tools by name and their arguments: what is mended, and what is refused with the fix."""

from __future__ import annotations

from typing import Any

import pytest

from geo_olm.tools.base import MendableError, ToolDefinition, ToolResult
from geo_olm.tools.registry import Registry, Unchecked
from geo_olm.tools.schema import coerce

LAYER = {"type": "string"}


class Stub(Unchecked):
    """A tool that only has arguments."""

    def __init__(self, name: str, properties: dict[str, Any], required: list[str]) -> None:
        schema = {"type": "object", "properties": properties, "required": required}
        self.definition = ToolDefinition(name, "Does it.", schema)

    def run(self, arguments: dict[str, Any], context: Any) -> ToolResult:
        return ToolResult(str(arguments))


@pytest.fixture
def registry() -> Registry:
    buffer = Stub(
        "buffer_layer",
        {
            "layer": LAYER,
            "distance": {"type": "number"},
            "dissolve": {"type": "boolean"},
            "band": {"type": "integer"},
            "end_cap": {"type": "string", "enum": ["round", "flat"]},
            "output_path": {"type": "string"},
            "fields": {"type": "array", "items": {"type": "string"}},
            "parameters": {"type": "object"},
            "expression": {"type": "string"},
        },
        ["layer", "distance"],
    )
    dates = Stub("dated", {"layer": LAYER, "start_date": LAYER, "end_date": LAYER}, ["layer"])
    return Registry([buffer, dates, Stub("list_layers", {}, [])])


def prepared(registry: Registry, **arguments: Any) -> dict[str, Any]:
    given = {"layer": "roads", "distance": 500, **arguments}
    return registry.prepare("buffer_layer", given)[1]


def test_lists_and_objects_in_a_text_are_decoded_once_a10(registry: Registry) -> None:
    found = prepared(
        registry,
        fields='["name","pop"]',
        parameters='{"INPUT":"roads","DISTANCE":500}',
        expression='["a","b"][0]',
    )
    assert found["fields"] == ["name", "pop"]
    assert found["parameters"] == {"INPUT": "roads", "DISTANCE": 500}
    assert found["expression"] == '["a","b"][0]'


def test_numbers_and_booleans_in_texts_are_taken_a11(registry: Registry) -> None:
    found = prepared(registry, distance="500", dissolve="False")
    assert found["distance"] == 500.0
    assert found["dissolve"] is False
    assert prepared(registry, dissolve="true")["dissolve"] is True


def test_a_fraction_for_a_whole_number_is_not_cut_a11(registry: Registry) -> None:
    with pytest.raises(MendableError, match="whole number"):
        prepared(registry, band="3.14")


@pytest.mark.parametrize("text", ["nan", "inf", "500 m", "1,5"])
def test_a_text_that_is_no_number_is_refused(registry: Registry, text: str) -> None:
    with pytest.raises(MendableError, match='"distance" must be a number'):
        prepared(registry, distance=text)


@pytest.mark.parametrize("nothing", [None, "", "None", "null"])
def test_an_optional_nothing_is_not_given_a13(registry: Registry, nothing: Any) -> None:
    found = prepared(registry, end_cap=nothing, output_path=nothing)
    assert found == {"layer": "roads", "distance": 500}


@pytest.mark.parametrize("nothing", [None, "", "null"])
def test_a_required_nothing_is_refused_a13(registry: Registry, nothing: Any) -> None:
    with pytest.raises(MendableError, match='"distance" is required'):
        prepared(registry, distance=nothing)


@pytest.mark.parametrize("nothing", [None, "", "null", {}])
def test_a_tool_without_arguments_runs_with_nothing_a14(registry: Registry, nothing: Any) -> None:
    assert registry.prepare("list_layers", nothing)[1] == {}


def test_names_that_differ_in_case_and_marks_are_mapped_a15(registry: Registry) -> None:
    given = {"layer": "x", "startdate": "2020", "endDate": "2021"}
    found = registry.prepare("dated", given)[1]
    assert found == {"layer": "x", "start_date": "2020", "end_date": "2021"}


@pytest.mark.parametrize("wrong", ["layer_name", "foo"])
def test_other_names_are_refused_with_the_allowed_ones_a15(registry: Registry, wrong: str) -> None:
    with pytest.raises(MendableError) as caught:
        registry.prepare("dated", {wrong: "x"})
    assert f'"{wrong}"' in caught.value.message
    assert "layer, start_date, end_date" in caught.value.message


@pytest.mark.parametrize("name", ["native_buffer", "qgis.buffer", "run_python"])
def test_an_unknown_tool_gives_the_closest_names_a19(registry: Registry, name: str) -> None:
    with pytest.raises(MendableError) as caught:
        registry.prepare(name, {})
    assert f'no tool "{name}"' in caught.value.message
    assert "buffer_layer, dated, list_layers" in caught.value.message
    if "buffer" in name:
        assert "Closest: buffer_layer" in caught.value.message


def test_a_tool_name_in_another_case_is_found(registry: Registry) -> None:
    assert registry.find("Buffer-Layer").definition.name == "buffer_layer"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools"):
        Registry([Stub("a", {}, []), Stub("a", {}, [])])


def test_an_enumeration_is_matched_without_case(registry: Registry) -> None:
    assert prepared(registry, end_cap="Round")["end_cap"] == "round"
    with pytest.raises(MendableError, match="Allowed: round, flat"):
        prepared(registry, end_cap="square")


def test_synonyms_of_an_enumeration_are_taken() -> None:
    schema = {"type": "string", "enum": ["="], "x-synonyms": {"==": "="}}
    assert coerce(schema, "==") == "="


def test_alternatives_keep_the_type_that_came() -> None:
    schema = {"anyOf": [{"type": "string"}, {"type": "number"}]}
    assert coerce(schema, 5) == 5
    assert coerce(schema, "5") == "5"


def test_a_missing_argument_is_named(registry: Registry) -> None:
    with pytest.raises(MendableError, match="lack distance"):
        registry.prepare("buffer_layer", {"layer": "roads"})


def test_a_range_is_held() -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 5}
    assert coerce(schema, "5") == 5
    for wrong in (0, 6):
        with pytest.raises(MendableError, match="must be at"):
            coerce(schema, wrong, "n")


def test_a_boolean_is_no_number(registry: Registry) -> None:
    with pytest.raises(MendableError, match="must be a number"):
        prepared(registry, distance=True)


def test_one_value_for_a_list_becomes_a_list(registry: Registry) -> None:
    assert prepared(registry, fields="name")["fields"] == ["name"]
