# SPDX-License-Identifier: GPL-2.0-or-later
"""The GeoFlow graph: its shape, its order, its changes."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_olm.plugin.workflow import topology
from geo_olm.plugin.workflow.change import Change, ChangeError, applied, between
from geo_olm.plugin.workflow.graph import Answer, Graph, Group, Status, Variable, Vertex
from geo_olm.plugin.workflow.graph import Type as VariableType
from geo_olm.plugin.workflow.topology import Fault, TopologyError, ancestors, depths, order
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.plugin.workflow.wording import words


def step(identity: str, *after: str, **parameters: object) -> Vertex:
    return Vertex(identity, "vector", tool="buffer", parameters=parameters, after=after)


DIAMOND = Graph(
    "How far?",
    (
        step("a", layer=Layer("roads"), distance=50),
        step("b", layer=Output("a"), distance=Output("a", "count")),
        step("c", "a", layer=Layer("towns")),
        step("d", layer=Output("b"), other=Output("c"), note=Template("{b.count} of {n}")),
    ),
    (Variable("n", VariableType.NUMBER, default=3),),
    Answer("{d.count} in all", Output("d", "count")),
)


def test_a_link_is_an_output_that_is_used_or_a_step_that_is_waited_for() -> None:
    assert DIAMOND.edges() == (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"))
    assert DIAMOND.children("a") == ("b", "c")


def test_a_variable_in_a_template_is_no_link() -> None:
    assert {one.vertex for one in DIAMOND.used(DIAMOND.vertex("d"))} == {"b", "c"}


def test_the_order_puts_parents_first_and_depth_is_the_longest_way() -> None:
    assert order(DIAMOND) == ("a", "b", "c", "d")
    assert depths(DIAMOND) == {"a": 0, "b": 1, "c": 1, "d": 2}
    shortcut = DIAMOND.with_vertex(replace(DIAMOND.vertex("d"), after=("a",)))
    assert depths(shortcut)["d"] == 2


@pytest.mark.parametrize(
    ("vertices", "fault", "words"),
    [
        ([step("a"), step("a")], Fault.DUPLICATE, "Two steps are called a."),
        ([step("a", "a")], Fault.SELF, "a waits for itself."),
        ([step("a", "x")], Fault.UNKNOWN, "a uses x, and no step is called so."),
        (
            [step("a", "c"), step("b", "a"), step("c", "b"), step("d", "c")],
            Fault.CYCLE,
            "The steps wait for each other: a → b → c → a.",
        ),
    ],
)
def test_each_fault_of_the_shape_is_told(vertices: list[Vertex], fault: Fault, words: str) -> None:
    found = topology.faults(Graph("", tuple(vertices)))
    assert [(one.fault, one.message) for one in found] == [(fault, words)]
    with pytest.raises(TopologyError, match=words[:12]):
        order(Graph("", tuple(vertices)))


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_a_graph_has_an_order_exactly_where_no_path_comes_back(
    links: list[tuple[int, int]],
) -> None:
    parents: dict[int, set[int]] = {n: set() for n in range(8)}
    for parent, child in links:
        parents[child].add(parent)
    graph = Graph(
        "", tuple(step(f"s{n}", *(f"s{one}" for one in sorted(parents[n]))) for n in range(8))
    )
    reach = {n: set(parents[n]) for n in parents}
    for _ in range(8):
        reach = {n: near.union(*(reach[one] for one in near)) for n, near in reach.items()}
    if any(n in reach[n] for n in reach):
        with pytest.raises(TopologyError):
            order(graph)
    else:
        places = {key: place for place, key in enumerate(order(graph))}
        assert all(places[f"s{one}"] < places[f"s{n}"] for n in parents for one in parents[n])
    for n in parents:
        assert ancestors(graph, f"s{n}") == {f"s{one}" for one in reach[n]}


def test_a_thousand_steps_are_ordered_at_once() -> None:
    graph = Graph("", tuple(step(f"s{n}", *([f"s{n - 1}"] if n else [])) for n in range(1000)))
    began = time.perf_counter()
    assert depths(graph)["s999"] == 999
    assert time.perf_counter() - began < 5


def test_a_renamed_step_is_renamed_wherever_it_is_used() -> None:
    graph = replace(DIAMOND, groups=(Group("all", ("a", "b")),)).renamed("b", "near")
    assert graph.vertex("d").parameters == {
        "layer": Output("near"),
        "other": Output("c"),
        "note": Template("{near.count} of {n}"),
    }
    assert graph.groups[0].vertices == ("a", "near")
    assert graph.renamed("d", "end").answer == Answer("{end.count} in all", Output("end", "count"))
    with pytest.raises(ValueError, match="taken"):
        graph.renamed("a", "n")


def test_a_free_id_is_no_step_and_no_variable() -> None:
    graph = Graph("", (step("v1"),), (Variable("v2", VariableType.TEXT),))
    assert graph.free_id() == "v3"


def test_what_lies_between_two_graphs_makes_the_second_of_the_first() -> None:
    new = DIAMOND.without(["c"]).with_vertex(step("e", layer=Output("b")))
    new = new.with_vertex(step("a", layer=Layer("roads"), distance=80))
    change = between(DIAMOND, new)
    assert (change.removed, [one.id for one in change.inserted]) == (("c",), ["e"])
    assert [one.id for one in change.edited] == ["a"]
    assert between(applied(DIAMOND, change), new).is_empty
    moved = DIAMOND.with_vertex(replace(DIAMOND.vertex("a"), position=(3.0, 4.0)))
    assert between(DIAMOND, moved).is_empty


def test_a_change_makes_pending_what_it_reaches_and_nothing_else() -> None:
    done = replace(
        DIAMOND,
        vertices=tuple(replace(one, status=Status.COMPLETED) for one in DIAMOND.vertices),
    )
    edited = replace(done.vertex("b"), parameters={"layer": Output("a"), "distance": 9})
    found = applied(done, Change(edited=(edited,)))
    assert {one.id: one.status for one in found.vertices} == {
        "a": Status.COMPLETED,
        "b": Status.PENDING,
        "c": Status.COMPLETED,
        "d": Status.PENDING,
    }


@pytest.mark.parametrize(
    "change",
    [Change(edited=(step("x"),)), Change(removed=("x",)), Change(inserted=(step("a"),))],
)
def test_a_change_that_does_not_fit_is_refused(change: Change) -> None:
    with pytest.raises(ChangeError, match="step"):
        applied(DIAMOND, change)


def test_a_change_is_told_in_words() -> None:
    change = Change(
        edited=(step("a", layer=Layer("roads"), distance=250),),
        inserted=(Vertex("e", tool="dissolve", parameters={"layer": Output("b")}),),
        removed=("c",),
    )
    assert words(DIAMOND, change) == (
        "Removed: buffer (c)",
        "New step: dissolve (e) after buffer (b)",
        "buffer (a): distance 50 → 250",
    )


def test_variables_are_reached_where_they_stand() -> None:
    one = step("a", layer=Asked("where"), list=[{"deep": Asked("n")}])
    assert list(one.asked()) == ["where", "n"]
