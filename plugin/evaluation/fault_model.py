# SPDX-License-Identifier: GPL-2.0-or-later
"""A scripted chat model that knows a chain and errs at stated rates: it measures methods, it is
no model, and what it gives is never reported as one's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from ..agent.closing import ANSWER, REJECT
from ..agent.event import CallFinished, Event
from ..agent.message import ToolCall
from ..llm.base import Cancelled, ChatRequest, Chunk, Finish, ModelCard, Reply, Server, Usage
from ..llm.textcall import new_id
from ..llm.usage import guessed
from .chain import Chain, ChainStep, filled
from .fault_plan import plan
from .fault_rate import Fault, Rates, draw
from .fault_steering import Steering
from .rival.ask import Ask
from .rival.swarm import HANDOFF
from .rival.team import Team

CONTEXT = 8192
_LISTED = re.compile(r"^- (\w+)\(", re.MULTILINE)
_BROKEN = '{"tool": "count", "arguments": {"layer": "'
_NO_TOOL, _NO_ARGUMENT = "do_the_task", "input_data_1"


@dataclass
class FaultModel:
    """Plays one chain for one run; `key` names the task, so that all methods meet the same draws.

    Where the server would hold a reply to a schema, faults that the schema forbids cannot be made.
    It learns what its calls gave from `note`, which takes the run's events; `earlier` are the ids
    of results of earlier turns, by the names that their chains gave them.
    """

    chain: Chain
    team: Team
    rates: Rates
    seed: int
    key: str
    at: int = 0
    replies: int = 0
    told: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    last: str = ""
    emitted: tuple[str, dict[str, Any]] | None = None
    seen: list[str] = field(default_factory=list)
    earlier: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids.update(self.earlier)

    # -- a chat model

    def card(self) -> ModelCard:
        """Describe it: its name says that no model answers."""
        return ModelCard(f"faults {self.rates} (no model)", Server.AUTO, "", CONTEXT)

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        """Yield the reply at once."""
        fault = self.rates.at(draw(self.seed, self.key, self.replies))
        self.replies += 1
        text, calls = self._reply(request, fault)
        written = text + "".join(json.dumps(one.arguments) for one in calls)
        finish = Finish.CALLS if calls else Finish.STOP
        yield Reply(text, calls=calls, finish=finish, usage=self._usage(request, written))

    def close(self) -> None:
        """Hold nothing."""

    # -- what the calls gave

    def note(self, event: Event) -> None:
        """Go on in the chain when a call did its next step."""
        if not isinstance(event, CallFinished) or not event.ok or self.at >= len(self.chain.steps):
            return
        step = self.step
        if event.tool != step.tool or not self._did(event.arguments, self._arguments(step)):
            return
        self.at += 1
        result = event.result
        if result is None:
            return
        self.last = result.text.partition("\n")[0]
        if step.name and result.id:
            self.ids[step.name] = result.id
        self.numbers.update({f"{result.id}.{key}": one for key, one in result.numbers.items()})

    @property
    def step(self) -> ChainStep:
        """The step that is due; the last one when all were done."""
        return self.chain.steps[min(self.at, len(self.chain.steps) - 1)]

    @property
    def closing(self) -> bool:
        """Whether only the answer is left."""
        return self.step.tool in (ANSWER, REJECT)

    def sentence(self) -> str:
        """Return the answer in words, its number in the last sentence."""
        end = self.chain.steps[-1]
        arguments = filled(end.arguments, self.chain.names, self.ids)
        if end.tool == REJECT:
            return f"REJECTED: {arguments['reason']}"
        text = str(arguments.get("text") or "") or self.last or "Done."
        value = self.numbers.get(str(arguments.get("value", "")))
        said = text if text.endswith(".") else f"{text}."
        return said if value is None else f"{said} The answer is {value:.10g}."

    def _arguments(self, step: ChainStep) -> dict[str, Any]:
        return dict(filled(step.arguments, self.chain.names, self.ids))

    def _did(self, made: Any, due: Any) -> bool:
        """Tell whether a call's arguments are those that were due; a run may say a result by the
        name of its layer."""
        if isinstance(due, Mapping) and isinstance(made, Mapping):
            return made.keys() == due.keys() and all(self._did(made[key], due[key]) for key in due)
        if isinstance(due, list) and isinstance(made, list):
            return len(made) == len(due) and all(map(self._did, made, due))
        return made == due or (isinstance(made, str) and due in self.ids.values())

    # -- replies

    def _reply(self, request: ChatRequest, fault: Fault | None) -> tuple[str, tuple[ToolCall, ...]]:
        last = request.messages[-1].content
        kind = Ask.of(last)
        if kind not in (None, Ask.REFLECT):
            return Steering(self).reply(kind, fault), ()
        if request.schema is not None:
            return self._held(request.schema, fault), ()
        in_text = not request.tools
        names = [one.name for one in request.tools] or _LISTED.findall(request.messages[0].content)
        chosen = self._chosen(names, fault)
        if isinstance(chosen, str):
            return chosen, ()
        name, arguments = chosen
        if in_text:
            call = json.dumps({"tool": name, "arguments": arguments}, ensure_ascii=False)
            return f"Thought: {name} is next.\nAction: {call}", ()
        return "", (ToolCall(new_id(), name, arguments),)

    def _chosen(self, names: list[str], fault: Fault | None) -> str | tuple[str, dict[str, Any]]:
        """Return the next call among the offered tools, or a text where none of them is due."""
        if fault is Fault.EARLY_END:
            return "That is done."
        if fault is Fault.LOOP and self.emitted is not None and self.emitted[0] in names:
            return self.emitted
        step = self._due(fault)
        if step.tool not in names:
            return self._elsewhere(names)
        arguments = self._arguments(step)
        if fault is Fault.MALFORMED:
            return _BROKEN
        if fault is Fault.UNKNOWN_TOOL:
            return _NO_TOOL, arguments
        if fault is Fault.WRONG_ARGUMENT and arguments:
            first, *others = arguments
            return step.tool, {
                _NO_ARGUMENT: arguments[first],
                **{key: arguments[key] for key in others},
            }
        self.emitted = step.tool, arguments
        return self.emitted

    def _due(self, fault: Fault | None) -> ChainStep:
        later = self.at + 1
        if fault is Fault.WRONG_ORDER and later < len(self.chain.steps):
            return self.chain.steps[later]
        return self.step

    def _elsewhere(self, names: list[str]) -> str | tuple[str, dict[str, Any]]:
        """Act where the due tool is not offered: hand over, look around, or say what there is."""
        owner = self.team.owner(self.step.tool)
        if f"{HANDOFF}{owner}" in names:
            return f"{HANDOFF}{owner}", {}
        if self.closing:
            self.told = True
            return self.sentence()
        if names == ["list_layers"] or ("list_layers" in names and REJECT in names):
            return "list_layers", {}
        return f"My part is done. {self.last}".strip()

    # -- replies held to a schema

    def _held(self, schema: dict[str, Any], fault: Fault | None) -> str:
        if "tasks" in schema.get("properties", {}):
            made = plan(self.chain, schema["properties"], fault, self.earlier)
            return json.dumps(made, ensure_ascii=False)
        branches = schema.get("anyOf", [schema])
        tools: dict[str, dict[str, Any]] = {}
        for branch in branches:
            properties = branch.get("properties", {})
            if "tool" in properties:
                tools.setdefault(properties["tool"]["enum"][0], properties)
        if not tools:
            return json.dumps(self._said(schema.get("properties", {})), ensure_ascii=False)
        name, arguments = self._within(list(tools), fault)
        said = {
            key: one["enum"][0]
            for key, one in tools[name].items()
            if key not in ("tool", "arguments") and one.get("enum")
        }
        return json.dumps({**said, "tool": name, "arguments": arguments}, ensure_ascii=False)

    def _within(self, names: list[str], fault: Fault | None) -> tuple[str, dict[str, Any]]:
        if fault is Fault.EARLY_END and ANSWER in names:
            return ANSWER, {}
        if fault is Fault.LOOP and self.emitted is not None and self.emitted[0] in names:
            return self.emitted
        step = self._due(fault)
        if step.tool not in names:
            step = self.step
        if step.tool not in names:
            return names[0], {}
        self.emitted = step.tool, self._arguments(step)
        return self.emitted

    def _said(self, properties: dict[str, Any]) -> dict[str, Any]:
        """Return what Init asks for: the intent of the chain, the earlier result that it speaks
        of, and the layers that it names. The work begins there, so what was done before does not
        count."""
        self.at, self.ids = 0, dict(self.earlier)
        said: dict[str, Any] = {}
        named = json.dumps([dict(one.arguments) for one in self.chain.steps], ensure_ascii=False)
        for key, one in properties.items():
            if key == "USER_INTENT" and self.chain.intent in one.get("enum", ()):
                said[key] = self.chain.intent
            elif key == "REFERS_TO":
                spoken = {own for name, own in self.earlier.items() if f'"${name}' in named}
                offered = one["enum"]
                said[key] = next((own for own in offered if own in spoken), offered[0])
            elif one.get("type") == "array":
                known = one["items"].get("enum", [])
                used = [name for name in known if json.dumps(name)[1:-1] in named]
                said[key] = (used or known)[: one.get("maxItems", len(known))]
            elif one.get("enum"):
                said[key] = one["enum"][0]
            else:
                said[key] = ""
        return said

    def _usage(self, request: ChatRequest, written: str) -> Usage:
        """Estimate the tokens; messages that the request before began with count as cached."""
        used = guessed(request, written)
        texts = [message.content for message in request.messages]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(texts, self.seen))
        shared = sum(len(one) for one, _ in same) / max(sum(map(len, texts)), 1)
        self.seen = texts
        cached = int(used.prompt * shared)
        return Usage(used.prompt, cached, used.prompt - cached, used.generated, estimated=True)
