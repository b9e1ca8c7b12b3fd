# SPDX-License-Identifier: GPL-2.0-or-later
"""Task files: questions with their layers, what is expected of each, and a chain to get there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .chain import Chain, chain, joined, shipped
from .task_fault import Fault, task_faults

FORMAT = 1
CHAINS = Path(__file__).resolve().parents[2] / "resources" / "evaluation" / "chains.json"
SPACE = re.compile(r"\s*")


class TaskError(Exception):
    """A task file is refused: the message names the file, the line, the task and the place."""


@dataclass(frozen=True)
class TaskLayer:
    """A layer of a task; `opened` is false where the method has to look into the file itself."""

    name: str
    source: str
    opened: bool = True


@dataclass(frozen=True)
class Task:
    """One question; `expect` maps a kind of expectation to its values, checked when read.

    `chains` are reference chains in our tools' names, each of which answers it. A dialogue has
    `turns`, each a task of its own over the same layers, that are asked one after the other; its
    own question is the first one, and its chain those of all turns in a row.
    """

    id: str
    question: str
    layers: tuple[TaskLayer, ...]
    expect: Mapping[str, Any]
    level: int = 1
    area: str = ""
    tags: tuple[str, ...] = ()
    gold: tuple[Mapping[str, Any], ...] = ()
    chains: tuple[Chain, ...] = ()
    turns: tuple[Task, ...] = ()

    @property
    def parts(self) -> tuple[Task, ...]:
        """What is asked, in its order: the turns of a dialogue, else the task itself."""
        return self.turns or (self,)


@dataclass(frozen=True)
class TaskSet:
    """The tasks of one file, in its order."""

    path: Path
    tasks: tuple[Task, ...]


def _task(raw: dict[str, Any], known: Mapping[str, tuple[Chain, ...]]) -> Task:
    layers = tuple(
        TaskLayer(item["name"], item["source"], item.get("open", "layer") == "layer")
        for item in raw["layers"]
    )
    turns = _turns(raw, layers)
    whole = joined(turn.chains[0] for turn in turns if turn.chains)
    own = (whole,) if turns and all(turn.chains for turn in turns) else ()
    return Task(
        id=raw["id"],
        question=turns[0].question if turns else raw["question"],
        layers=layers,
        expect={} if turns else raw["expect"],
        level=raw.get("level", 1),
        area=raw.get("area", ""),
        tags=tuple(raw.get("tags", ())),
        gold=tuple(raw.get("gold", ())),
        chains=own or tuple(map(chain, raw.get("chains", ()))) or known.get(raw["id"], ()),
        turns=turns,
    )


def _turns(raw: dict[str, Any], layers: tuple[TaskLayer, ...]) -> tuple[Task, ...]:
    """Return the turns of a dialogue, each of whose chains knows the names of those before."""
    turns: list[Task] = []
    known: frozenset[str] = frozenset()
    for one in raw.get("turns", ()):
        chains: tuple[Chain, ...] = ()
        if "chain" in one:
            chains = (replace(chain(one["chain"]), known=known),)
            known |= chains[0].names
        turns.append(Task(raw["id"], one["question"], layers, one["expect"], chains=chains))
    return tuple(turns)


def _spans(text: str) -> list[tuple[int, int]]:
    """Where each task of the text lies; empty where the list cannot be found."""
    found = re.search(r'"tasks"\s*:\s*\[', text)
    if not found:
        return []
    spans: list[tuple[int, int]] = []
    decoder, at = json.JSONDecoder(), found.end()
    while True:
        at = SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at >= len(text) or text[at] == "]":
            return spans
        start = at
        try:
            _, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            return spans
        spans.append((start, at))
        at = SPACE.match(text, at).end()  # type: ignore[union-attr]
        at += text[at : at + 1] == ","


def _item(text: str, at: int, number: int) -> int:
    """Where the item of a list begins that is the `number`th from 1; the list begins after `at`."""
    decoder, at = json.JSONDecoder(), text.index("[", at) + 1
    for _ in range(number - 1):
        _, at = decoder.raw_decode(text, SPACE.match(text, at).end())  # type: ignore[union-attr]
        at = text.index(",", at) + 1
    return SPACE.match(text, at).end()  # type: ignore[union-attr]


def _line(text: str, span: tuple[int, int], place: tuple[str | int, ...]) -> int:
    """The line of the deepest key of `place` that the task's text holds, counted from 1."""
    at = span[0]
    for key in place:
        if isinstance(key, int):
            at = _item(text, at, key)
            continue
        found = re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:").search(
            text, at, span[1]
        )
        if not found:
            break
        at = found.start()
    return text.count("\n", 0, at) + 1


def read_tasks(path: Path) -> TaskSet:
    """Read a task file.

    Raises TaskError with the line, the task and the place of the first fault, and with the number
    of the others; an unreadable file raises it too.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise TaskError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from error
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{path} cannot be read: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("tasks"), list):
        raise TaskError(f"{path}, line 1: a task file is an object with a list 'tasks'.")
    if document.get("format", FORMAT) != FORMAT:
        raise TaskError(f"{path}, line 1: format {document['format']} is unknown; write {FORMAT}.")
    if not document["tasks"]:
        raise TaskError(f"{path}, line 1: the list 'tasks' is empty.")
    spans, found, seen = _spans(text), [], set()
    for index, raw in enumerate(document["tasks"]):
        faults = task_faults(raw)
        name = str(raw.get("id")) if isinstance(raw, dict) else ""
        if name in seen:
            faults.append(Fault(("id",), "the id is used twice"))
        seen.add(name)
        found += [(index, name, fault) for fault in faults]
    if found:
        index, name, fault = found[0]
        where = f", line {_line(text, spans[index], fault.place)}" if index < len(spans) else ""
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        place = f", {'.'.join(map(str, fault.place))}" if fault.place else ""
        raise TaskError(f"{path}{where}: task {name or index + 1}{place}: {fault.text}.{more}")
    known = shipped(CHAINS, path.stem)
    return TaskSet(path, tuple(_task(raw, known) for raw in document["tasks"]))
