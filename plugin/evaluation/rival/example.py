# SPDX-License-Identifier: GPL-2.0-or-later
"""Worked examples for the rivals: thought, call and result of each step, chosen by likeness."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...agent.example import Example, ExampleBank, Step
from ...agent.message import Message, Role, ToolCall
from .thread import OBSERVED


@dataclass(frozen=True)
class Worked:
    """One example: its question with the layers, and each step's thought, call and result."""

    example: Example
    thoughts: tuple[str, ...]

    def in_text(self) -> list[Message]:
        """Write it as turns of thought, action and observation."""
        turns, said = [], self._opening()
        for thought, step in zip(self.thoughts, self.example.steps):
            call = json.dumps({"tool": step.tool, "arguments": step.arguments}, ensure_ascii=False)
            turns += [
                Message(Role.USER, said),
                Message(Role.ASSISTANT, f"Thought: {thought}\nAction: {call}"),
            ]
            said = f"{OBSERVED} {step.result}"
        return turns

    def in_chat(self, number: int) -> list[Message]:
        """Write it as turns of native calls, with ids told apart by the example's number."""
        turns = [Message(Role.USER, self._opening())]
        for at, (thought, step) in enumerate(zip(self.thoughts, self.example.steps)):
            call = ToolCall(f"shown{number:02d}{at:02d}", step.tool, dict(step.arguments))
            turns += [
                Message(Role.ASSISTANT, f"Thought: {thought}", (call,)),
                Message(Role.TOOL, step.result or "Done.", call_id=call.id, name=call.name),
            ]
        return turns

    def _opening(self) -> str:
        lines = "\n".join(f"- {line}" for line in self.example.layers)
        return f"Layers:\n{lines}\nQuestion: {self.example.question}"


class WorkedBank:
    """The examples of the rivals, ranked by likeness to a question as ours are."""

    def __init__(self, examples: Sequence[Worked]) -> None:
        self.examples = tuple(examples)
        self._by_question = {one.example.question: one for one in examples}
        self._bank = ExampleBank(tuple(one.example for one in examples))

    def nearest(self, question: str, count: int) -> tuple[Worked, ...]:
        """Return the `count` most alike, the most alike last."""
        found = self._bank.nearest(question, "", count)
        return tuple(self._by_question[one.question] for one in found)


def _worked(item: dict[str, Any]) -> Worked:
    steps = tuple(
        Step("", one["tool"], one["arguments"], one.get("result", "")) for one in item["steps"]
    )
    example = Example(item["question"], tuple(item["layers"]), "", "", steps)
    return Worked(example, tuple(one["thought"] for one in item["steps"]))


def load(path: Path) -> WorkedBank:
    """Read the examples. Raises OSError, ValueError or KeyError for a broken file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return WorkedBank([_worked(item) for item in data["examples"]])
