# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what the model reads, from the workflow, the layers, the tools and the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...tools.base import LayerProfile, ToolDefinition
from .example import Example
from .message import Message, Role, ToolCall
from .state import State, Workflow

_FIELDS_LISTED = 40


@dataclass(frozen=True)
class Prompts:
    """The texts of `resources/prompts`; words in braces are filled in."""

    system: str
    reflect: str
    confirm: str
    summary: str


def load(folder: Path) -> Prompts:
    """Read the prompt texts. Raises OSError when one is missing."""
    names = ("system", "reflect", "confirm", "summary")
    return Prompts(
        *((folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in names)
    )


def system(prompts: Prompts, workflow: Workflow) -> Message:
    """Return the system message: the same for a whole chat, so that the server's cache holds."""
    stages = "\n".join(
        f"- {state.name}: {state.purpose}"
        for state in workflow.states
        if state.name != workflow.error
    )
    return Message(Role.SYSTEM, prompts.system.format(stages=stages))


def layer_line(layer: LayerProfile) -> str:
    """Describe a layer in one line: name, kind, CRS, fields or bands."""
    parts = [layer.geometry if layer.features < 0 else f"{layer.features} {layer.geometry}"]
    if layer.family.value != "table":
        parts.append(layer.crs or "no CRS")
    text = f"- {layer.key} ({', '.join(parts)})"
    if layer.fields:
        names = [item.name for item in layer.fields[:_FIELDS_LISTED]]
        more = len(layer.fields) - len(names)
        text += ": " + ", ".join(names) + (f" and {more} more" if more else "")
    elif layer.bands:
        text += f": {len(layer.bands)} band{'s' if len(layer.bands) > 1 else ''}"
    return text


def question(
    text: str, layers: Sequence[LayerProfile], workflow: Workflow, examples: Sequence[Example]
) -> Message:
    """Return the message that opens a turn: the layers, what Init asks for, the question."""
    intents = "; ".join(f"{item.name}: {item.purpose}" for item in workflow.intents)
    lines = [
        "Layers:",
        *(layer_line(layer) for layer in layers),
        f"CURRENT_STAGE = {workflow.initial}. Name the USER_INTENT and the layers needed.",
        intents,
        *(_path(item) for item in examples),
        f"Question: {text}",
    ]
    return Message(Role.USER, "\n".join(lines))


def _path(example: Example) -> str:
    """Show which intent an example has, and the stages that it takes after Load."""
    stages = ", ".join(dict.fromkeys(step.stage for step in example.steps))
    return f"{example.question} -> {example.intent}; {stages}"


def signature(tool: ToolDefinition) -> str:
    """Write a tool in one line: name, arguments, sentence."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    names = [name if name in required else f"{name}?" for name in properties]
    return f"{tool.name}({', '.join(names)}): {tool.description}"


def offer(
    states: Iterable[State],
    tools: Sequence[ToolDefinition],
    examples: Sequence[Example],
    text: str,
) -> Message:
    """Return the message that offers tools of these states with worked examples, if any are new."""
    known = {tool.name: tool for tool in tools}
    lines = []
    for state in states:
        own = [known[name] for name in state.tools if name in known]
        if own:
            lines.append(f"{state.name}:")
            lines += [f"  {signature(tool)}" for tool in own]
    if examples:
        lines.append("Examples, over other layers:")
        lines += [example.text() for example in examples]
    lines.append(f"Question: {text}")
    if not tools and not examples:
        lines.append("If a result answers it, CURRENT_STAGE is Answer; else make the next call.")
    return Message(Role.USER, "\n".join(lines))


def result(call: ToolCall, text: str, native: bool) -> Message:
    """Return the result as a tool message, or as a user message where calls stand in text."""
    if native:
        return Message(Role.TOOL, text, call_id=call.id, name=call.name)
    return Message(Role.USER, f"Result of {call.name}:\n{text}")


def reflection(
    prompts: Prompts,
    text: str,
    call: ToolCall,
    error: str,
    definition: ToolDefinition | None,
    layers: Sequence[LayerProfile],
) -> Message:
    """Return the standalone question about a failed call (paper, section 3, error handling)."""
    made = json.dumps({"tool": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return Message(
        Role.USER,
        prompts.reflect.format(
            question=text,
            call=made,
            error=error,
            definition=signature(definition) if definition else "unknown tool",
            layers="\n".join(layer_line(layer) for layer in layers),
        ),
    )


def confirm(prompts: Prompts, text: str, results: str) -> Message:
    """Return the question that confirms the end (paper, section 3, task completion)."""
    return Message(Role.USER, prompts.confirm.format(question=text, results=results))


def as_json(value: Any) -> str:
    """Write a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)
