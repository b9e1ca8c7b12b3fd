# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scripted model replies where a method asks for a plan, a speaker, a verdict, an end."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

from .fault_rate import Fault
from .rival.ask import Ask

if TYPE_CHECKING:
    from .fault_model import FaultModel

_BROKEN = '[{"agent": '
_NOBODY = "somebody_agent"


class Steering:
    """The replies to one request, right or with a fault of the same kinds as calls have."""

    def __init__(self, model: FaultModel) -> None:
        self._model = model

    def reply(self, kind: Ask | None, fault: Fault | None) -> str:
        """Return the text for what is asked."""
        replies: dict[Ask | None, Callable[[Fault | None], str]] = {
            Ask.SCHEDULE: self._schedule,
            Ask.VERDICT: self._verdict,
            Ask.MODULES: self._modules,
            Ask.LEDGER: self._ledger,
            Ask.NEXT: self._next,
            Ask.GRAPH: self._graph,
            Ask.ASSIGN: self._assignment,
            Ask.CONFIRM: self._confirm,
            Ask.FINAL: lambda fault: self._model.sentence(),
        }
        if fault is Fault.MALFORMED and kind not in (Ask.CONFIRM, Ask.FINAL):
            return _BROKEN
        steps = ", ".join(step.tool for step in self._model.chain.work)
        return replies[kind](fault) if kind in replies else f"The work takes {steps or 'nothing'}."

    def _owners(self, fault: Fault | None) -> list[str]:
        """Return the agents of the steps that are left, each once in a row."""
        model = self._model
        found = [model.team.owner(step.tool) for step in model.chain.work[model.at :]]
        owners = [name for name, _ in groupby(one for one in found if one)]
        if not owners:
            owners = [model.team.names[-2]]
        if fault is Fault.WRONG_ORDER:
            owners.reverse()
        if fault is Fault.EARLY_END:
            owners = owners[: len(owners) // 2]
        return [_NOBODY, *owners[1:]] if fault is Fault.UNKNOWN_TOOL and owners else owners

    def _schedule(self, fault: Fault | None) -> str:
        task = "Do the next steps of the question."
        return json.dumps([{"agent": name, "task": task} for name in self._owners(fault)])

    def _verdict(self, fault: Fault | None) -> str:
        if fault is Fault.EARLY_END:
            return json.dumps({"complete": True, "answer": "That is done."})
        if not self._model.closing:
            missing = f"{self._model.step.tool} was not called"
            return json.dumps({"complete": False, "missing": missing})
        return json.dumps({"complete": True, "answer": self._model.sentence()}, ensure_ascii=False)

    def _modules(self, fault: Fault | None) -> str:
        names = [step.tool for step in self._model.chain.work]
        if fault is Fault.WRONG_ORDER:
            names.reverse()
        if fault is Fault.EARLY_END:
            names = names[: len(names) // 2]
        if fault is Fault.UNKNOWN_TOOL:
            names = ["do_the_task"]
        return json.dumps([*names, "answer_generator"])

    def _ledger(self, fault: Fault | None) -> str:
        model = self._model
        done = model.told or fault is Fault.EARLY_END
        key = "next" if fault is Fault.WRONG_ARGUMENT else "next_speaker"
        answers = {
            "is_request_satisfied": done,
            "is_in_loop": fault is Fault.LOOP,
            "is_progress_being_made": fault is not Fault.LOOP,
            key: (self._owners(fault) or [""])[0],
            "instruction_or_question": "Do the next steps of the question.",
        }
        return json.dumps({name: {"reason": "", "answer": one} for name, one in answers.items()})

    def _next(self, fault: Fault | None) -> str:
        ended = self._model.told or fault is Fault.EARLY_END
        return json.dumps({"next": "end_agent" if ended else (self._owners(fault) or [""])[0]})

    def _graph(self, fault: Fault | None) -> str:
        key = "agents" if fault is Fault.WRONG_ARGUMENT else "agent"
        owners = self._owners(fault)
        names = [f"task{place}" for place in range(1, len(owners) + 1)]
        tasks = {
            name: {
                "objective": "Do the next steps of the question.",
                key: owner,
                "prev": names[place - 1 : place] if place else [],
                "next": names[place + 1 : place + 2],
            }
            for place, (name, owner) in enumerate(zip(names, owners))
        }
        return json.dumps({"tasks": tasks})

    def _assignment(self, fault: Fault | None) -> str:
        given = {f"task{place}": name for place, name in enumerate(self._owners(fault), 1)}
        return json.dumps({"assignment": given} if fault is Fault.WRONG_ARGUMENT else given)

    def _confirm(self, fault: Fault | None) -> str:
        if self._model.closing or fault is Fault.EARLY_END:
            return self._model.sentence()
        return f"CONTINUE: {self._model.step.tool}"
