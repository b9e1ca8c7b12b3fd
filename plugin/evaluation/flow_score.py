# SPDX-License-Identifier: GPL-2.0-or-later
"""The score of a generated workflow against the reference (GeoFlow paper, Table 1)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .answer_grade import folded

Judge = Callable[[str, str], int]
"""Rates from 1 to 5 whether an objective (second) says all that the expected one (first) says."""

THRESHOLD = 3
"""Below it an objective counts as wrong in the released scorer; the paper's text says 4."""

_WORD = re.compile(r"[^\W_]+(?:[-.:/][^\W_]+)*")
_IDLE = frozenset(
    _WORD.findall(
        "a an and are as at be by for from in into is it its of on or that the then this to use "
        "using with you your agent should provide providing all each"
    )
)


@dataclass(frozen=True)
class FlowScore:
    """The score from 0 to 1, and the errors that it counts."""

    value: float
    missing: int = 0
    wrong_objective: int = 0
    count_differs: bool = False


@dataclass(frozen=True)
class _Task:
    name: str
    objective: str
    agent: str


def rule_judge(expected: str, found: str) -> int:
    """Rate by rule: the share of what the expected objective names that the other names too.

    Names, numbers and dates count twice, as they are what an objective has to hand on.
    """
    wanted, given = _words(expected), set(_words(found))
    if not wanted:
        return 5
    whole = sum(wanted.values())
    return 1 + int(4 * sum(weight for word, weight in wanted.items() if word in given) / whole)


def _words(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for at, match in enumerate(_WORD.finditer(text)):
        word = match.group(0)
        named = any(char.isdigit() for char in word) or (at > 0 and word[0].isupper())
        key = folded(word)
        if key not in _IDLE:
            found[key] = max(found.get(key, 0), 2 if named else 1)
    return found


def model_judge(ask: Callable[[str], str]) -> Judge:
    """Return a judge that asks a model; a reply without a number from 1 to 5 counts as 1."""

    def judge(expected: str, found: str) -> int:
        reply = ask(
            "Two sub-tasks of a plan. Are the data set, dates, place, kind of work and model that "
            f"the first names also in the second?\nFirst: {expected}\nSecond: {found}\n"
            "Write one number from 1 (none) to 5 (all)."
        )
        number = re.search(r"[1-5]", reply)
        return int(number.group(0)) if number else 1

    return judge


def flow_score(
    found: Mapping[str, Mapping[str, Any]],
    expected: Mapping[str, Mapping[str, Any]],
    judge: Judge = rule_judge,
    threshold: int = THRESHOLD,
) -> FlowScore:
    """Score a graph of sub-tasks: 1 - errors / (4 * expected tasks + 1).

    Graphs map a name to objective, agent, next and prev. Tasks are grouped by agent in
    breadth-first order from the roots, and each expected one takes the best rated that is left in
    its group. Errors are a missing task, an objective rated below `threshold`, and a number of
    tasks that differs; links are not compared, as in the released scorer.
    """
    left = _by_agent(found)
    missing = wrong = 0
    for agent, tasks in _by_agent(expected).items():
        for task in tasks:
            rated = [(judge(task.objective, one.objective), one) for one in left.get(agent, ())]
            if not rated:
                missing += 1
                continue
            rating, best = max(rated, key=lambda pair: pair[0])
            left[agent].remove(best)
            wrong += rating < threshold
    differs = len(found) != len(expected)
    errors = missing + wrong + differs
    value = max(0.0, 1 - errors / (4 * len(expected) + 1))
    return FlowScore(value, missing, wrong, differs)


def _by_agent(graph: Mapping[str, Mapping[str, Any]]) -> dict[str, list[_Task]]:
    groups: dict[str, list[_Task]] = {}
    for name in _breadth_first(graph):
        task = graph[name]
        agent = str(task.get("agent", ""))
        groups.setdefault(agent, []).append(_Task(name, str(task.get("objective", "")), agent))
    return groups


def _breadth_first(graph: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Order the names from the roots on; one-sided links count, and what no root leads to ends."""
    after: dict[str, list[str]] = {name: [] for name in graph}
    before: dict[str, int] = dict.fromkeys(graph, 0)
    for name, task in graph.items():
        following = [str(one) for one in task.get("next") or ()]
        following += [other for other, its in graph.items() if name in (its.get("prev") or ())]
        for other in dict.fromkeys(following):
            if other in graph:
                after[name].append(other)
                before[other] += 1
    queue, order = deque(name for name, count in before.items() if not count), []
    seen = set(queue)
    while queue:
        name = queue.popleft()
        order.append(name)
        for other in after[name]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return [*order, *(name for name in graph if name not in seen)]
