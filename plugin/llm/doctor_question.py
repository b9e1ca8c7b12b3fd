# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor's small tool questions over an invented project, asked as a chat would ask them and
graded exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...tools.base import BandProfile, Family, FieldProfile, LayerProfile, ToolDefinition
from ..agent.message import Message, Role, ToolCall
from .base import Cancelled, ChatModel, Choice
from .doctor_ask import Asked, choose
from .doctor_report import Check, Finding, Grade
from .speaker import Mode, ModelSpeaker

REPLY = 160
FINE, PASSED = 11, 8
"""Right choices from which on a model is fine, and from which on it can be used."""

_SEED = 7


@dataclass(frozen=True)
class Question:
    """One question: what it tests, its words, and the right call.

    `same` are arguments that mean the same as the right ones, such as 2,000 m for 2 km.
    """

    label: str
    text: str
    tool: str
    arguments: dict[str, Any]
    same: tuple[dict[str, Any], ...] = ()

    def call(self) -> str:
        """Write the right call as a model would."""
        return json.dumps({"tool": self.tool, "arguments": self.arguments})


@dataclass(frozen=True)
class QuestionSet:
    """The invented project, its tools with the stage of each ("" is every stage), and what is
    asked of it; `system` is the text before, with {layers} and {tools} to be filled in, and
    `examples` are worked ones, shown as turns as in a chat."""

    system: str
    layers: tuple[LayerProfile, ...]
    tools: tuple[ToolDefinition, ...]
    stages: dict[str, str]
    examples: tuple[Question, ...]
    questions: tuple[Question, ...]

    def of_stage(self, tool: str) -> tuple[ToolDefinition, ...]:
        """Return the tools that the stage of a tool offers."""
        wanted = self.stages[tool]
        return tuple(item for item in self.tools if self.stages[item.name] in ("", wanted))

    def messages(self, question: Question, tools: Sequence[ToolDefinition]) -> tuple[Message, ...]:
        """Return the conversation that asks one question with these tools."""
        layers = "\n".join(f"- {_line(layer)}" for layer in self.layers)
        named = "\n".join(
            f"- {tool.name}({', '.join(tool.parameters['properties'])}): {tool.description}"
            for tool in tools
        )
        system = self.system.format(layers=layers, tools=named)
        known = {tool.name for tool in tools}
        shown = [
            Message(role, text)
            for example in self.examples
            if example.tool in known
            for role, text in ((Role.USER, example.text), (Role.ASSISTANT, example.call()))
        ]
        return (Message(Role.SYSTEM, system), *shown, Message(Role.USER, question.text))


@dataclass(frozen=True)
class Answered:
    """One question and what came of it."""

    question: Question
    right: bool
    asked: Asked


def load(path: Path) -> QuestionSet:
    """Read the questions. Raises OSError, KeyError and ValueError when the file is not whole."""
    told = json.loads(path.read_text(encoding="utf-8"))
    return QuestionSet(
        told["system"],
        tuple(_layer(item) for item in told["layers"]),
        tuple(_tool(item) for item in told["tools"]),
        {item["name"]: item["stage"] for item in told["tools"]},
        tuple(_question(item) for item in told["examples"]),
        tuple(_question(item) for item in told["questions"]),
    )


def answers(
    model: ChatModel,
    mode: Mode,
    asked: QuestionSet,
    questions: Sequence[Question],
    all_tools: bool,
    cancelled: Cancelled,
) -> Iterator[Answered]:
    """Ask the questions one by one, with all tools or those of the stage. Raises as a Speaker."""
    speaker = ModelSpeaker(model, mode.value, REPLY, 0.0, _SEED)
    for question in questions:
        tools = asked.tools if all_tools else asked.of_stage(question.tool)
        choice = Choice(tools, asked.layers)
        spoken, timed = choose(speaker.choose(asked.messages(question, tools), choice, cancelled))
        yield Answered(question, is_right(spoken.calls, question), timed)


def is_right(calls: Sequence[ToolCall], question: Question) -> bool:
    """Tell whether the first call is the right one: its tool, and each of its arguments.

    A number may stand as text, as a tool would take it; nothing may be added or left out.
    """
    if not calls or calls[0].name != question.tool:
        return False
    given = calls[0].arguments
    return any(
        given.keys() == wanted.keys()
        and all(_same(given[key], value) for key, value in wanted.items())
        for wanted in (
            question.arguments,
            *({**question.arguments, **one} for one in question.same),
        )
    )


def finding(results: Sequence[Answered], reason: str = "") -> Finding:
    """Say how many choices were right, and name the missed kinds."""
    right, missed = _right(results), [one.question.label for one in results if not one.right]
    said = f"{right} of {len(results)} small tool questions"
    numbers = {"right": float(right), "asked": float(len(results))}
    meaning = f"Missed: {', '.join(missed)}" if missed else "All tools and arguments as asked"
    grade = Grade.FINE if right >= FINE else Grade.WARNING if right >= PASSED else Grade.ERROR
    return Finding(Check.CHOICES, grade, said, f"{meaning}{reason}", numbers)


def _right(results: Sequence[Answered]) -> int:
    return sum(one.right for one in results)


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(wanted, (int, float)) and not isinstance(given, bool):
        try:
            return float(given) == float(wanted)
        except (TypeError, ValueError):
            return False
    return bool(given == wanted)


def _line(layer: LayerProfile) -> str:
    what = layer.geometry if layer.features < 0 else f"{layer.features} {layer.geometry}s"
    names = ", ".join(item.name for item in layer.fields) or f"{len(layer.bands)} band"
    return f"{layer.key} ({what}, {layer.crs}): {names}"


def _question(told: dict[str, Any]) -> Question:
    same = tuple(told.get("or", ()))
    label = told.get("label", "")
    return Question(label, told["text"], told["tool"], told["arguments"], same)


def _layer(told: dict[str, Any]) -> LayerProfile:
    return LayerProfile(
        told["name"],
        told["name"],
        Family(told["family"]),
        told["geometry"],
        told["crs"],
        features=told["features"],
        fields=tuple(FieldProfile(name, kind) for name, kind in told.get("fields", ())),
        bands=tuple(BandProfile(at + 1, "") for at in range(told.get("bands", 0))),
    )


def _tool(told: dict[str, Any]) -> ToolDefinition:
    properties = told["arguments"]
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolDefinition(told["name"], told["text"], schema)
