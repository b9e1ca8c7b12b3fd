# SPDX-License-Identifier: GPL-2.0-or-later
"""What the meta-agent reads of a project, and the worked examples that it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..tools.base import LayerProfile, MendableError, Toolbox
from .agent import example, prompt, state
from .agent.example import NOTHING, Example, ExampleBank
from .llm.base import Cancelled
from .place import RESOURCES
from .workflow import phrase
from .workflow.briefing import Chosen, Understood
from .workflow.objective import Place
from .workflow.plan_example import Call, Worked, form_of
from .workflow.plan_form import ANSWER, REJECT
from .workflow.role import Roles

_FOLDER = RESOURCES / "workflows"
_WHOLE = 8
_SHOWN, _NEAR = 3, 8
"""Examples that are shown; and those whose tools are offered too, if the intent is theirs."""
_REFERENCE = re.compile(r"\b(r\d+)\.([A-Za-z_]\w*)")
_RESULT = re.compile(r"(r\d+): ")
_NUMBER = re.compile(r"(?<![\w.])([A-Za-z_]\w*) = -?\d")
_INFO = "layer_info"
_WORD = re.compile(r"[^\W\d_]{5,}")
_NAME = re.compile(r"\w+")
_STEM = 6
_UNDO = "undo"
_PLACES = 3
"""Fields that are told to hold a name."""


class ProjectBriefing:
    """The texts of a plan over one project; implements workflow.briefing.Briefing."""

    def __init__(
        self,
        toolbox: Toolbox,
        roles: Roles,
        cancelled: Cancelled,
        names: Mapping[str, Sequence[Place]] | None = None,
    ) -> None:
        """`names` are proper names among the layers' values, each with what holds it.

        Raises OSError or ValueError where a resource is broken.
        """
        self._names = names or {}
        self._toolbox, self._roles, self._cancelled = toolbox, roles, cancelled
        self._prompts = prompt.load(RESOURCES / "prompts")
        self._plan = (RESOURCES / "prompts" / "plan.txt").read_text(encoding="utf-8").strip()
        self._change = (RESOURCES / "prompts" / "change.txt").read_text(encoding="utf-8").strip()
        own = json.loads((_FOLDER / "graph_examples.json").read_text(encoding="utf-8"))
        self._changes: list[dict[str, Any]] = own["changes"]
        self._workflow = state.load(_FOLDER / "analysis.json")
        self._phrases = phrase.load(_FOLDER / "operations.json")
        self.bank = bank(self._prompts.ignored)
        self._follow_ups = bank(self._prompts.ignored, follow_ups=True)
        self._doable = {stem for one in toolbox.definitions() for stem in _stems(one.description)}
        self.intents = tuple(one.name for one in self._workflow.intents)

    def system(self) -> str:
        """Return the first message, the same for every question."""
        intents = "\n".join(f"- {one.name}: {one.purpose}" for one in self._workflow.intents)
        agents = "\n".join(f"- {one.name}: {one.scope}" for one in self._roles.all())
        return self._plan.format(intents=intents, agents=agents)

    def openings(self) -> Sequence[tuple[str, Mapping[str, object]]]:
        """Return the turns that show what is asked of a question first."""
        return [
            (
                "\n".join([_asked(one.layers, one.question), *_held_by(one)]),
                {
                    "REFERS_TO": one.refers,
                    **({"ENGLISH": one.english} if one.english else {}),
                    "NEEDS": one.needs,
                    "USER_INTENT": one.intent,
                    "layers": one.keys,
                },
            )
            for one in self._follow_ups.initial()
        ]

    def overview(self, question: str, layers: Sequence[LayerProfile]) -> str:
        """Return the layers, a line each, and the question, with what holds the names in it."""
        asked = _asked(prompt.layer_lines(layers, question), question)
        return "\n".join([asked, *self._held(question, {one.key for one in layers})])

    def refers(self, question: str) -> bool:
        """Tell whether a question begins with a word that speaks of an earlier result."""
        return self._prompts.refers(question)

    def mentions(self, question: str) -> bool:
        """Tell whether a question has such a word anywhere."""
        return self._prompts.mentions(question)

    def names_any(self, question: str, layers: Sequence[LayerProfile]) -> bool:
        """Tell whether a question names one of these layers, or a field or value of theirs."""
        known = [one.key for one in layers]
        known += [item.name for one in layers for item in one.fields]
        return bool(phrase.names(question, known) or phrase.proper(question, self._names))

    def names_field(
        self, question: str, layer: LayerProfile, others: Sequence[LayerProfile]
    ) -> bool:
        """Tell whether a question names a field of a layer that the others do not have."""
        known = {item.name.casefold() for one in others for item in one.fields}
        own = {item.name.casefold() for item in layer.fields} - known
        return not own.isdisjoint(_NAME.findall(question.casefold()))

    def is_part(self, question: str, layers: Sequence[LayerProfile]) -> bool:
        """Tell whether a question is only whole with the one before it: it begins so, or is short
        and names nothing of the project."""
        is_short = len(question.split()) < _WHOLE
        return self._prompts.continues(question) or (
            is_short and not prompt.names_something(question, layers)
        )

    def counted(self, question: str, layer: LayerProfile) -> str:
        """Return what a question asks the number of, where it is not plain that the features of
        a layer are that: neither its name, nor a field or value of it, is called so; else ""."""
        what = phrase.counted(question)
        is_plain = self._prompts.is_generic(what) or prompt.names_something(what, [layer])
        return "" if is_plain else what

    def is_english(self, question: str) -> bool:
        """Tell whether a question need not be put into English first."""
        return self._prompts.is_english(question)

    def missing(self, needs: str, layers: Sequence[LayerProfile]) -> str:
        """Return what the model says is needed and held nowhere, "" for nothing.

        What a tool can find out by itself, such as invalid polygons, need not be held.
        """
        found = prompt.missing(needs, layers)
        return "" if _stems(found) & self._doable else found

    def examples(self, question: str, understood: Understood) -> Chosen:
        """Return the worked examples most like a question, and the tools of those near by."""
        kinds = {one.name: one.geometry for one in self._toolbox.layers()}
        about = tuple(kinds[name] for name in understood.layers if name in kinds)
        examples = self._follow_ups if understood.refers else self.bank
        picks = len(phrase.proper(question, self._names))
        is_far = any(True for _ in self._phrases.distances(question))
        compares = self._phrases.says_number(question)
        like = (about, picks, is_far, compares)
        shown = examples.nearest(question, understood.intent, _SHOWN, *like)
        near = examples.nearest(question, understood.intent, _NEAR, *like)
        tools = {step.tool for one in near if one.fits(understood.intent) for step in one.steps}
        return Chosen(
            tuple(self._worked(one) for one in shown),
            frozenset({*tools, REJECT} - {ANSWER}),
        )

    def in_metres(self, text: str) -> str:
        """Return a text with its distances in metres too, where it has them in another unit, and
        with what it says in millions as a number."""
        for one in self._phrases.distances(text):
            if one.metres != one.number and text.count(one.text) == 1:
                text = text.replace(one.text, f"{one.text} ({one.metres:.10g} m)")
        for large in self._phrases.large_numbers(text):
            if text.count(large.text) == 1:
                text = text.replace(large.text, f"{large.text} ({large.number:.15g})")
        return text

    def revision_system(self) -> str:
        """Return the first message of a change, the same for every change."""
        return self._change

    def revisions(self) -> Sequence[tuple[str, Mapping[str, object]]]:
        """Return the turns that show how graphs are changed."""
        shown = []
        for one in self._changes:
            form = json.dumps({"tasks": one["tasks"], "answer": one["answer"]}, ensure_ascii=False)
            lines = _asked(one["layers"], one["question"])
            asked = "\n".join([lines, f"Workflow: {form}", one["said"]])
            shown.append((asked, {"changes": one["changes"]}))
        return shown

    def tools(self, names: Sequence[str]) -> str:
        """Describe the tools of these names, by their agents."""
        known = {one.name: one for one in self._toolbox.definitions() if one.name in names}
        lines = ["Tools, by agent:"]
        for one in self._roles.all():
            own = [known.pop(name) for name in one.tools if name in known]
            lines += [f"{one.name}:", *(f"  {prompt.signature(tool)}" for tool in own)] * bool(own)
        return "\n".join([*lines, *(prompt.signature(tool) for tool in known.values())])

    def task(self, question: str, understood: Understood) -> str:
        """Return the layers in detail and the question, in English too."""
        details = [self._detail(name) for name in understood.layers]
        asked = f"{question} ({understood.english})" if understood.english else question
        asked = self.in_metres(asked)
        known = {one.name: one.key for one in self._toolbox.layers()}
        held = self._held(question, {known.get(name, name) for name in understood.layers})
        return "\n".join(["Layers:", *details, f"Question: {asked}", *held])

    def _held(self, question: str, keys: Collection[str]) -> list[str]:
        """Say which fields of some layers hold the names that a question says."""
        lines = []
        for name in phrase.proper(question, self._names):
            places = [one for one in self._names[name] if one[0] in keys][:_PLACES]
            if places:
                lines.append(_held(name, places))
        return lines

    def _detail(self, name: str) -> str:
        try:
            found = self._toolbox.run(_INFO, {"layer": name}, lambda share: None, self._cancelled)
        except MendableError as error:
            return f"Error: {error.message}"
        return found.text

    def _worked(self, one: Example) -> Worked:
        calls = (Call(step.tool, step.arguments, step.result) for step in one.steps)
        return Worked(one.question, one.used, form_of(calls, self._roles), _held_by(one))


def bank(ignored: frozenset[str], follow_ups: bool = False) -> ExampleBank:
    """Return the worked examples of the chat and those that only a graph can show; those that
    speak of earlier results only for `follow_ups`."""
    paths = [_FOLDER / "examples.json", _FOLDER / "graph_examples.json"]
    found = [one for path in paths if path.is_file() for one in example.load(path).examples]
    shown = tuple(
        one
        for one in found
        if (follow_ups or one.refers == NOTHING)
        and not any(step.tool == _UNDO for step in one.steps)
    )
    return ExampleBank(shown, ignored)


def known_numbers(examples: ExampleBank) -> dict[str, tuple[str, ...]]:
    """Return the names of the numbers that the results of worked examples hold, by tool."""
    found: dict[str, list[str]] = {}
    for one in examples.examples:
        tools: dict[str, str] = {}
        for step in one.steps:
            for result, key in _REFERENCE.findall(step.text()):
                if result in tools:
                    found[tools[result]].append(key)
            name = _RESULT.match(step.result)
            tools[name.group(1) if name else ""] = step.tool
            found.setdefault(step.tool, []).extend(_NUMBER.findall(step.result))
    return {tool: tuple(dict.fromkeys(keys)) for tool, keys in found.items()}


def _held(name: str, places: Sequence[Place]) -> str:
    said = " or ".join(f"{field} of {layer}" for layer, field in places)
    return f'"{name}" is a value of {said}.'


def _held_by(one: Example) -> tuple[str, ...]:
    """Say of an example what would be said of a question: which fields of its layers hold the
    names in it."""
    return tuple(
        _held(name, [(layer, field)])
        for name, (field, layer) in one.picked.items()
        if layer in one.keys and phrase.is_proper(name)
    )


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold())}


def _asked(lines: Sequence[str], question: str) -> str:
    return "\n".join(["Layers:", *(f"- {line}" for line in lines), f"Question: {question}"])
