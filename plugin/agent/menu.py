# SPDX-License-Identifier: GPL-2.0-or-later
"""What a state offers to the model: few tools, fitting layers and results, worked examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...tools.base import LayerProfile, Toolbox, ToolDefinition, ancestors
from ..llm.base import Choice
from . import prompt
from .chat import Chat
from .closing import ANSWER, REJECT, with_value
from .example import NOTHING, Example, ExampleBank
from .message import Message
from .state import State, Workflow

_EXAMPLES = 3
_NEAR = 11
"""Examples that are shown; and those whose tools are offered too, if the intent is theirs."""
_NEEDS_LENGTH, _ENGLISH_LENGTH = 120, 300
_LAYERS = 4
_PLACE = ("Location",)
_INFO = "layer_info"


@dataclass
class Menu:
    """The offers of one run. `intent` and `missing` are known after Init; `free` opens every tool
    of the reachable states, once something went wrong.

    With the exposure "filter" only the usual tools of an intent are described, after Init. With
    "hint" all tools are described at the head of the chat, so that its beginning is the same
    whatever is asked, and a last line names those that may be called now. What may be called is
    held by `choice` either way.
    """

    workflow: Workflow
    bank: ExampleBank
    toolbox: Toolbox
    chat: Chat
    exposure: str
    question: str
    intent: str = ""
    missing: str = ""
    english: str = ""
    kinds: tuple[str, ...] = ()
    free: bool = False
    follows: LayerProfile | None = None
    hidden: frozenset[str] = frozenset()
    called: set[str] = field(default_factory=set)
    loaded: frozenset[str] = frozenset()

    def initial(
        self, layers: tuple[LayerProfile, ...], refers: bool, is_whole: bool = True
    ) -> Choice:
        """Return what Init may say: the earlier result that the question speaks of, the whole
        question in English where it is not, what is needed, the intent, and the layers. With
        `refers` it does speak of a result, if there is any.
        """
        keys = [layer.name for layer in layers]
        earlier = [layer.name for layer in reversed(layers) if layer.short]
        said: dict[str, dict[str, Any]] = {
            "CURRENT_STAGE": {"type": "string", "enum": [self.workflow.initial]},
            "REFERS_TO": {
                "type": "string",
                "enum": earlier if earlier and refers else [NOTHING, *earlier],
            },
            **({} if is_whole else {"ENGLISH": {"type": "string", "maxLength": _ENGLISH_LENGTH}}),
            "NEEDS": {"type": "string", "maxLength": _NEEDS_LENGTH},
            "USER_INTENT": {"type": "string", "enum": [one.name for one in self.workflow.intents]},
            "layers": {
                "type": "array",
                "items": {"type": "string", "enum": keys},
                "minItems": 1,
                "maxItems": min(_LAYERS, len(keys)),
            },
        }
        return Choice(said=said, offered=self._offered())

    def understood(self, said: dict[str, Any], layers: tuple[LayerProfile, ...]) -> list[str]:
        """Take what Init said; return the layers to load.

        What a follow-up speaks of comes first, and the layers that it was made from are out of
        reach, so that its conditions cannot be lost; but for a question of place, in which both
        may play a part.
        """
        keys = {layer.name: layer for layer in layers}
        self.intent = str(said.get("USER_INTENT", ""))
        self.missing = prompt.missing(str(said.get("NEEDS", "")), layers)
        self.english = str(said.get("ENGLISH", "")).strip()
        self.follows = keys.get(str(said.get("REFERS_TO", "")))
        named = [key for key in dict.fromkeys(said.get("layers") or []) if key in keys]
        needed = named or list(keys)[:_LAYERS]
        if self.follows is not None:
            hides = self.intent not in _PLACE
            self.hidden = ancestors(self.follows, layers) if hides else frozenset()
            others = [one for one in named if one not in {self.follows.name, *self.hidden}]
            needed = [self.follows.name, *others]
        self.kinds = tuple(keys[name].geometry for name in needed)
        self.loaded = frozenset(needed)
        return needed

    def _is_done(self, tool: ToolDefinition) -> bool:
        """Tell whether a tool would only do again what was done: one without arguments that was
        called, or a look at layers that were all loaded."""
        if tool.name == _INFO:
            return all(layer.name in self.loaded for layer in self._layers())
        return tool.name in self.called and not tool.parameters.get("properties")

    def _layers(self) -> tuple[LayerProfile, ...]:
        layers = self.toolbox.layers()
        if self.free:
            return layers
        return tuple(layer for layer in layers if layer.name not in self.hidden)

    def choice(self, stage: str) -> Choice:
        """Return what the next reply may be, in the states that `stage` leads to."""
        states = self.workflow.reachable(stage, self.intent)
        tools = tuple(tool for tool in self._usual(states) if not self._is_done(tool))
        return Choice(
            tools,
            self._layers(),
            self.chat.references(),
            {"CURRENT_STAGE": {"type": "string", "enum": [item.name for item in states]}},
            {
                tool.name: tuple(item.name for item in states if tool.name in item.tools)
                for tool in tools
            },
            self._offered(),
        )

    def correction(self, tool: ToolDefinition | None) -> Choice:
        """Return what a corrected call may be: the same tool, or any for an unknown one."""
        after_error = self.workflow.reachable(self.workflow.error, self.intent)
        tools = (tool,) if tool else self._all(after_error)
        return Choice(tools, self.toolbox.layers(), self.chat.references())

    def head(self) -> list[Message]:
        """Return the description of all tools, with which a chat begins; none with "filter"."""
        tools = self._offered()
        return prompt.offer(self.workflow.states, tools, ()) if tools else []

    def begin_chat(self) -> None:
        """Remember what the head of a chat describes."""
        self.chat.shown |= {tool.name for tool in self._offered()}

    def narrowing(self, choice: Choice) -> str:
        """Return the line that names the tools of a choice among all; "" with "filter"."""
        return prompt.narrowing(choice.tools) if self.exposure == "hint" else ""

    def _offered(self) -> tuple[ToolDefinition, ...]:
        return self._all(self.workflow.states) if self.exposure == "hint" else ()

    def offer(self, stage: str) -> list[Message]:
        """Describe the tools that a chat has not described yet, and show the examples most alike,
        each once in a chat."""
        states = self.workflow.reachable(stage, self.intent)
        tools = self._usual(states) if self.exposure == "filter" else self._all(states)
        fresh = tuple(tool for tool in tools if tool.name not in self.chat.shown)
        alike = tuple(item for item in self._alike() if item.question not in self.chat.shown)
        self.chat.shown |= {*(tool.name for tool in fresh), *(item.question for item in alike)}
        return prompt.offer(states, fresh, alike)

    def _usual(self, states: tuple[State, ...]) -> tuple[ToolDefinition, ...]:
        tools = self._all(states)
        if self.missing and not self.free:
            return tuple(tool for tool in tools if tool.name == REJECT)
        if not self.free and (not self.intent or self.bank.tools(self.intent)):
            near = [item for item in self._nearest(_NEAR) if item.fits(self.intent)]
            steps = [step for item in (*near, *self._alike()) for step in item.steps]
            usual = {*(step.tool for step in steps), ANSWER, REJECT}
            tools = tuple(tool for tool in tools if tool.name in usual)
        intent = self.workflow.intent(self.intent)
        if intent is None or not intent.value or not self.chat.numbers():
            return tools
        return tuple(with_value(tool) if tool.name == ANSWER else tool for tool in tools)

    def _all(self, states: Iterable[State]) -> tuple[ToolDefinition, ...]:
        offered = {name for item in states for name in item.tools}
        return tuple(tool for tool in self.toolbox.definitions() if tool.name in offered)

    def _alike(self) -> tuple[Example, ...]:
        return self._nearest(_EXAMPLES)

    def _nearest(self, count: int) -> tuple[Example, ...]:
        return self.bank.nearest(self.english or self.question, self.intent, count, self.kinds)
