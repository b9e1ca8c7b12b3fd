# SPDX-License-Identifier: GPL-2.0-or-later
"""Candidates for the graph of a question: mended, compared, voted among."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from .change import ChangeError, applied
from .finding import Finding, Severity
from .graph import Graph, Vertex
from .plan_form import compact
from .score import scores
from .topology import TopologyError, order
from .value import Layer, Output, Template, Value, mapped

Check = Callable[[Graph], Sequence[Finding]]
_MENDS = 12


@dataclass(frozen=True)
class Candidate:
    """One graph with what the checks find in it after mends, or the reason why the layers cannot
    answer. `mended` are the labels of the mends, `remarks` what reading repaired, `doubts` what
    makes the graph unlikely. `was_valid` tells that it could have run without a mend."""

    graph: Graph
    findings: tuple[Finding, ...] = ()
    mended: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    rejected: str = ""
    doubts: tuple[Finding, ...] = ()
    was_valid: bool = True

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What keeps the graph from running."""
        return tuple(one for one in self.findings if one.severity is Severity.ERROR)

    @property
    def is_valid(self) -> bool:
        """Whether the graph may run."""
        return not self.rejected and not self.errors

    @property
    def weight(self) -> tuple[int, int]:
        """How many errors there are, and how many warnings and doubts."""
        warnings = sum(one.severity is Severity.WARNING for one in self.findings)
        return len(self.errors), warnings + len(self.doubts)


def mended(graph: Graph, check: Check, remarks: Sequence[str] = ()) -> Candidate:
    """Return a graph after the mends of its errors, one after the other, each with its first mend.

    A mend that leaves as many errors is not made.
    """
    findings = tuple(check(graph))
    best = Candidate(graph, findings, remarks=tuple(remarks))
    best = replace(best, was_valid=best.is_valid)
    for _ in range(_MENDS):
        better = _one_mended(best, check)
        if better is None:
            break
        best = better
    return best


def without_doubt(
    graph: Graph, check: Check, doubt: Check, remarks: Sequence[str] = ()
) -> Candidate:
    """Return a graph after the mends of its errors, then of what makes it unlikely, each with its
    first mend where that leaves fewer doubts and no error."""
    best = mended(graph, check, remarks)
    best = replace(best, doubts=tuple(doubt(best.graph)))
    for mend in [mend for one in best.doubts for mend in one.sure[:1]]:
        try:
            found = mended(applied(best.graph, mend.change), check, remarks)
        except ChangeError:
            continue
        found = replace(found, doubts=tuple(doubt(found.graph)))
        if found.is_valid and len(found.doubts) < len(best.doubts):
            labels = (*best.mended, *found.mended, mend.label)
            best = replace(found, mended=labels, was_valid=best.was_valid)
    return best


def _one_mended(candidate: Candidate, check: Check) -> Candidate | None:
    for finding in candidate.errors:
        for mend in finding.sure[:1]:
            try:
                graph = applied(candidate.graph, mend.change)
            except ChangeError:
                continue
            found = replace(
                candidate,
                graph=graph,
                findings=tuple(check(graph)),
                mended=(*candidate.mended, mend.label),
            )
            if len(found.errors) < len(candidate.errors):
                return found
    return None


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """Return the best candidate: fewest errors, then fewest doubts, then the plan that most
    candidates agree on, then fewest warnings, then Flow's score, then the first. Raises ValueError
    for none."""
    if not candidates:
        raise ValueError("there is no candidate")
    least = min((len(one.errors), len(one.doubts)) for one in candidates)
    left = [one for one in candidates if (len(one.errors), len(one.doubts)) == least]
    votes = Counter(_vote(one) for one in left)
    most = max(votes.values())
    left = [one for one in left if votes[_vote(one)] == most]
    shapes = _shapes(left)
    ranked = sorted(range(len(left)), key=lambda place: (left[place].weight, shapes[place], place))
    return left[ranked[0]]


def canonical(graph: Graph) -> str:
    """Return a text that is the same for graphs that do the same, whatever their ids, agents and
    order of steps, and however their objectives are worded. A graph without an order is its own.
    """
    digests: dict[str, str] = {}
    try:
        for key in order(graph):
            digests[key] = _digest(graph.vertex(key), digests)
    except TopologyError:
        return json.dumps(compact(graph), sort_keys=True, default=str)
    answer = graph.answer
    said = _same([answer.value, Template(answer.text)], digests)
    return json.dumps([sorted(digests.values()), said], default=str)


def _digest(vertex: Vertex, digests: Mapping[str, str]) -> str:
    """Return a digest of what a step does, with those of its parents in place of their ids."""
    concrete = None if vertex.parameters is None else _same(dict(vertex.parameters), digests)
    objective = "" if concrete is not None and vertex.tool else vertex.objective
    after = sorted(digests[one] for one in vertex.after)
    form = [vertex.kind.value, vertex.tool, objective, concrete, vertex.bypassed, after]
    return hashlib.sha256(json.dumps(form, sort_keys=True, default=str).encode()).hexdigest()


def _same(value: Value, digests: Mapping[str, str]) -> Value:
    def change(one: Value) -> Value:
        if isinstance(one, Output):
            return ["output", digests.get(one.vertex, one.vertex), one.key]
        if isinstance(one, Template):
            return one.filled(lambda name, key: f"{{{digests.get(name, name)}.{key}}}")
        return ["layer", one.name] if isinstance(one, Layer) else one

    return mapped(value, change)


def _vote(candidate: Candidate) -> str:
    return "rejected" if candidate.rejected else canonical(candidate.graph)


def _shapes(candidates: Sequence[Candidate]) -> tuple[float, ...]:
    try:
        return scores([one.graph for one in candidates])
    except TopologyError:
        return (0.0,) * len(candidates)
