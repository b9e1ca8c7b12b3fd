# SPDX-License-Identifier: GPL-2.0-or-later
"""Variables of a workflow added, renamed with all their uses, removed, and checked with values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geo_olm.plugin.workflow.change import Change, applied
from geo_olm.plugin.workflow.finding import Finding, Mend, Severity
from geo_olm.plugin.workflow.graph import Answer, Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.plugin.workflow.variable import VariableError, bound
from geo_olm.plugin.workflow.variable_check import CODE, checked
from geo_olm.plugin.workflow.variable_edit import (
    added,
    changed,
    free_name,
    of_kind,
    removed,
    used,
    uses,
)

FAR = Variable("far", Type.NUMBER, "How far", 500, unit="m")
PLACE = Variable("place", Type.LAYER, "Where", family="vector")
BUFFER = Vertex(
    "v1", "vector", tool="buffer", title="Around", parameters={
        "layer": Asked("place"), "distance": Asked("far"), "notes": [Template("{far} m of {v0}")]
    },
)  # fmt: skip
COUNT = Vertex("v2", "table", tool="count", parameters={"layer": Output("v1")})
GRAPH = Graph(
    "How far?", (BUFFER, COUNT), (FAR, PLACE), Answer("{v2.count} within {far} m", None)
)  # fmt: skip


def test_every_use_is_found_in_texts_and_the_answer_too() -> None:
    assert [(one.step, one.path) for one in uses(GRAPH, "far")] == [
        ("v1", ("distance",)),
        ("v1", ("notes", 0)),
        ("", ()),
    ]
    assert [one.parameter for one in uses(GRAPH, "place")] == ["layer"]
    assert uses(GRAPH, "v2") == ()


def test_a_renamed_variable_is_followed_by_all_its_uses() -> None:
    new = changed(GRAPH, "far", replace(FAR, name="distance"))
    assert new.vertex("v1").parameters == {
        "layer": Asked("place"), "distance": Asked("distance"),
        "notes": [Template("{distance} m of {v0}")],
    }  # fmt: skip
    assert new.answer.text == "{v2.count} within {distance} m"
    assert [one.name for one in new.variables] == ["distance", "place"]
    assert bound(new, {"place": "towns"}).answer.text == "{v2.count} within 500 m"


@pytest.mark.parametrize("name", ["", "two words", "1st", "place", "v1"])
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(VariableError, match=r"is no name|is taken"):
        changed(GRAPH, "far", replace(FAR, name=name))
    with pytest.raises(VariableError, match=r"is no name|is taken"):
        added(GRAPH, replace(FAR, name=name))


def test_a_variable_in_use_is_not_removed_and_the_places_are_said() -> None:
    with pytest.raises(VariableError) as refused:
        removed(GRAPH, "far")
    assert str(refused.value) == (
        "far is used by Around (distance), Around (notes), the answer. "
        "Put another value there first."
    )
    spare = added(GRAPH, Variable("spare", Type.TEXT))
    assert removed(spare, "spare") == GRAPH


def test_a_variable_is_put_into_a_parameter_at_any_depth() -> None:
    filtered = Vertex("v3", tool="filter", parameters={"conditions": [{"field": "a", "value": 1}]})
    graph = GRAPH.with_vertex(filtered)
    new = used(graph, "v3", ("conditions", 0, "value"), "far")
    assert new.vertex("v3").parameters == {"conditions": [{"field": "a", "value": Asked("far")}]}
    assert used(graph, "v2", ("limit",), "far").vertex("v2").parameters == {
        "layer": Output("v1"), "limit": Asked("far"),
    }  # fmt: skip
    with pytest.raises(VariableError, match="no parameter 4"):
        used(graph, "v3", ("conditions", 4), "far")
    with pytest.raises(VariableError, match="no variable nothing"):
        used(graph, "v3", ("where",), "nothing")


def test_a_free_name_is_made_of_words() -> None:
    assert free_name(GRAPH, "How far?") == "how_far"
    assert free_name(GRAPH, "far") == "far_2"
    assert free_name(GRAPH, "500 m") == "value_500_m"


@pytest.mark.parametrize(
    ("old", "kind", "value"),
    [
        (Variable("a", Type.TEXT, default="12"), Type.NUMBER, 12),
        (Variable("a", Type.TEXT, default="twelve"), Type.NUMBER, None),
        (Variable("a", Type.NUMBER, default=12, unit="m"), Type.TEXT, "12"),
        (Variable("a", Type.TEXT, default="2024-05-31"), Type.DATE, "2024-05-31"),
        (Variable("a", Type.TEXT, default="soon"), Type.DATE, None),
        (Variable("a", Type.LAYER, default="towns"), Type.TEXT, None),
        (Variable("a", Type.TEXT, default="mean"), Type.CHOICE, "mean"),
    ],
)
def test_a_value_that_fits_the_other_kind_stays(old: Variable, kind: Type, value: object) -> None:
    new = of_kind(old, kind)
    assert (new.type, new.default) == (kind, value)


def no_check(graph: Graph) -> tuple[Finding, ...]:
    """Find a fault in the first step, whose mend changes one parameter of it."""
    vertex = graph.vertices[0]
    assert vertex.parameters is not None
    new = replace(vertex, parameters={**vertex.parameters, "segments": 8})
    mend = Mend("Use 8", Change(edited=(new,)))
    return (Finding("arguments", Severity.ERROR, "wrong", vertex.id, "segments", (mend,)),)


def test_a_variable_without_a_value_is_an_error_at_its_first_use() -> None:
    found = checked(GRAPH, lambda graph: ())
    assert [(one.code, one.severity, one.vertex, one.parameter) for one in found] == [
        (CODE, Severity.ERROR, "v1", "layer")
    ]
    assert found[0].message == "The variable place (Where) has no value: give one."
    assert [one.code for one in checked(GRAPH, no_check)] == [CODE]


def test_the_rest_is_checked_with_the_values_and_mends_keep_the_variables() -> None:
    seen: list[Graph] = []
    graph = changed(GRAPH, "place", replace(PLACE, default="towns"))

    def check(one: Graph) -> tuple[Finding, ...]:
        seen.append(one)
        return no_check(one)

    found = checked(graph, check)
    assert seen[0].vertex("v1").parameters == {
        "layer": Layer("towns"), "distance": 500, "notes": [Template("500 m of {v0}")],
    }  # fmt: skip
    mended = applied(graph, found[0].mends[0].change)
    assert mended.vertex("v1").parameters == {**(BUFFER.parameters or {}), "segments": 8}
