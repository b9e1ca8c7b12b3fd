# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a gold chain read as calls of tools, and the answer at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qgis.core import QgsApplication, QgsProcessingParameterDefinition

from ...tools.base import ToolDefinition
from ..agent.closing import ANSWER, REJECT
from ..agent.event import Status
from .chain import ChainStep
from .gold_layer import GoldError
from .gold_reference import Book
from .source import resolved
from .task import Task
from .task_fault import is_number

RENAMED: dict[str, tuple[str, dict[str, str]]] = {
    "statistics": ("statistics", {"stat": "statistic"}),
    "style_graduated": ("style_graduated", {"mode": "method"}),
    "style_categorised": ("style_categorized", {}),
}
"""Tools that the task files call otherwise than we do: our name, and our arguments' names."""

RUN = "run_algorithm"
_ANSWERED = {"value": "number"}
"""What an answer's arguments are called in a gold step."""

_LAYERS = {"source", "vector", "raster", "layer", "multilayer", "mesh", "pointcloud", "extent"}
_PARTS, _WITHIN = "::|::", "::~::"
"""What parts the layers, and what a layer is told of, in a parameter that lists several so."""


@dataclass(frozen=True)
class Call:
    """One call of a tool; `files` are the names by which later steps may call what it writes."""

    tool: str
    arguments: dict[str, Any]
    layer_id: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Closing:
    """What a chain answers."""

    status: Status = Status.OK
    text: str = ""
    number: float | None = None
    names: tuple[str, ...] = field(default=())


def steps_of(task: Task) -> tuple[Mapping[str, Any], ...]:
    """Return the steps to play of a task: its gold steps, else those of its first chain."""
    if task.gold or not task.chains:
        return task.gold
    return tuple(map(_step, task.chains[0].steps))


def _step(one: ChainStep) -> Mapping[str, Any]:
    """Return a step of a chain in the form of a gold step."""
    given = dict(one.arguments)
    if one.tool == ANSWER:
        layers = given.pop("layers", [])
        ended = {_ANSWERED.get(key, key): value for key, value in given.items()}
        return {"tool": ANSWER, **ended, **({"layer": layers[0]} if layers else {})}
    named = {"as": one.name} if one.name else {}
    if one.tool == RUN:
        return {**given, **named}
    return {"tool": one.tool, **given, **named}


class StepReader:
    """Reads the steps of one chain, with what earlier steps gave filled in.

    Layers are named by a step's `as`, by a file that a step wrote, by a layer of the project, or
    by a source in the data folder.
    """

    def __init__(
        self,
        tools: Mapping[str, ToolDefinition],
        book: Book,
        data: Path,
        open_source: Callable[[str], str],
    ) -> None:
        """`open_source` opens a source as a layer and returns its id."""
        self._tools = tools
        self._book = book
        self._data = data
        self._open = open_source

    def read(self, step: Mapping[str, Any]) -> Call | Closing:
        """Return what a step asks for. Raises GoldError for a kind that is not known."""
        if "algorithm" in step:
            return self._algorithm(str(step["algorithm"]), step.get("parameters") or {})
        if "tool" not in step:
            raise GoldError("it is of no known kind: it names no algorithm and no tool.")
        name = str(step["tool"])
        given = {key: value for key, value in step.items() if key not in ("tool", "as")}
        if name == ANSWER:
            return self._answer(given)
        if name == REJECT:
            return Closing(Status.REJECTED, str(given.get("reason", given.get("reject", ""))))
        return self._tool(name, given)

    # -- algorithms

    def _algorithm(self, identity: str, parameters: Mapping[str, Any]) -> Call:
        algorithm = QgsApplication.processingRegistry().algorithmById(identity)
        definitions = {} if algorithm is None else _by_name(algorithm.parameterDefinitions())
        read, files = {}, []
        for name, value in parameters.items():
            definition = definitions.get(name.lower())
            if definition is not None and definition.isDestination():
                read[name] = value
                if isinstance(value, str) and Path(value).suffix:
                    files.append(value)
            else:
                kind = "" if definition is None else definition.type()
                read[name] = self._parameter(kind, value)
        arguments = {"algorithm": identity, "parameters": read}
        return Call(RUN, arguments, files=tuple(files))

    def _parameter(self, kind: str, value: Any) -> Any:
        if kind in _LAYERS and isinstance(value, list):
            return [self._parameter(kind, one) for one in value]
        if kind in _LAYERS and isinstance(value, str):
            return self._layer(value) or self._book.filled(value)
        if kind == "crs" and isinstance(value, str):
            return self._book.layer_id(value) or self._book.filled(value)
        if isinstance(value, str) and _WITHIN in value:
            return _PARTS.join(self._listed(part) for part in value.split(_PARTS))
        return self._book.filled(value)

    def _listed(self, part: str) -> str:
        name, mark, rest = part.partition(_WITHIN)
        return f"{self._layer(name) or name}{mark}{rest}"

    def _layer(self, name: str) -> str:
        """Return the id of the layer that a text names, opened where it is a source in the data
        folder; "" where it names none."""
        known = self._book.layer_id(name)
        if known:
            return known
        source, path = resolved(name, self._data)
        return self._open(source) if path.is_file() else ""

    # -- tools

    def _tool(self, name: str, given: Mapping[str, Any]) -> Call:
        ours, renamed = RENAMED.get(name, (name, {}))
        if ours not in self._tools:
            raise GoldError(f'there is no tool "{name}". Known: {", ".join(self._tools)}, answer.')
        properties = self._tools[ours].parameters.get("properties", {})
        arguments, layer_id = {}, ""
        for key, value in given.items():
            schema = properties.get(renamed.get(key, key), {})
            read = self._argument(schema, value)
            if "x-layer" in schema and isinstance(read, str):
                layer_id = layer_id or self._book.layer_id(read)
            arguments[renamed.get(key, key)] = read
        return Call(ours, arguments, layer_id)

    def _argument(self, schema: Mapping[str, Any], value: Any) -> Any:
        if isinstance(value, list) and "items" in schema:
            return [self._argument(schema["items"], one) for one in value]
        if "x-layer" in schema and isinstance(value, str):
            return self._layer(value) or value
        if schema.get("x-source") and isinstance(value, str):
            return resolved(value, self._data)[0]
        return self._book.filled(value)

    # -- the answer

    def _answer(self, given: Mapping[str, Any]) -> Closing:
        if "reject" in given:
            return Closing(Status.REJECTED, str(given["reject"]))
        number, texts = None, []
        if "number" in given:
            number = self._book.value(given["number"])
            if not is_number(number):
                raise GoldError(f"the answer's number is {number!r}.")
            texts.append(f"{number:.10g}")
        if "text" in given:
            texts.append(self._text(given["text"]))
        names = [given[key] for key in ("layer", "raster", "file") if key in given]
        for name in names:
            if not self._book.layer_id(str(name)):
                raise GoldError(f'no step and no layer is called "{name}".')
        said = ", ".join([*texts, *(str(name) for name in names)])
        return Closing(Status.OK, f"{said}.", None if number is None else float(number))

    def _text(self, reference: Any) -> str:
        if isinstance(reference, str) and not self._book.knows(reference):
            return str(self._book.filled(reference))
        value = self._book.value(reference)
        if value is None:
            raise GoldError("the answer's text is empty.")
        return str(value)


def _by_name(
    definitions: list[QgsProcessingParameterDefinition],
) -> dict[str, QgsProcessingParameterDefinition]:
    return {one.name().lower(): one for one in definitions}
