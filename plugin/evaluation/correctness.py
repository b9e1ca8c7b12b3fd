# SPDX-License-Identifier: GPL-2.0-or-later
"""Correctness of a run's calls in two modes: as the papers define it, and as the released scorer
of GeoFlow computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .argument_match import Agrees, as_defined, as_released
from .same_call import Call, SameCalls

LOOKS = frozenset(
    {"list_layers", "layer_info", "unique_values", "search_algorithms", "describe_algorithm"}
)
"""Calls that only look; they count where the reference has them and are left out elsewhere."""

_HANDOFF = "transfer_to_"


@dataclass(frozen=True)
class Errors:
    """What was wrong with the calls of one run."""

    missed: int = 0
    redundant: int = 0
    infeasible: int = 0
    arguments: int = 0


@dataclass(frozen=True)
class Score:
    """The share of right calls, from 0 to 1, and the errors behind it."""

    value: float
    errors: Errors = Errors()


def arguments_agree(expected: Call, found: Call, same: SameCalls, agrees: Agrees) -> bool:
    """Tell whether every expected argument is there and right, under any name of the call."""
    verdicts = []
    for name, wanted in expected.views:
        given = same.arguments(found, name)
        shared = {
            key
            for own, _ in found.views
            for key in (same.shared(name, own) or (wanted if own == name else ()))
        }
        compared = {key: value for key, value in wanted.items() if key in shared}
        verdicts.append(
            all(key in given and agrees(value, given[key], same) for key, value in compared.items())
        )
    return any(verdicts)


def as_papers_define(
    found: Sequence[Call], chains: Sequence[Sequence[Call]], same: SameCalls
) -> Score:
    """Score a run against the chain that it matches best: max(0, 1 - errors / calls expected).

    An error is a call that is missing, one too many, or one with a wrong argument; calls count in
    the expected order (GeoLLM-QA; Geo-OLM paper, section 4).
    """
    scores = [_aligned(found, chain, same) for chain in chains]
    return max(scores, key=lambda one: one.value, default=Score(0.0))


def _counted(found: Sequence[Call], chain: Sequence[Call]) -> list[Call]:
    """Return the calls without looks that the reference does not ask for."""
    wanted = {name for one in chain for name in one.names}
    return [one for one in found if one.names.isdisjoint(LOOKS - wanted)]


def _aligned(found: Sequence[Call], chain: Sequence[Call], same: SameCalls) -> Score:
    """Align two sequences in order with the fewest errors."""
    calls = _counted(found, chain)
    if not chain:
        return Score(float(not calls), Errors(redundant=len(calls)))
    best: list[list[tuple[int, Errors]]] = [[(0, Errors())]]
    for many in range(1, len(calls) + 1):
        best[0].append((many, Errors(redundant=many)))
    for expected in chain:
        above = best[-1]
        row = [_plus(above[0], missed=1)]
        for at, call in enumerate(calls):
            options = [_plus(above[at + 1], missed=1), _plus(row[at], redundant=1)]
            if same.same(expected.names, call.names):
                right = arguments_agree(expected, call, same, as_defined)
                options.append(above[at] if right else _plus(above[at], arguments=1))
            row.append(min(options, key=lambda option: option[0]))
        best.append(row)
    count, errors = best[-1][-1]
    return Score(max(0.0, 1 - count / len(chain)), errors)


def _plus(
    entry: tuple[int, Errors], missed: int = 0, redundant: int = 0, arguments: int = 0
) -> tuple[int, Errors]:
    count, known = entry
    errors = Errors(
        known.missed + missed, known.redundant + redundant, 0, known.arguments + arguments
    )
    return count + missed + redundant + arguments, errors


class ReleasedScorer:
    """The scorer as released with GeoFlow, its oddities kept.

    Order is not enforced; errors of arguments are counted and not subtracted; and what is feasible
    are the names of all references seen so far, so that the order of tasks matters.
    """

    def __init__(self, same: SameCalls) -> None:
        self._same = same
        self._allowed: set[str] = set()

    def allow(self, chains: Sequence[Sequence[Call]]) -> None:
        """Take the calls of a task's references as feasible from now on."""
        for chain in chains:
            for one in chain:
                self._allowed |= self._same.classes(one.names)

    def score(self, found: Sequence[Call], chains: Sequence[Sequence[Call]]) -> Score:
        """Score one run against the chain that it matches best. A chain without calls gives 0."""
        self.allow(chains)
        scores = [self._walked(_counted(found, chain), chain) for chain in chains]
        return max(scores, key=lambda one: one.value, default=Score(0.0))

    def _walked(self, found: Sequence[Call], chain: Sequence[Call]) -> Score:
        left = list(found)
        missed = infeasible = arguments = 0
        for expected in chain:
            match, at = None, 0
            while match is None and at < len(left):
                names = left[at].names
                if any(name.startswith(_HANDOFF) for name in names):
                    del left[at]
                elif self._same.classes(names).isdisjoint(self._allowed):
                    infeasible += 1
                    del left[at]
                elif self._same.same(expected.names, names):
                    match = left.pop(at)
                else:
                    at += 1
            if match is None:
                missed += 1
            elif not arguments_agree(expected, match, self._same, as_released):
                arguments += 1
        left = [one for one in left if not any(name.startswith(_HANDOFF) for name in one.names)]
        errors = Errors(missed, len(left), infeasible, arguments)
        if not chain:
            return Score(0.0, errors)
        return Score(max(0.0, 1 - (missed + len(left) + infeasible) / len(chain)), errors)
