# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what the model reads, from the workflow, the layers, the tools and the results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...tools.base import LayerProfile, ToolDefinition
from .example import Example
from .message import Message, Role, ToolCall
from .state import State, Workflow

_FIELDS_LISTED = 40
_FIRST_WORDS = 4
_SECOND_WORD = 2
_ROOM = 9_000
"""Characters for the list of layers; a third of what a model with 8,192 tokens reads."""


@dataclass(frozen=True)
class Prompts:
    """The texts of `resources/prompts`; words in braces are filled in."""

    system: str
    reflect: str
    confirm: str
    summary: str
    references: frozenset[str] = frozenset()
    continuing: frozenset[str] = frozenset()
    undoing: frozenset[str] = frozenset()
    showing: frozenset[str] = frozenset()
    english: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    generic: frozenset[str] = frozenset()

    def is_english(self, question: str) -> bool:
        """Tell whether a question has a common English word; a question without is put into
        English by the model first, which small ones read far better."""
        return not self.english.isdisjoint(_words(question))

    def continues(self, question: str) -> bool:
        """Tell whether a question begins as one that is only whole with the question before."""
        return not self.continuing.isdisjoint(_words(question)[:_SECOND_WORD])

    def is_generic(self, text: str) -> bool:
        """Tell whether a text has a word that may be said for the features of any layer."""
        return not self.generic.isdisjoint(_words(text))

    def undoes(self, question: str) -> bool:
        """Tell whether a question only takes back what was done last: it is short and begins with
        a word for that."""
        words = _words(question)
        return len(words) <= _FIRST_WORDS and not self.undoing.isdisjoint(words[:_SECOND_WORD])

    def shows(self, question: str) -> bool:
        """Tell whether a question asks to see something on the map."""
        return not self.showing.isdisjoint(_words(question))

    def refers(self, question: str) -> bool:
        """Tell whether a question begins with a word that speaks of something before it.

        Only the first words count: further on, "them" may mean what the question itself named.
        """
        return not self.references.isdisjoint(_words(question)[:_FIRST_WORDS])

    def mentions(self, question: str) -> bool:
        """Tell whether a question has such a word anywhere."""
        return not self.references.isdisjoint(_words(question))


def load(folder: Path) -> Prompts:
    """Read the prompt texts. Raises OSError when one is missing."""
    system, reflect, confirm, summary = (
        (folder / f"{name}.txt").read_text(encoding="utf-8").strip()
        for name in ("system", "reflect", "confirm", "summary")
    )
    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    kinds = ("references", "continuing", "undoing", "showing", "english", "ignored", "generic")
    lists = [frozenset(" ".join(words[kind].values()).split()) for kind in kinds]
    return Prompts(system, reflect, confirm, summary, *lists)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())


def system(prompts: Prompts, workflow: Workflow) -> Message:
    """Return the system message: the same for a whole chat, so that the server's cache holds."""
    stages = "\n".join(
        f"- {state.name}: {state.purpose}"
        for state in workflow.states
        if state.name != workflow.error
    )
    intents = "\n".join(f"- {item.name}: {item.purpose}" for item in workflow.intents)
    return Message(Role.SYSTEM, prompts.system.format(stages=stages, intents=intents))


def layer_lines(layers: Sequence[LayerProfile], text: str, room: int = _ROOM) -> list[str]:
    """Describe the layers in a line each, within `room` characters.

    Where there are too many, those that `text` speaks of keep their fields before the others do,
    and what does not fit at all is counted.
    """
    lines = [layer_line(layer) for layer in layers]
    if sum(map(len, lines)) <= room:
        return lines
    lines = [layer_line(layer, fields=False) for layer in layers]
    asked = _stems(text)
    order = sorted(range(len(layers)), key=lambda at: not asked & _stems(_names(layers[at])))
    left, kept = room, set()
    for at in order:
        left -= len(lines[at]) + 3
        if left > 0:
            kept.add(at)
    for at in order:
        full = layer_line(layers[at])
        if at in kept and len(full) - len(lines[at]) < left:
            left -= len(full) - len(lines[at])
            lines[at] = full
    shown = [lines[at] for at in range(len(lines)) if at in kept]
    more = len(layers) - len(shown)
    return [*shown, f"… and {more} more layers"] if more else shown


def layer_line(layer: LayerProfile, fields: bool = True) -> str:
    """Describe a layer in one line: name, kind, CRS, fields or bands."""
    parts = [layer.geometry if layer.features < 0 else _many(layer)]
    if layer.family.value != "table":
        parts.append(layer.crs or "no CRS")
    text = f"{layer.title} ({', '.join(parts)})"
    if layer.fields and fields:
        names = [item.name for item in layer.fields[:_FIELDS_LISTED]]
        more = len(layer.fields) - len(names)
        text += ": " + ", ".join(names) + (f" and {more} more" if more else "")
    elif layer.bands:
        text += f": {len(layer.bands)} band{'s' if len(layer.bands) > 1 else ''}"
    return text


def _many(layer: LayerProfile) -> str:
    plural = "" if layer.features == 1 or layer.family.value == "table" else "s"
    height = " with Z" if layer.has_z else ""
    return f"{layer.features} {layer.geometry}{plural}{height}"


def initial(examples: Iterable[Example], workflow: Workflow) -> list[Message]:
    """Return the turns that show what Init asks for."""
    turns = []
    for example in examples:
        said = {
            "CURRENT_STAGE": workflow.initial,
            "REFERS_TO": example.refers,
            **({"ENGLISH": example.english} if example.english else {}),
            "NEEDS": example.needs,
            "USER_INTENT": example.intent,
            "layers": example.keys,
        }
        turns += [
            Message(Role.USER, _question(example.layers, example.question)),
            Message(Role.ASSISTANT, as_json(said)),
        ]
    return turns


def question(text: str, layers: Sequence[LayerProfile]) -> Message:
    """Return the message that opens a turn: the layers in a line each, and the question."""
    return Message(Role.USER, _question(layer_lines(layers, text), text))


def _question(lines: Iterable[str], text: str) -> str:
    return "\n".join(["Layers:", *(f"- {line}" for line in lines), f"Question: {text}"])


def signature(tool: ToolDefinition) -> str:
    """Write a tool in one line: name, arguments, sentence."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    names = [name if name in required else f"{name}?" for name in properties]
    return f"{tool.name}({', '.join(names)}): {tool.description}"


def offer(
    states: Iterable[State], tools: Sequence[ToolDefinition], examples: Sequence[Example]
) -> list[Message]:
    """Return the turns that offer tools of these states and show worked examples of them."""
    known = {tool.name: tool for tool in tools}
    lines = []
    for state in states:
        own = [known.pop(name) for name in state.tools if name in known]
        if own:
            lines.append(f"{state.name}:")
            lines += [f"  {signature(tool)}" for tool in own]
    turns: list[Message] = []
    said = "\n".join(["Tools, by stage:", *lines, "Examples:", ""]) if lines else ""
    for example in examples:
        said += _question(example.used, example.question)
        for step in example.steps:
            turns += [Message(Role.USER, said), Message(Role.ASSISTANT, step.text())]
            said = step.result
        said = ""
    return turns or (
        [Message(Role.USER, said), Message(Role.ASSISTANT, "Understood.")] if said else []
    )


def narrowing(tools: Iterable[ToolDefinition]) -> str:
    """Return the line that names which of all tools may be called now."""
    return "Tools now: " + ", ".join(tool.name for tool in tools)


def begin(details: Sequence[str], text: str, english: str) -> Message:
    """Return the message that asks for the first call, with the loaded layers in detail, and
    with the question in English too where it is asked in another language."""
    asked = f"{text} ({english})" if english else text
    return Message(Role.USER, "\n".join(["Layers:", *details, f"Question: {asked}"]))


def result(call: ToolCall, text: str, native: bool) -> Message:
    """Return the result as a tool message, or as a user message where calls stand in text."""
    if native:
        return Message(Role.TOOL, text, call_id=call.id, name=call.name)
    return Message(Role.USER, text)


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
            layers="\n".join(f"- {line}" for line in layer_lines(layers, text)),
        ),
    )


def missing(needs: str, layers: Sequence[LayerProfile]) -> str:
    """Return what the model says is held nowhere, if no name in the project speaks of it either.

    `needs` is a list of "thing = place" where the place may be none; a thing one of whose words
    begins like a layer, field or value name is left to the model.
    """
    known = {stem for layer in layers for stem in _stems(_names(layer))}
    for part in needs.split(","):
        thing, _, place = part.partition("=")
        if place.strip().lower() != "none":
            continue
        if not any(a.startswith(b) or b.startswith(a) for a in _stems(thing) for b in known):
            return thing.strip()
    return ""


def names_something(text: str, layers: Iterable[LayerProfile]) -> bool:
    """Tell whether a text has a word that begins like a name of these layers, their fields or
    values."""
    asked = _stems(text)
    return any(asked & _stems(_names(layer)) for layer in layers)


def _names(layer: LayerProfile) -> str:
    words = [layer.key, layer.geometry, layer.family.value, "band value" if layer.bands else ""]
    words += [band.name for band in layer.bands]
    for item in layer.fields:
        words += [item.name, item.alias, *item.samples]
    return " ".join(words)


def _stems(text: str) -> set[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|_|\d", " ", text)
    return {word[:4].lower() for word in re.findall(r"[^\W\d_]{3,}", apart)}


def confirm(prompts: Prompts, text: str, results: str) -> Message:
    """Return the question that confirms the end (paper, section 3, task completion)."""
    return Message(Role.USER, prompts.confirm.format(question=text, results=results))


def as_json(value: Any) -> str:
    """Write a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)
