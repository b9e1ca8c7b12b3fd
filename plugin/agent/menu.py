# SPDX-License-Identifier: GPL-2.0-or-later
"""What a state offers to the model: few tools, fitting layers and results, worked examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...tools.base import LayerProfile, Toolbox, ToolDefinition
from ..llm.base import Choice
from . import prompt
from .chat import Chat
from .closing import ANSWER, REJECT, with_value
from .example import Example, ExampleBank
from .message import Message
from .state import State, Workflow

_EXAMPLES = 3
_NEEDS_LENGTH = 120
_LAYERS = 4


@dataclass
class Menu:
    """The offers of one run. `intent` and `missing` are known after Init; `free` opens every tool
    of the reachable states, once something went wrong."""

    workflow: Workflow
    bank: ExampleBank
    toolbox: Toolbox
    chat: Chat
    exposure: str
    question: str
    intent: str = ""
    missing: str = ""
    free: bool = False

    def initial(self, keys: list[str]) -> Choice:
        """Return what Init may say: what is needed, the intent, and layers among `keys`."""
        said: dict[str, dict[str, Any]] = {
            "CURRENT_STAGE": {"type": "string", "enum": [self.workflow.initial]},
            "NEEDS": {"type": "string", "maxLength": _NEEDS_LENGTH},
            "USER_INTENT": {"type": "string", "enum": [one.name for one in self.workflow.intents]},
            "layers": {
                "type": "array",
                "items": {"type": "string", "enum": keys},
                "minItems": 1,
                "maxItems": min(_LAYERS, len(keys)),
            },
        }
        return Choice(said=said)

    def understood(self, said: dict[str, Any], layers: tuple[LayerProfile, ...]) -> list[str]:
        """Take what Init said; return the layers to load."""
        keys = [layer.name for layer in layers]
        self.intent = str(said.get("USER_INTENT", ""))
        self.missing = prompt.missing(str(said.get("NEEDS", "")), layers)
        named = [key for key in dict.fromkeys(said.get("layers") or []) if key in keys]
        return named or keys[:_LAYERS]

    def choice(self, stage: str) -> Choice:
        """Return what the next reply may be, in the states that `stage` leads to."""
        states = self.workflow.reachable(stage)
        tools = self._usual(states)
        return Choice(
            tools,
            self.toolbox.layers(),
            self.chat.references(),
            {"CURRENT_STAGE": {"type": "string", "enum": [item.name for item in states]}},
            {
                tool.name: tuple(item.name for item in states if tool.name in item.tools)
                for tool in tools
            },
        )

    def correction(self, tool: ToolDefinition | None) -> Choice:
        """Return what a corrected call may be: the same tool, or any for an unknown one."""
        tools = (tool,) if tool else self._all(self.workflow.reachable(self.workflow.error))
        return Choice(tools, self.toolbox.layers(), self.chat.references())

    def offer(self, stage: str) -> list[Message]:
        """Describe the tools and show the examples most alike, each once in a chat.

        With the exposure "filter" only the usual tools of this intent are described, with "hint"
        all of the reachable states; what may be called is held by `choice` either way.
        """
        states = self.workflow.reachable(stage)
        tools = self._usual(states) if self.exposure == "filter" else self._all(states)
        fresh = tuple(tool for tool in tools if tool.name not in self.chat.shown)
        alike = tuple(item for item in self._alike() if item.question not in self.chat.shown)
        self.chat.shown |= {*(tool.name for tool in fresh), *(item.question for item in alike)}
        return prompt.offer(states, fresh, alike)

    def _usual(self, states: tuple[State, ...]) -> tuple[ToolDefinition, ...]:
        tools = self._all(states)
        if self.missing and not self.free:
            return tuple(tool for tool in tools if tool.name == REJECT)
        if not self.free:
            shown = {step.tool for item in self._alike() for step in item.steps}
            usual = {*self.bank.tools(self.intent), *shown, ANSWER, REJECT}
            tools = tuple(tool for tool in tools if tool.name in usual)
        intent = self.workflow.intent(self.intent)
        if intent is None or not intent.value or not self.chat.numbers():
            return tools
        return tuple(with_value(tool) if tool.name == ANSWER else tool for tool in tools)

    def _all(self, states: Iterable[State]) -> tuple[ToolDefinition, ...]:
        offered = {name for item in states for name in item.tools}
        return tuple(tool for tool in self.toolbox.definitions() if tool.name in offered)

    def _alike(self) -> tuple[Example, ...]:
        return self.bank.nearest(self.question, self.intent, _EXAMPLES)
