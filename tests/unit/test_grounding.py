# SPDX-License-Identifier: GPL-2.0-or-later
"""A grounded schema lets a model name only what is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_olm.plugin.llm.grounding import MAX_BYTES, Grounded, Level, fits, ground
from geo_olm.tools.base import BandProfile, Family, FieldProfile, LayerProfile, ToolDefinition

WORLD = LayerProfile(
    "world",
    "w1",
    Family.POLYGON,
    "Polygon",
    fields=(FieldProfile("name", "text"), FieldProfile("pop", "real")),
)
HIRE = LayerProfile(
    "cycle hire",
    "c1",
    Family.POINT,
    "Point",
    fields=(FieldProfile("station", "text"), FieldProfile("bikes", "integer")),
)
NAMES = LayerProfile("names", "n1", Family.TABLE, "", fields=(FieldProfile("name", "text"),))
RELIEF = LayerProfile("relief", "d1", Family.RASTER, "")


def tool(name: str, required: tuple[str, ...] = (), **properties: Any) -> ToolDefinition:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return ToolDefinition(name, f"The tool {name}.", parameters)


LAYER = {"type": "string", "x-layer": ["vector", "table"], "description": "The layer."}
NUMBER_FIELD = {"type": "string", "x-field": "layer", "x-types": ["integer", "real"]}
CONDITIONS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "field": {"type": "string", "x-field": "layer"},
            "op": {"type": "string", "enum": ["=", ">"]},
            "value": {"type": ["string", "number", "null"]},
        },
        "required": ["field", "op"],
    },
}
STATISTICS = tool("statistics", ("layer", "field"), layer=LAYER, field=NUMBER_FIELD)
COUNT = tool("count", ("layer",), layer=LAYER, conditions=CONDITIONS)


def branches(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return schema.get("anyOf", [schema])


def arguments_of(found: Grounded, name: str) -> list[dict[str, Any]]:
    """Return the alternatives for the arguments of a tool."""
    for branch in branches(found.schema):
        if branch["properties"]["tool"]["enum"] == [name]:
            return branches(branch["properties"]["arguments"])
    raise KeyError(name)


def accepts(schema: dict[str, Any], value: Any) -> bool:
    """Decide by the plain keywords alone whether a value fits, unlike a server's own way."""
    if "anyOf" in schema:
        return any(accepts(option, value) for option in schema["anyOf"])
    if "enum" in schema and value not in schema["enum"]:
        return False
    kind = schema.get("type")
    if kind == "object":
        if not isinstance(value, dict):
            return False
        known = schema.get("properties")
        if known is None:
            return True
        return set(schema["required"]) <= set(value) <= set(known) and all(
            accepts(known[key], item) for key, item in value.items()
        )
    if kind == "array":
        return isinstance(value, list) and all(accepts(schema["items"], item) for item in value)
    kinds = {"string": str, "number": (int, float), "integer": int, "boolean": bool, None: object}
    return isinstance(value, kinds[kind])


def reply(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


def test_a_field_goes_with_its_own_layer_only() -> None:
    schema = ground([STATISTICS], [WORLD, HIRE]).schema
    assert accepts(schema, reply("statistics", layer="world", field="pop"))
    assert accepts(schema, reply("statistics", layer="cycle hire", field="bikes"))
    assert not accepts(schema, reply("statistics", layer="world", field="bikes"))
    assert not accepts(schema, reply("statistics", layer="world", field="name"))
    assert not accepts(schema, reply("statistics", layer="World", field="pop"))


def test_a_layer_without_a_fitting_field_has_no_branch() -> None:
    schema = ground([STATISTICS], [NAMES, WORLD]).schema
    assert not accepts(schema, reply("statistics", layer="names", field="name"))


def test_a_tool_that_nothing_fits_is_left_out() -> None:
    listing = tool("list_layers")
    found = ground([STATISTICS, listing], [NAMES, RELIEF])
    assert found.tools == ("list_layers",)
    assert accepts(found.schema, reply("list_layers"))


def test_nothing_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="no tool fits"):
        ground([STATISTICS], [RELIEF])


def test_fields_within_conditions_follow_the_layer() -> None:
    schema = ground([COUNT], [WORLD, HIRE]).schema
    right = [{"field": "pop", "op": ">", "value": 5}]
    assert accepts(schema, reply("count", layer="world", conditions=right))
    assert accepts(schema, reply("count", layer="world"))
    assert not accepts(schema, reply("count", layer="cycle hire", conditions=right))
    assert not accepts(
        schema, reply("count", layer="world", conditions=[{**right[0], "op": "like"}])
    )


def test_extra_properties_come_first_and_all_are_required() -> None:
    extra = {"CURRENT_STAGE": {"type": "string", "enum": ["Filter"]}, "WHY": {"type": "string"}}
    for branch in branches(ground([STATISTICS, COUNT], [WORLD], {}, extra).schema):
        assert list(branch["properties"]) == ["CURRENT_STAGE", "WHY", "tool", "arguments"]
        assert branch["required"] == ["CURRENT_STAGE", "WHY", "tool", "arguments"]
        assert branch["additionalProperties"] is False


def test_layers_with_the_same_fields_share_a_branch() -> None:
    twin = LayerProfile("world copy", "w2", Family.POLYGON, "Polygon", fields=WORLD.fields)
    found = ground([STATISTICS], [WORLD, HIRE, twin])
    alternatives = arguments_of(found, "statistics")
    assert [item["properties"]["layer"]["enum"] for item in alternatives] == [
        ["world", "world copy"],
        ["cycle hire"],
    ]


def test_results_are_offered_by_kind_or_the_tool_is_left_out() -> None:
    paint = tool("paint", ("by",), by={"type": "string", "x-result": "number"})
    answer = tool(
        "answer",
        ("text",),
        text={"type": "string"},
        value={"anyOf": [{"type": "string", "x-result": "number"}, {"type": "number"}]},
    )
    without = ground([paint, answer], [])
    assert without.tools == ("answer",)
    assert accepts(without.schema, reply("answer", text="", value=3))
    assert not accepts(without.schema, reply("answer", text="", value="r1.count"))
    found = ground([paint, answer], [], {"number": ("r1.count",)})
    assert accepts(found.schema, reply("paint", by="r1.count"))
    assert accepts(found.schema, reply("answer", text="", value="r1.count"))
    assert not accepts(found.schema, reply("paint", by="r2.count"))


def test_two_layers_with_fields_of_their_own_are_combined() -> None:
    join = tool(
        "join",
        ("layer", "other", "field", "other_field"),
        layer=LAYER,
        other=LAYER,
        field={"type": "string", "x-field": "layer"},
        other_field={"type": "string", "x-field": "other"},
    )
    schema = ground([join], [WORLD, HIRE]).schema
    right = {"layer": "world", "other": "cycle hire", "field": "name", "other_field": "station"}
    assert accepts(schema, reply("join", **right))
    assert not accepts(schema, reply("join", **{**right, "other_field": "name"}))


def test_an_optional_field_without_a_match_is_dropped() -> None:
    grouped = tool("group", ("layer",), layer=LAYER, field=NUMBER_FIELD)
    (only,) = arguments_of(ground([grouped], [NAMES]), "group")
    assert list(only["properties"]) == ["layer"]


def test_a_raster_has_its_bands_and_a_vector_layer_its_fields_and_never_both() -> None:
    asked = tool(
        "statistics",
        ("layer",),
        layer={"type": "string", "x-layer": ["vector", "raster"]},
        field=NUMBER_FIELD,
        band={"type": "integer", "x-band": "layer", "x-for": {"layer": ["raster"]}},
        where={"type": "string", "x-for": {"layer": ["vector"]}},
    )
    bands = (BandProfile(1, "red"), BandProfile(2, "nir"))
    scene = LayerProfile("scene", "s1", Family.RASTER, "", bands=bands)
    bare = LayerProfile("outline", "o1", Family.LINE, "Line")
    schema = ground((asked,), (WORLD, scene, bare)).schema["properties"]["arguments"]
    offered = {one["properties"]["layer"]["enum"][0]: one["properties"] for one in branches(schema)}
    assert list(offered["scene"]) == ["layer", "band"]
    assert offered["scene"]["band"]["enum"] == ["red", "nir"]
    assert list(offered["world"]) == ["layer", "field", "where"]
    assert list(offered["outline"]) == ["layer", "where"]


def test_only_the_keywords_that_every_server_takes_are_sent() -> None:
    odd = tool(
        "odd",
        ("a",),
        a={"type": "integer", "minimum": 1, "maximum": 9, "default": 2, "title": "A"},
        b={"oneOf": [{"const": "x"}, {"type": "string", "pattern": "^y", "maxLength": 5000}]},
        c={"type": "object", "additionalProperties": True},
    )
    schema = ground([odd, COUNT], [WORLD]).schema
    names = {"a", "b", "c", "tool", "arguments", "layer", "conditions", "field", "op", "value"}
    allowed = {"type", "properties", "required", "enum", "anyOf", "items", "maxItems", "minItems"}
    assert set(keys(schema)) - names <= allowed | {"additionalProperties"}
    assert accepts(schema, reply("odd", a=4, b="x", c={"any": 1}))


def many_layers(count: int, fields: int) -> list[LayerProfile]:
    return [
        LayerProfile(
            f"layer {at}",
            f"l{at}",
            Family.POLYGON,
            "Polygon",
            fields=tuple(FieldProfile(f"field {at} {number}", "real") for number in range(fields)),
        )
        for at in range(count)
    ]


@pytest.mark.parametrize(
    ("count", "fields", "level"),
    [(60, 2, Level.FIELDS), (61, 2, Level.MERGED), (10, 900, Level.FIELDS), (200, 1, Level.MERGED)],
)
def test_a_large_project_is_held_less_closely(count: int, fields: int, level: Level) -> None:
    layers = many_layers(count, fields)
    found = ground([STATISTICS], layers)
    assert found.level is level
    assert len(json.dumps(found.schema)) <= MAX_BYTES
    assert accepts(found.schema, reply("statistics", layer="layer 0", field="field 0 0"))


def test_the_last_field_of_a_wide_layer_can_be_named() -> None:
    found = ground([STATISTICS], many_layers(1, 300))
    assert accepts(found.schema, reply("statistics", layer="layer 0", field="field 0 299"))


def test_a_very_large_project_keeps_tools_and_types() -> None:
    layers = many_layers(300, 1)
    tools = [
        tool(f"tool{at}", ("layer", "field"), layer=LAYER, field=NUMBER_FIELD) for at in range(6)
    ]
    found = ground(tools, layers)
    assert found.level is not Level.FIELDS
    assert accepts(found.schema, reply("tool0", layer="layer 0", field="anything"))
    assert not accepts(found.schema, reply("tool9", layer="layer 0", field="anything"))


def test_an_enumeration_stops_at_two_hundred_in_the_order_given() -> None:
    layers = many_layers(250, 0)
    show = tool("show", ("layer",), layer={"type": "string", "x-layer": "any"})
    (only,) = arguments_of(ground([show], layers), "show")
    assert only["properties"]["layer"]["enum"] == [f"layer {at}" for at in range(200)]


@pytest.mark.parametrize(
    ("wanted", "family", "fitting"),
    [
        ("any", Family.RASTER, True),
        ("vector", Family.POINT, True),
        ("vector", Family.TABLE, False),
        ("vector", Family.RASTER, False),
        ("polygon", Family.LINE, False),
        ("polygon", Family.VECTOR, True),
        (["raster", "table"], Family.TABLE, True),
    ],
)
def test_families_fit_as_meant(wanted: Any, family: Family, fitting: bool) -> None:
    assert fits(wanted, family) is fitting


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=6),
            st.lists(st.tuples(st.text(min_size=1, max_size=6), st.sampled_from(["text", "real"]))),
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda item: item[0],
    )
)
def test_every_fitting_pair_and_no_other_is_accepted(
    described: list[tuple[str, list[tuple[str, str]]]],
) -> None:
    layers = [
        LayerProfile(
            key, key, Family.LINE, "Line", fields=tuple(FieldProfile(*item) for item in fields)
        )
        for key, fields in described
    ]
    listing = tool("list_layers")
    schema = ground([STATISTICS, listing], layers).schema
    every = {name for _, fields in described for name, _ in fields}
    for key, fields in described:
        real = {name for name, kind in fields if kind == "real"}
        for name in every:
            wanted = reply("statistics", layer=key, field=name)
            assert accepts(schema, wanted) == (name in real)
