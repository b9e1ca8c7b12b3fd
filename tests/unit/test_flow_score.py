# SPDX-License-Identifier: GPL-2.0-or-later
"""The score by which the Flow paper ranks candidates, worked out by hand, and the choice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_case import CLIPPED, graph, refuses, task

from geo_olm.plugin.workflow.candidate import Candidate, best_of, canonical, mended
from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.finding import Finding, Mend, Severity
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.score import average_parallelism, dependency_complexity, scores


def shape(**parents: str) -> Graph:
    vertices = (Vertex(key, after=tuple(above)) for key, above in parents.items())
    return Graph(vertices=tuple(vertices))


CHAIN = shape(a="", b="a", c="b")
FORK = shape(a="", b="a", c="a")
DIAMOND = shape(a="", b="a", c="a", d="bc")
APART = shape(a="", b="", c="")


@pytest.mark.parametrize(
    ("graph", "complexity", "parallelism"),
    [
        (CHAIN, (2 / 9) ** 0.5, 1.0),  # degrees 1, 2, 1; layers of 1, 1, 1
        (FORK, (2 / 9) ** 0.5, 1.5),  # degrees 2, 1, 1; layers of 1, 2
        (DIAMOND, 0.0, 4 / 3),  # degrees 2, 2, 2, 2; layers of 1, 2, 1
        (APART, 0.0, 3.0),
        (Graph(), 0.0, 0.0),
        # A shortcut to the last of a chain: degrees 2, 2, 2; the longest way counts.
        (shape(a="", b="a", c="ab"), 0.0, 1.0),
    ],
)
def test_complexity_and_parallelism_are_those_worked_out_by_hand(
    graph: Graph, complexity: float, parallelism: float
) -> None:
    assert dependency_complexity(graph) == pytest.approx(complexity)
    assert average_parallelism(graph) == pytest.approx(parallelism)


def test_the_score_is_the_difference_of_the_z_scores_lower_is_better() -> None:
    found = scores([CHAIN, APART])
    # complexity 0.4714 and 0: mean 0.2357, deviation 0.2357; parallelism 1 and 3: mean 2, 1.
    z_complexity = 0.2357022604 / (0.2357022604 + 0.01)
    z_parallelism = 1 / (1 + 0.01)
    assert found == pytest.approx(
        (z_complexity + z_parallelism, -z_complexity - z_parallelism), abs=1e-6
    )
    assert scores([CHAIN]) == (0.0,)
    assert scores([]) == ()


def test_graphs_that_do_the_same_are_the_same_whatever_their_ids_and_order() -> None:
    other = graph(
        task("x", "overlay", layer="countries", other="y"),
        task("y", "buffer", layer="rivers", distance=500),
        task("z", "count", "table", layer="x"),
        answer="z.count",
    )
    assert canonical(other) == canonical(CLIPPED)
    far = graph(
        task("v1", "buffer", layer="rivers", distance=501),
        task("v2", "overlay", layer="countries", other="v1"),
        task("v3", "count", "table", layer="v2"),
        answer="v3.count",
    )
    assert canonical(far) != canonical(CLIPPED)
    turned = graph(
        task("v1", "buffer", layer="rivers", distance=500),
        task("v2", "overlay", layer="v1", other="countries"),
        task("v3", "count", "table", layer="v2"),
        answer="v3.count",
    )
    assert canonical(turned) != canonical(CLIPPED)
    silent = replace(CLIPPED, answer=replace(CLIPPED.answer, value=None))
    assert canonical(silent) != canonical(CLIPPED)


def candidate(graph: Graph, errors: int = 0, warnings: int = 0) -> Candidate:
    found = [Finding("x", Severity.ERROR, "Wrong.")] * errors
    found += [Finding("x", Severity.WARNING, "Odd.")] * warnings
    return Candidate(graph, tuple(found))


def test_the_best_has_the_fewest_errors_then_the_most_votes_then_the_fewest_warnings() -> None:
    a, b = candidate(CHAIN), candidate(APART)
    assert best_of([candidate(APART, errors=1), a]) is a
    assert best_of([b, a, candidate(CHAIN)]) is a
    odd = candidate(APART, warnings=1)
    assert best_of([odd, a]) is a
    assert best_of([a, b]) is b  # Flow's score: what can be done at the same time
    with pytest.raises(ValueError, match="no candidate"):
        best_of([])


def test_rejections_vote_together() -> None:
    no = Candidate(Graph(), rejected="There are no roads.")
    also = Candidate(Graph(), rejected="Roads are missing.")
    assert best_of([candidate(CHAIN), no, also]) is no


def test_a_mend_is_made_only_where_it_leaves_fewer_errors() -> None:
    right = replace(CLIPPED.vertex("v2"), tool="dissolve")
    check = refuses("overlay")

    def with_mend(change: Change) -> Candidate:
        def found(graph: Graph) -> list[Finding]:
            mends = (Mend("Dissolve instead", change),)
            return [replace(one, mends=mends) for one in check(graph)]

        return mended(CLIPPED, found)

    better = with_mend(Change(edited=(right,)))
    assert (better.is_valid, better.was_valid) == (True, False)
    assert better.mended == ("Dissolve instead",)
    same = with_mend(Change(edited=(replace(CLIPPED.vertex("v1"), title="x"),)))
    assert (same.is_valid, same.mended, same.graph) == (False, (), CLIPPED)
    assert not with_mend(Change(removed=("v9",))).is_valid
