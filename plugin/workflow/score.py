# SPDX-License-Identifier: GPL-2.0-or-later
"""How good the shape of a graph is among others, as the Flow paper scores its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev

from .graph import Graph
from .topology import depths

_SOFT = 0.01


def dependency_complexity(graph: Graph) -> float:
    """Return the population's standard deviation of the steps' degrees, in and out together.

    0 for a graph without steps.
    """
    ids = graph.ids()
    edges = [pair for pair in graph.edges() if pair[0] in ids]
    degrees = [sum(key in pair for pair in edges) for key in ids]
    return pstdev(degrees) if degrees else 0.0


def average_parallelism(graph: Graph) -> float:
    """Return the mean number of steps of one depth, the longest way from a step without parents.

    Flow counts a step once for each way that leads to it; here it counts once. Raises
    TopologyError.
    """
    found = depths(graph)
    return len(found) / len(set(found.values())) if found else 0.0


def scores(graphs: Sequence[Graph]) -> tuple[float, ...]:
    """Return Flow's score of each graph among all, lower is better: the z-score of its dependency
    complexity less that of its parallelism. Raises TopologyError."""
    complexity = _standardised([dependency_complexity(one) for one in graphs])
    parallelism = _standardised([average_parallelism(one) for one in graphs])
    return tuple(one - other for one, other in zip(complexity, parallelism))


def _standardised(values: Sequence[float]) -> list[float]:
    if not values:
        return []
    mean, spread = fmean(values), pstdev(values) + _SOFT
    return [(one - mean) / spread for one in values]
