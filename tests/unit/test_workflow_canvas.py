# SPDX-License-Identifier: GPL-2.0-or-later
"""What hands do on the canvas as functions: groups, notes, alignment, and steps put into links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geo_olm.plugin.workflow import alignment, fitting, grouping, parting, port
from geo_olm.plugin.workflow.alignment import Edge
from geo_olm.plugin.workflow.graph import Graph, Group, Kind, Note, Source, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import Family, ToolDefinition

GRAPH = Graph(vertices=tuple(Vertex(f"v{at}") for at in (1, 2, 3, 4)))
BOXES = {"a": (0.0, 0.0, 10.0, 4.0), "b": (30.0, 6.0, 10.0, 8.0), "c": (14.0, 1.0, 6.0, 2.0)}


def ports(**kinds: object) -> dict[str, fitting.Port]:
    properties = {key: {"type": "string", "x-layer": one} for key, one in kinds.items()}
    schema = {"type": "object", "properties": properties}
    return fitting.ports(Vertex("v9"), ToolDefinition("cut", "Cuts.", schema, "Cut"))


# -- groups and notes


def test_a_step_is_in_one_group_at_most() -> None:
    first = grouping.grouped(GRAPH, {"v2", "v1"}, "First")
    second = grouping.grouped(first, {"v2", "v3"}, "Second")
    assert second.groups == (Group("First", ("v1",)), Group("Second", ("v2", "v3")))
    moved = grouping.joined(second, {"v1"}, 1)
    assert moved.groups == (Group("Second", ("v1", "v2", "v3")),)
    assert grouping.ungrouped(moved, {"v1", "v2", "v3"}).groups == ()
    assert [grouping.group_of(second, key) for key in ("v1", "v3", "v4")] == [0, 1, -1]


def test_a_group_follows_its_steps_when_they_go() -> None:
    held = grouping.grouped(GRAPH, {"v1", "v2"}, "First")
    assert held.without({"v1"}).groups == (Group("First", ("v2",)),)
    assert held.without({"v1", "v2"}).groups == ()


def test_groups_and_notes_are_changed_by_their_place() -> None:
    held = grouping.noted(grouping.grouped(GRAPH, {"v1"}, "First"), Note("a", (0, 0, 5, 5)))
    held = grouping.with_group(held, 0, collapsed=True, color="done")
    held = grouping.with_note(grouping.noted(held, Note("b", (1, 1, 5, 5))), 1, text="c")
    assert held.groups == (Group("First", ("v1",), "done", True),)
    assert [one.text for one in held.notes] == ["a", "c"]
    assert [one.text for one in grouping.without_notes(held, {0}).notes] == ["c"]


def test_a_canvas_with_a_note_or_a_placed_layer_alone_is_not_blank() -> None:
    assert Graph("Which?").is_blank
    assert Graph(sources=(Source("towns"),)).is_blank
    assert not GRAPH.is_blank
    assert not Graph(notes=(Note("a", (0, 0, 5, 5)),)).is_blank
    assert not Graph(sources=(Source("towns", position=(0.0, 0.0)),)).is_blank


def test_only_whole_groups_are_pasted() -> None:
    groups = (Group("Whole", ("v1", "v2")), Group("Half", ("v2", "v3")))
    pasted = grouping.pasted_groups(groups, {"v1": "v5", "v2": "v6"})
    assert pasted == (Group("Whole", ("v5", "v6")),)


# -- alignment


@pytest.mark.parametrize(
    ("edge", "wanted"),
    [
        (Edge.LEFT, [(0, 0), (0, 6), (0, 1)]),
        (Edge.RIGHT, [(30, 0), (30, 6), (34, 1)]),
        (Edge.TOP, [(0, 0), (30, 0), (14, 0)]),
        (Edge.BOTTOM, [(0, 10), (30, 6), (14, 12)]),
        (Edge.CENTRE, [(15, 0), (15, 6), (17, 1)]),
        (Edge.MIDDLE, [(0, 5), (30, 3), (14, 6)]),
    ],
)
def test_boxes_are_brought_into_line(edge: Edge, wanted: list[tuple[float, float]]) -> None:
    assert list(alignment.aligned(BOXES, edge).values()) == wanted


def test_boxes_are_set_apart_evenly_between_the_outermost() -> None:
    # 40 em in all, 26 of them boxes: 7 em between two
    assert alignment.distributed(BOXES, True) == {"a": (0, 0), "c": (17, 1), "b": (30, 6)}
    # down: 14 em in all, 14 of them boxes: none between
    assert alignment.distributed(BOXES, False) == {"a": (0, 0), "c": (14, 4), "b": (30, 6)}
    two = {key: BOXES[key] for key in ("a", "b")}
    assert alignment.distributed(two, True) == {"a": (0, 0), "b": (30, 6)}


# -- steps in links


def gap(family: Family, *kinds: Family) -> fitting.Gap:
    return fitting.Gap(Layer("towns"), family, "v2", "layer", kinds or (Family.ANY,))


def test_what_flows_goes_in_by_the_first_free_port_that_fits() -> None:
    cut = ports(layer="polygon", other=["point", "line"], third="vector")
    assert fitting.entry(gap(Family.POINT), Vertex("v9"), cut, ("Cut", "towns")) == "other"
    taken = Vertex("v9", parameters={"other": Layer("roads")})
    assert fitting.entry(gap(Family.POINT), taken, cut, ("Cut", "towns")) == "third"
    review = Vertex("v9", kind=Kind.REVIEW)
    known = fitting.ports(review, None)
    assert fitting.entry(gap(Family.RASTER), review, known, ("Review", "dem")) == "layer"


def test_a_step_that_does_not_fit_says_why() -> None:
    with pytest.raises(fitting.Unfitting, match="Cut takes polygons, and towns is points"):
        fitting.entry(gap(Family.POINT), Vertex("v9"), ports(layer="polygon"), ("Cut", "towns"))
    with pytest.raises(fitting.Unfitting, match="Ask takes no layer"):
        fitting.entry(gap(Family.POINT), Vertex("v9"), ports(), ("Ask", "towns"))
    with pytest.raises(fitting.Unfitting, match="Count gives no layer, and Cut needs one"):
        fitting.leaves(gap(Family.POINT), None, ("Count", "Cut"))
    with pytest.raises(fitting.Unfitting, match="Draw gives a raster, and Cut takes polygons"):
        fitting.leaves(gap(Family.POINT, Family.POLYGON), Family.RASTER, ("Draw", "Cut"))
    fitting.leaves(gap(Family.POINT, Family.VECTOR), Family.POLYGON, ("Draw", "Cut"))


def test_both_sides_are_bound_when_a_step_is_put_into_a_link() -> None:
    graph = replace(
        GRAPH,
        vertices=(
            Vertex("v1", parameters={}),
            Vertex("v2", parameters={"layers": [Layer("towns"), Layer("roads")], "size": 3}),
        ),
    )
    opened = fitting.Gap(Layer("towns"), Family.POINT, "v2", "layers", (Family.ANY,))
    found = fitting.inserted(graph, opened, Vertex("v9", tool="cut"), "layer")
    assert found.vertex("v9").parameters == {"layer": Layer("towns")}
    assert found.vertex("v2").parameters == {"layers": [Output("v9"), Layer("roads")], "size": 3}


# -- the parameters of algorithms

RUN = ToolDefinition("run_algorithm", "Runs.", {"type": "object", "properties": {}}, "Run")
INNER = {
    "properties": {
        "INPUT": {"type": "string", "x-layer": "vector"},
        "LAYERS": {"type": "array", "items": {"type": "string", "x-layer": "raster"}},
        "DISTANCE": {"type": "number"},
    },
    "required": ["INPUT"],
}
BUFFER = Vertex(
    "v2",
    tool="run_algorithm",
    parameters={
        "algorithm": "native:buffer",
        "parameters": {"INPUT": Output("v1"), "LAYERS": [Layer("dem"), Output("v1")]},
    },
)


def test_the_layers_of_an_algorithm_are_ports_too() -> None:
    assert fitting.ports(BUFFER, RUN, INNER) == {
        "parameters.INPUT": fitting.Port((Family.VECTOR,), False, True),
        "parameters.LAYERS": fitting.Port((Family.RASTER,), True, False),
    }
    assert list(port.sources(BUFFER.parameters)) == [
        (Output("v1"), "parameters.INPUT"),
        (Layer("dem"), "parameters.LAYERS"),
        (Output("v1"), "parameters.LAYERS"),
    ]


def test_a_value_inside_an_object_is_set_and_taken_away() -> None:
    given = port.with_value(BUFFER.parameters, "parameters.DISTANCE", 5)
    assert port.value_at(given, "parameters.DISTANCE") == 5
    assert port.value_at(given, "parameters.INPUT") == Output("v1")
    less = port.with_value(given, "parameters.INPUT", None)
    assert "INPUT" not in less["parameters"]
    assert port.with_value(None, "parameters.INPUT", Layer("a")) == {
        "parameters": {"INPUT": Layer("a")}
    }
    left = port.without(BUFFER.parameters, lambda value: value == Output("v1"))
    assert left == {"algorithm": "native:buffer", "parameters": {"LAYERS": [Layer("dem")]}}


def test_a_step_is_put_before_an_algorithm() -> None:
    graph = Graph(vertices=(Vertex("v1"), BUFFER))
    kinds = (Family.VECTOR,)
    opened = fitting.Gap(Output("v1"), Family.POINT, "v2", "parameters.INPUT", kinds)
    found = fitting.inserted(graph, opened, Vertex("v9", tool="cut"), "layer")
    assert found.vertex("v9").parameters == {"layer": Output("v1")}
    assert port.value_at(found.vertex("v2").parameters, "parameters.INPUT") == Output("v9")
    assert port.value_at(found.vertex("v2").parameters, "parameters.LAYERS") == [
        Layer("dem"), Output("v1"),
    ]  # fmt: skip


# -- groups apart


def test_frames_of_groups_lie_over_nothing_else() -> None:
    boxes = {
        "a": (0.0, 0.0, 10.0, 8.0), "b": (20.0, 4.0, 10.0, 8.0),  # one group
        "c": (0.0, 10.0, 10.0, 8.0),  # another, under the first of them
        "d": (20.0, 14.0, 10.0, 8.0), "far": (80.0, 0.0, 10.0, 8.0),
    }  # fmt: skip
    margins = (1.0, 4.0, 1.0, 1.0)
    shifts = parting.parted(boxes, (("a", "b"), ("c",)), margins)
    assert (shifts["a"], shifts["b"], shifts["far"]) == (0, 0, 0)
    # the first frame ends at 13; the second begins 4 above its step, after a gap
    assert boxes["c"][1] + shifts["c"] - 4 == 13 + parting.GAP
    assert boxes["d"][1] + shifts["d"] >= 13 + parting.GAP


def test_what_is_apart_already_stays() -> None:
    boxes = {"a": (0.0, 0.0, 10.0, 8.0), "b": (0.0, 30.0, 10.0, 8.0)}
    assert parting.parted(boxes, (("a",),), (1.0, 4.0, 1.0, 1.0)) == {"a": 0, "b": 0}
