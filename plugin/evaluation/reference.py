# SPDX-License-Identifier: GPL-2.0-or-later
"""The calls of tasks, chains and runs in the form in which they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from qgis.core import QgsApplication

from ...tools.base import ToolResult
from ..agent.closing import ANSWER, REJECT
from ..agent.event import CallFinished, Status
from .chain import Chain
from .gold_step import RENAMED
from .same_call import Call, Made
from .task import Task

_RESULT = re.compile(r"\$?([A-Za-z_]\w*)(?:\.\w+)?")
_RUN = "run_algorithm"


def references(task: Task) -> list[list[Call]]:
    """Return the reference chains of a task: its own, and the one of its gold steps."""
    found = [_of_chain(chain) for chain in task.chains]
    if task.gold:
        found.append(_of_gold(task.gold))
    return found


def made_calls(events: Iterable[CallFinished], known: dict[str, Any], status: str) -> list[Call]:
    """Return the calls of a question; `known` are the names of the project's layers by their ids,
    and grows by what the calls made (by id, short id and name), for the next question of a
    dialogue.

    A question that was rejected in words counts as the call that rejects.
    """
    calls = []
    for event in events:
        if event.tool == ANSWER:
            continue
        call = _views(event.tool, event.arguments, event.result, known)
        calls.append(call)
        if event.result is not None:
            made = Made(call.names)
            for one in event.result.layers:
                known[one.id] = made
                known.setdefault(one.name, made)
            known[event.result.id] = made
    rejected = any(REJECT in call.names for call in calls)
    if status == Status.REJECTED.value and not rejected:
        calls.append(Call(((REJECT, {}),)))
    return calls


def _views(
    tool: str, arguments: Mapping[str, Any], result: ToolResult | None, known: Mapping[str, Any]
) -> Call:
    views = []
    if tool == _RUN and isinstance(arguments.get("parameters"), Mapping):
        views.append((str(arguments.get("algorithm")), _read(arguments["parameters"], known)))
    else:
        views.append((tool, _read(arguments, known)))
    if result is not None and result.algorithm:
        views.append((result.algorithm, _read(result.parameters, known)))
    return Call(tuple(views))


def _of_chain(chain: Chain) -> list[Call]:
    known: dict[str, Any] = {}
    calls = []
    for step in chain.steps:
        if step.tool == ANSWER:
            continue
        arguments = {} if step.tool == REJECT else step.arguments
        call = _views(step.tool, arguments, None, known)
        call = Call(tuple((name, _meaningful(name, given)) for name, given in call.views))
        calls.append(call)
        if step.name:
            known[f"${step.name}"] = Made(call.names)
    return calls


def _of_gold(gold: Sequence[Mapping[str, Any]]) -> list[Call]:
    known: dict[str, Any] = {}
    calls = []
    for step in gold:
        if "algorithm" in step:
            name = str(step["algorithm"])
            given = _meaningful(name, _read(step.get("parameters") or {}, known))
        elif step.get("tool", ANSWER) == ANSWER and "reject" not in step:
            continue
        elif step.get("tool") in (ANSWER, REJECT):
            name, given = REJECT, {}
        else:
            name, renamed = RENAMED.get(str(step.get("tool")), (str(step.get("tool")), {}))
            own = {k: v for k, v in step.items() if k not in ("tool", "as")}
            given = {renamed.get(key, key): value for key, value in _read(own, known).items()}
        call = Call(((name, given),))
        calls.append(call)
        if "as" in step:
            known[str(step["as"])] = Made(call.names)
    return calls


def _meaningful(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of an algorithm's parameters its outputs, and what only repeats a default."""
    algorithm = QgsApplication.processingRegistry().algorithmById(name)
    kept = {}
    for key, value in arguments.items():
        definition = algorithm.parameterDefinition(key) if algorithm is not None else None
        if definition is not None and (
            definition.isDestination()
            or value in (None, "", [])
            or value == definition.defaultValue()
        ):
            continue
        kept[key] = value
    return kept


def _read(value: Any, known: Mapping[str, Any]) -> Any:
    """Put what earlier calls made, and the names of layers, in the place of ids."""
    if isinstance(value, Mapping):
        return {str(key): _read(one, known) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_read(one, known) for one in value]
    if not isinstance(value, str):
        return value
    if value in known:
        return known[value]
    found = _RESULT.fullmatch(value)
    stem = value.partition(".")[0]
    return known[stem] if found and stem in known else value
