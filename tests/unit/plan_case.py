# SPDX-License-Identifier: GPL-2.0-or-later
"""A small project for planners: layers, tools, agents, worked examples, without QGIS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plain_toolbox import COUNTRIES, RIVERS
from scripted_speaker import Asked, ScriptedSpeaker, ScriptStep

from geo_olm.plugin.agent.message import Memory
from geo_olm.plugin.llm.grounding import ground
from geo_olm.plugin.workflow.asking import Conversation
from geo_olm.plugin.workflow.briefing import Chosen, Understood
from geo_olm.plugin.workflow.finding import Finding, Severity
from geo_olm.plugin.workflow.generation import Means, MetaAgent
from geo_olm.plugin.workflow.graph import Graph
from geo_olm.plugin.workflow.plan_event import Planned
from geo_olm.plugin.workflow.plan_example import Worked
from geo_olm.plugin.workflow.plan_form import Known, read
from geo_olm.plugin.workflow.revision import Reviser
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.tools.base import ToolDefinition

VECTOR, POLYGON = {"type": "string", "x-layer": "vector"}, {"type": "string", "x-layer": "polygon"}
DISTANCE = {"anyOf": [{"type": "number"}, {"type": "string"}]}
CONDITIONS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "field": {"type": "string", "x-field": "layer"},
            "op": {"type": "string", "enum": ["=", ">", "is empty"]},
            "value": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        },
        "required": ["field", "op"],
    },
}


def tool(name: str, required: Sequence[str], **properties: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolDefinition(name, f"Does {name}.", schema, label=name.title())


TOOLS = (
    tool("count", ["layer"], layer=VECTOR, conditions=CONDITIONS),
    tool("filter", ["layer", "conditions"], layer=VECTOR, conditions=CONDITIONS),
    tool("buffer", ["layer", "distance"], layer=VECTOR, distance=DISTANCE),
    tool("overlay", ["layer", "other"], layer=VECTOR, other=POLYGON),
    tool("dissolve", ["layer"], layer=VECTOR, by={"type": "string", "x-field": "layer"}),
    tool("calculate", ["expression"], expression={"type": "string"}),
    tool(
        "style_graduated",
        ["layer", "field"],
        layer=VECTOR,
        field={"type": "string", "x-field": "layer"},
        classes={"type": "integer"},
    ),
    tool(
        "export_map",
        ["path"],
        layers={"type": "array", "items": VECTOR},
        path={"type": "string"},
    ),
    tool(
        "run_algorithm",
        ["algorithm", "parameters"],
        algorithm={"type": "string"},
        parameters={"type": "object"},
    ),
    tool("reject", ["reason"], reason={"type": "string"}),
)
ROLES = Roles(
    [
        Role("vector", "Vector", "makes layers", ("filter", "buffer", "overlay", "dissolve",
                                                  "run_algorithm")),
        Role("table", "Table", "gives numbers", ("count", "calculate")),
        Role("map", "Map", "colours", ("style_graduated", "export_map")),
    ]
)  # fmt: skip
NUMBERS = {"count": ("count",), "filter": ("count",), "overlay": ("count", "area"), "buffer": ()}
KNOWN = Known(
    {one.name: one for one in TOOLS},
    ROLES,
    {"countries": "countries", "rivers": "rivers"},
    NUMBERS,
)


def task(key: str, name: str, agent: str = "vector", **arguments: Any) -> dict[str, Any]:
    return {"id": key, "agent": agent, "tool": name, "arguments": arguments}


def plan(*tasks: Mapping[str, Any], answer: str = "") -> dict[str, Any]:
    return {"tasks": list(tasks), "answer": answer}


def graph(*tasks: Mapping[str, Any], answer: str = "", question: str = "Which?") -> Graph:
    return read(plan(*tasks, answer=answer), KNOWN, question).graph


CLIPPED = graph(
    task("v1", "buffer", layer="rivers", distance=500),
    task("v2", "overlay", layer="countries", other="v1"),
    task("v3", "count", "table", layer="v2"),
    answer="v3.count",
)
"""Three steps, one after the other."""

SHOWN = Worked(
    "How many lakes are deep?",
    ("lakes (3 polygons, EPSG:4326): depth",),
    plan(task("v1", "count", "table", layer="lakes"), answer="v1.count"),
)


class PlainBriefing:
    """Says little; every question is English unless it begins with ¿."""

    intents = ("Count", "Map")

    def __init__(self, tools: Sequence[str] = ("count", "filter", "buffer")) -> None:
        self._tools = frozenset(tools)

    def system(self) -> str:
        return "Plan."

    def openings(self) -> Sequence[tuple[str, Mapping[str, object]]]:
        return [("Question: How many lakes?", {"NEEDS": "lakes = lakes", "USER_INTENT": "Count"})]

    def overview(self, question: str, layers: Sequence[Any]) -> str:
        return f"Layers: {', '.join(one.name for one in layers)}\nQuestion: {question}"

    def refers(self, question: str) -> bool:
        return "those" in question

    def mentions(self, question: str) -> bool:
        return " it" in question

    def names_any(self, question: str, layers: Sequence[Any]) -> bool:
        return any(one.name in question for one in layers)

    def names_field(self, question: str, layer: Any, others: Sequence[Any]) -> bool:
        known = {item.name for one in others for item in one.fields}
        return any(
            item.name in question.split("?")[0].split()
            for item in layer.fields
            if item.name not in known
        )

    def is_part(self, question: str, layers: Sequence[Any]) -> bool:
        return question.startswith("And ")

    def counted(self, question: str, layer: Any) -> str:
        return "boats" if "boats" in question else ""

    def is_english(self, question: str) -> bool:
        return not question.startswith("¿")

    def missing(self, needs: str, layers: Sequence[Any]) -> str:
        return needs.partition(" = none")[0] if " = none" in needs else ""

    def examples(self, question: str, understood: Understood) -> Chosen:
        return Chosen((SHOWN,), self._tools | {"reject"})

    def tools(self, names: Sequence[str]) -> str:
        return f"Tools: {', '.join(names)}"

    def in_metres(self, text: str) -> str:
        return text.replace("2 km", "2 km (2000 m)")

    def revision_system(self) -> str:
        return "Change."

    def revisions(self) -> Sequence[tuple[str, Mapping[str, object]]]:
        return [("Request: less", {"changes": [{"change": "remove", "step": "v1"}]})]

    def task(self, question: str, understood: Understood) -> str:
        return f"Layers in detail: {', '.join(understood.layers)}\nQuestion: {question}"


def grounded(definitions: Any, layers: Any, before: Any, unmade: Any) -> dict[str, Any]:
    return ground(definitions, layers, None, before, unmade).schema


def nothing_found(graph: Graph) -> Sequence[Finding]:
    return ()


def refuses(*tools: str) -> Callable[[Graph], Sequence[Finding]]:
    """Return a check that refuses steps of some tools."""
    return lambda graph: [
        Finding("test", Severity.ERROR, f"No {one.tool} today.", one.id)
        for one in graph.vertices
        if one.tool in tools
    ]


MEANS = Means(
    TOOLS,
    (COUNTRIES, RIVERS),
    ROLES,
    PlainBriefing(),
    grounded,
    nothing_found,
    NUMBERS,
    asks=2,
    candidates=3,
)


@dataclass
class Case:
    """Plays a script against a planner; `asked` keeps the requests, `told` what it tells."""

    means: Means = MEANS
    asked: list[Asked] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)

    def plan(
        self,
        question: str,
        *steps: ScriptStep,
        others: Sequence[ScriptStep] = (),
        memory: Memory | None = None,
    ) -> Planned:
        with ScriptedSpeaker(list(steps)) as speaker, ScriptedSpeaker(list(others)) as other:
            vary = (lambda number: other) if others else None
            means = replace(self.means, vary=vary)
            talk = Conversation(speaker, lambda: False, self.told.append)
            if memory is not None:
                talk.messages = memory.messages
            try:
                return MetaAgent(means, talk, memory).plan(question)
            finally:
                self.asked = [*speaker.asked, *other.asked]

    def reviser(self, speaker: ScriptedSpeaker) -> Reviser:
        return Reviser(self.means, lambda: Conversation(speaker, lambda: False, self.told.append))
