# SPDX-License-Identifier: GPL-2.0-or-later
"""What a finished run says: numbers come from the results of its steps alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...tools.base import LayerReference, ToolResult
from .graph import Graph
from .resolving import ResolvingError, given
from .topology import order
from .value import Output, Template

Write = Callable[[float], str]
_DRESSING = ("style_", "label_")
"""How the tools begin that change only the look of the layer that they take."""


@dataclass(frozen=True)
class Said:
    """An answer: its text, the number meant with its unit, the layers and files made."""

    text: str
    value: float | None = None
    unit: str = ""
    layers: tuple[LayerReference, ...] = ()
    files: tuple[str, ...] = ()


def answered(graph: Graph, results: Mapping[str, ToolResult], write: Write) -> Said:
    """Return the answer of a run. Raises ResolvingError where it names what no step gave.

    Without an answer of the graph's own the result of its last step is told.
    """
    answer = graph.answer
    shown = _shown(graph, results)
    layers = tuple({one.id: one for result in shown for one in result.layers}.values())
    files = tuple(dict.fromkeys(path for result in shown for path in result.files))
    value, unit, name = None, answer.unit, ""
    if answer.value is not None:
        found = given(answer.value, results)
        if isinstance(found, (int, float)):
            value, unit = float(found), unit or _unit(answer.value, results)
            name = _name(results[answer.value.vertex], answer.value.key)
    if answer.text:
        text = Template(answer.text).filled(lambda name, key: _part(name, key, results, write))
        return Said(text, value, unit, layers, files)
    if answer.value is None and shown:
        last = shown[-1]
        if len(last.numbers) == 1 or "count" in last.numbers:
            key = "count" if "count" in last.numbers else next(iter(last.numbers))
            value, unit = last.numbers[key], unit or last.units.get(key, "")
            name = _name(last, key)
    if value is not None:
        number = f"{write(value)} {unit}".strip()
        said = f"{name}: {number}." if name else f"{number}."
        return Said(said, value, unit, layers, files)
    return Said(shown[-1].text if shown else "Nothing was done.", None, "", layers, files)


def name_of(graph: Graph, results: Mapping[str, ToolResult]) -> str:
    """Return the name of what the answer's number belongs to, "" where it belongs to none."""
    value = graph.answer.value
    if value is None or value.vertex not in results:
        return ""
    return _name(results[value.vertex], value.key)


def _shown(graph: Graph, results: Mapping[str, ToolResult]) -> list[ToolResult]:
    """Return the results that no other step uses, or that steps only dress, in the order of the
    steps."""
    tools = {one.id: one.tool for one in graph.vertices}
    used = {parent for parent, child in graph.edges() if not tools[child].startswith(_DRESSING)}
    ends = [key for key in order(graph) if key in results and key not in used]
    return [results[key] for key in ends]


def _name(result: ToolResult, key: str) -> str:
    """Return the name of what a number belongs to, as "highest" or "name" for "value"."""
    found = key or next(iter(result.numbers), "")
    return result.texts.get(found, result.texts.get(found.replace("value", "name", 1), ""))


def _unit(output: Output, results: Mapping[str, ToolResult]) -> str:
    result = results[output.vertex]
    key = output.key or next(iter(result.numbers), "")
    return result.units.get(key, "")


def _part(name: str, key: str, results: Mapping[str, ToolResult], write: Write) -> str:
    if name not in results:
        raise ResolvingError("", f"The answer names {name}, which gave nothing.")
    result = results[name]
    if not key and result.layers:
        return result.layers[0].name
    found = given(Output(name, key), results)
    if not isinstance(found, (int, float)):
        return next((one.name for one in result.layers if one.id == found), str(found))
    unit = _unit(Output(name, key), results)
    return f"{write(float(found))}\u00a0{unit}" if unit else write(float(found))
