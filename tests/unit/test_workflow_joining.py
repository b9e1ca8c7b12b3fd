# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs of one chat put together, so that a follow-up can be kept by itself."""

from __future__ import annotations

from geo_olm.plugin.workflow.graph import Answer, Graph, Source, Vertex
from geo_olm.plugin.workflow.joining import joined
from geo_olm.plugin.workflow.topology import order
from geo_olm.plugin.workflow.value import Layer, Output

BIG = Graph(
    "Which towns are big?",
    (
        Vertex("v1", "vector", "", "filter", {"layer": Layer("towns"), "where": "pop > 9"}),
        Vertex("v2", "table", "", "count", {"layer": Output("v1")}),
    ),
    sources=(Source("towns", "towns.gpkg"),),
)
NEAR = Graph(
    "How many of those are near the park?",
    (
        Vertex("v1", "vector", "", "buffer", {"layer": Layer("park"), "distance": 5}),
        Vertex("v2", "vector", "", "overlay", {"layer": Layer("big"), "other": Output("v1")}),
        Vertex("v3", "table", "", "count", {"layer": Output("v2"), "other": Layer("big")}),
    ),
    answer=Answer(value=Output("v3", "count")),
    sources=(Source("park", "park.gpkg"), Source("big", "memory")),
)
MADE = {"big": (BIG, "v1")}


def test_a_layer_of_an_earlier_graph_becomes_its_step_once_with_an_id_of_its_own() -> None:
    found = joined(NEAR, MADE)
    assert found.ids() == ("v4", "v1", "v2", "v3")
    assert found.vertex("v4").parameters == {"layer": Layer("towns"), "where": "pop > 9"}
    assert found.vertex("v2").parameters == {"layer": Output("v4"), "other": Output("v1")}
    assert found.vertex("v3").parameters == {"layer": Output("v2"), "other": Output("v4")}
    assert found.answer == NEAR.answer
    assert [one.name for one in found.sources] == ["park", "towns"]
    assert order(found).index("v4") < order(found).index("v2")


def test_a_chain_of_follow_ups_brings_all_that_leads_to_it() -> None:
    largest = Vertex("v1", "table", "", "top_n", {"layer": Layer("near")})
    last = Graph("And the largest?", (largest,))
    found = joined(last, {**MADE, "near": (joined(NEAR, MADE), "v2")})
    assert [one.tool for one in found.vertices] == ["filter", "buffer", "overlay", "top_n"]
    assert {name for one in found.vertices for name in one.layers()} == {"park", "towns"}
    assert set(order(found)) == set(found.ids())


def test_a_graph_that_takes_nothing_of_another_stays_as_it_is() -> None:
    assert joined(BIG, MADE) == BIG
