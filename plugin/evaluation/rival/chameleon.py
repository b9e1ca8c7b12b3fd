# SPDX-License-Identifier: GPL-2.0-or-later
"""Chameleon: modules planned once and run in a fixed order over one shared cache."""

from __future__ import annotations

from collections.abc import Generator

from ...agent.event import Event
from ...agent.message import Message, Role
from ...agent.prompt import signature
from .ask import Ask, json_in, named
from .desk import Desk, Ending, MethodEnded, asking

SOLUTION, ANSWER = "solution_generator", "answer_generator"
DEFAULT = ("list_layers", SOLUTION, ANSWER)
_EXAMPLES = 2
_LONGEST = 10
_PLANNER = (
    "You choose modules that together answer a question about map layers in QGIS. They run once, "
    "in your order, and each sees what those before it gave.\nModules:\n{inventory}"
)
_MODULES = (
    "Write the names of the modules in order as a JSON list; the last is answer_generator. "
    "Write only the list."
)
_FILL = (
    "You fill in the arguments of one module of a plan. Results have short ids (r1, r2); a layer "
    "that a module made is used by its id."
)
_SOLUTION = "Think step by step: what do the results say, and what follows for the question?"
_FINAL = (
    "Answer the question in one sentence with the names and numbers of the results. When the "
    'layers cannot answer it, write "REJECTED: " and what is missing.'
)


class Chameleon:
    """A plan, a request for each module, an answer: 1 + M + 1 requests for M modules before it.

    Lu et al., Chameleon, with the tools as modules, whose arguments are filled from the cache as
    in its port to ToolQA; a re-implementation for GIS. A plan that is no list of known modules
    ending with the answer is replaced by a default one. Nothing is planned again: an error ends
    the run.
    """

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        modules = yield from self._planned(desk)
        cache = [desk.task()]
        for name in modules[:-1]:
            if name == SOLUTION:
                text = yield from desk.ask(_told(cache), asking(Ask.SOLUTION, _SOLUTION))
                cache.append(f"{SOLUTION}: {text}")
            else:
                cache.append((yield from self._tool(desk, name, modules, cache)))
        return desk.closed((yield from desk.ask(_told(cache), asking(Ask.FINAL, _FINAL))))

    def _planned(self, desk: Desk) -> Generator[Event, None, tuple[str, ...]]:
        tools = [one for one in desk.tools() if one.name not in ("answer", "reject", "undo")]
        inventory = [f"- {signature(tool)}" for tool in tools]
        inventory += [
            f"- {SOLUTION}: thinks about the results",
            f"- {ANSWER}: answers, always last",
        ]
        system = Message(Role.SYSTEM, _PLANNER.format(inventory="\n".join(inventory)))
        shown = "\n".join(
            f"{one.example.question} -> {[*(step.tool for step in one.example.steps[:-1]), ANSWER]}"
            for one in desk.bank.nearest(desk.question, _EXAMPLES)
        )
        text = yield from desk.ask(
            system, Message(Role.USER, f"{shown}\n{desk.task()}"), asking(Ask.MODULES, _MODULES)
        )
        known = [*(tool.name for tool in tools), SOLUTION, ANSWER]
        found = json_in(text)
        names = [named(one, known) for one in found] if isinstance(found, list) else []
        valid = all(names) and names[-1:] == [ANSWER] and names.count(ANSWER) == 1
        return tuple(names) if valid and len(names) <= _LONGEST else DEFAULT

    def _tool(
        self, desk: Desk, name: str, modules: tuple[str, ...], cache: list[str]
    ) -> Generator[Event, None, str]:
        """Let the model fill one module's arguments from the cache, and run it."""
        plan = f"Plan: {' -> '.join(modules)}. Call the module {name} now."
        thread = (Message(Role.SYSTEM, _FILL), _told(cache), Message(Role.USER, plan))
        spoken = yield from desk.act(thread, desk.tools([name]))
        if not spoken.calls:
            raise MethodEnded(f"The arguments of {name} could not be read.")
        used = yield from desk.use(spoken.calls[0])
        if used.result is None:
            raise MethodEnded(used.text)
        return f"{name}: {used.text}"


def _told(cache: list[str]) -> Message:
    return Message(Role.USER, "\n".join(cache))
