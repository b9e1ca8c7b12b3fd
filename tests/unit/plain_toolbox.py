# SPDX-License-Identifier: GPL-2.0-or-later
"""A toolbox without QGIS: three layers, tools whose results a test scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Union

from geo_olm.tools.base import (
    Family,
    FieldProfile,
    LayerProfile,
    LayerReference,
    MendableError,
    Progress,
    ToolDefinition,
    ToolResult,
)

Outcome = Union[ToolResult, Exception, Callable[[dict[str, Any]], ToolResult]]

LAYER = {"type": "string", "x-layer": "vector"}
COUNTRIES = LayerProfile(
    "countries",
    "L1",
    Family.POLYGON,
    "Polygon",
    "EPSG:4326",
    features=241,
    fields=(FieldProfile("NAME", "text"), FieldProfile("POP", "integer")),
)
RIVERS = LayerProfile("rivers", "L2", Family.LINE, "Line", "EPSG:4326", features=12)


def _tool(name: str, required: tuple[str, ...] = (), **properties: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolDefinition(name, f"Does {name}.", schema, label=name.title())


DEFINITIONS = (
    _tool("list_layers"),
    _tool("layer_info", ("layer",), layer=LAYER),
    _tool("count", ("layer",), layer=LAYER, where={"type": "string"}),
    _tool("filter", ("layer",), layer=LAYER, where={"type": "string"}),
    _tool("statistics", ("layer",), layer=LAYER, field={"type": "string"}),
    _tool("run_algorithm", ("algorithm",), algorithm={"type": "string"}),
    _tool("zoom_to_layer", ("layer",), layer=LAYER),
    _tool("answer", (), value={"type": "string"}, text={"type": "string"}),
    _tool("reject", ("reason",), reason={"type": "string"}),
)


def made(text: str, *, layer: str = "", **numbers: float) -> ToolResult:
    """Return a result with numbers, and with a layer when one is named."""
    reference = LayerReference(f"id-{layer}", layer, "memory", "Polygon", "EPSG:4326", 1)
    return ToolResult(text, numbers=dict(numbers), layers=(reference,) if layer else ())


@dataclass
class PlainToolbox:
    """Gives each call of a tool its next outcome; the last one of a tool stays. Ids are r1, r2."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    profiles: list[LayerProfile] = field(default_factory=lambda: [COUNTRIES, RIVERS])
    ran: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    made: int = 0

    def definitions(self) -> tuple[ToolDefinition, ...]:
        return DEFINITIONS

    def layers(self) -> tuple[LayerProfile, ...]:
        return tuple(self.profiles)

    def results(self) -> frozenset[str]:
        return frozenset(f"r{number + 1}" for number in range(self.made)) | {"answer", "reject"}

    def begin_turn(self, question: str) -> None:
        self.turns.append(question)

    def undo_turn(self) -> tuple[str, ...]:
        return ()

    def run(
        self,
        name: str,
        arguments: dict[str, Any],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> ToolResult:
        self.ran.append((name, arguments))
        progress(50.0)
        if name in self.outcomes:
            return self._scripted(name, arguments)
        if name == "layer_info":
            return ToolResult(f"{arguments['layer']}: 2 fields.")
        if name == "reject":
            return ToolResult("", id="reject", texts={"reason": arguments["reason"]})
        if name == "answer":
            return self._answer(arguments)
        raise MendableError(f'There is no tool "{name}". Closest: count.')

    def calls(self, name: str) -> list[dict[str, Any]]:
        """Return the arguments of the calls of one tool."""
        return [arguments for called, arguments in self.ran if called == name]

    def _scripted(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        outcomes = self.outcomes[name]
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        result = outcome if isinstance(outcome, ToolResult) else outcome(arguments)
        if result.id or not (result.numbers or result.layers or result.texts):
            return result
        self.made += 1
        short = f"r{self.made}"
        self._kept.update({f"{short}.{key}": value for key, value in result.numbers.items()})
        return replace(result, id=short, text=f"{short}: {result.text}")

    def _answer(self, arguments: dict[str, Any]) -> ToolResult:
        numbers = {}
        if "value" in arguments:
            if arguments["value"] not in self._kept:
                raise MendableError(f'There is no number "{arguments["value"]}".')
            numbers["value"] = self._kept[arguments["value"]]
        return ToolResult(arguments.get("text", ""), id="answer", numbers=numbers)

    def __post_init__(self) -> None:
        self._kept: dict[str, float] = {}
