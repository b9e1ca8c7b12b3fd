# SPDX-License-Identifier: GPL-2.0-or-later
"""Two versions of a workflow part by part, and parts taken back with what goes with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geo_olm.plugin.workflow.difference import PartKind, needed, parts, taken_back
from geo_olm.plugin.workflow.graph import Answer, Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.topology import faults
from geo_olm.plugin.workflow.value import Asked, Layer, Output

CLIP = Vertex("v1", "vector", tool="overlay", title="Clip", parameters={"layer": Layer("roads")})
BUFFER = Vertex("v2", "vector", tool="buffer", title="Near",
                parameters={"layer": Output("v1"), "distance": Asked("far")})  # fmt: skip
COUNT = Vertex("v3", "table", tool="count", title="Count", parameters={"layer": Output("v2")})
FAR = Variable("far", Type.NUMBER, default=500, unit="m")
OLD = Graph("How many?", (CLIP, BUFFER, COUNT), (FAR,), Answer(value=Output("v3", "count")))
MERGE = Vertex("v4", "vector", tool="dissolve", title="Merge", parameters={"layer": Output("v2")})


def changed(vertex: Vertex, **parameters: object) -> Vertex:
    return replace(vertex, parameters={**(vertex.parameters or {}), **parameters})


INSERTED = replace(OLD, vertices=(CLIP, BUFFER, changed(COUNT, layer=Output("v4")), MERGE))
"""A dissolve between the buffer and the count."""

SHORTER = replace(
    OLD, vertices=(CLIP, changed(COUNT, layer=Output("v1"))), variables=()
)  # fmt: skip
"""Without the buffer and its variable."""


def kinds(found: object) -> list[tuple[PartKind, str]]:
    return [(one.kind, one.key) for one in found]  # type: ignore[attr-defined]


def test_equal_versions_have_no_parts_wherever_their_steps_stand() -> None:
    moved = replace(OLD, vertices=(replace(CLIP, position=(3.0, 4.0)), BUFFER, COUNT))
    assert parts(OLD, moved) == ()


def test_every_part_is_told_in_words() -> None:
    found = parts(OLD, INSERTED)
    assert kinds(found) == [(PartKind.ADDED, "v4"), (PartKind.CHANGED, "v3")]
    assert found[0].lines == ("New step: Merge after Near",)
    assert found[1].lines == ("Count: layer Near → Merge",)
    wider = replace(OLD, variables=(replace(FAR, default=250),), answer=Answer("Many"))
    told = [line for one in parts(OLD, wider) for line in one.lines]
    assert told == ["Variable changed: far (500 m → 250 m)", "The answer is told otherwise"]


def test_a_new_step_goes_with_the_step_that_takes_it() -> None:
    added, altered = parts(OLD, INSERTED)
    assert needed(OLD, INSERTED, (added,)) == (added, altered)
    assert taken_back(OLD, INSERTED, (added,)) == OLD
    alone = taken_back(OLD, INSERTED, (altered,))
    assert alone.vertex("v3") == COUNT
    assert alone.has("v4")


def test_a_removed_step_comes_back_with_its_variable_and_in_its_place() -> None:
    removed = next(one for one in parts(OLD, SHORTER) if one.kind is PartKind.REMOVED)
    assert kinds(needed(OLD, SHORTER, (removed,))) == [
        (PartKind.REMOVED, "v2"), (PartKind.VARIABLE, "far"),
    ]  # fmt: skip
    back = taken_back(OLD, SHORTER, (removed,))
    assert back.ids() == ("v1", "v2", "v3")
    assert back.vertex("v3").parameters == {"layer": Output("v1")}
    altered = next(one for one in parts(OLD, SHORTER) if one.kind is PartKind.CHANGED)
    assert taken_back(OLD, SHORTER, (altered,)) == OLD


def test_a_new_variable_goes_with_the_steps_that_use_it() -> None:
    width = Variable("width", Type.NUMBER, default=3)
    wide = changed(BUFFER, segments=Asked("width"))
    new = replace(OLD, variables=(FAR, width), vertices=(CLIP, wide, COUNT))
    variable = next(one for one in parts(OLD, new) if one.kind is PartKind.VARIABLE)
    assert kinds(needed(OLD, new, (variable,))) == [
        (PartKind.CHANGED, "v2"), (PartKind.VARIABLE, "width"),
    ]  # fmt: skip
    assert taken_back(OLD, new, (variable,)) == OLD


def test_an_answer_that_names_a_new_step_goes_with_it() -> None:
    new = replace(OLD, vertices=(*OLD.vertices, MERGE), answer=Answer("{v4.count} areas"))
    added = parts(OLD, new)[0]
    assert kinds(needed(OLD, new, (added,))) == [(PartKind.ADDED, "v4"), (PartKind.ANSWER, "")]
    assert taken_back(OLD, new, (added,)) == OLD


@pytest.mark.parametrize("new", [INSERTED, SHORTER])
def test_any_part_taken_back_leaves_a_workflow_without_loose_ends(new: Graph) -> None:
    for one in parts(OLD, new):
        assert faults(taken_back(OLD, new, (one,))) == ()
    assert taken_back(OLD, new, parts(OLD, new)) == OLD
