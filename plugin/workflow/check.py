# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be told of a graph before anything runs, for every step, as findings with mends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...tools.base import LayerProfile, ToolDefinition
from .change import Change
from .check_algorithm import NO_ALGORITHMS, Algorithms, algorithm_findings, schema_of
from .check_value import value_findings
from .finding import Finding, Mend, Severity
from .graph import Graph, Kind, Type, Variable, Vertex
from .objective import Project, check_objective, check_question
from .phrase import Phrases
from .port import without
from .role import Roles
from .shape import Gives, Shape, Shapes, of_layer
from .topology import Fault, faults, order
from .value import Asked, Layer, Output, Template, Value, mapped, walk

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
_SLOW_S = 60.0
_NAME = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*(?:\.\w+)*(?![\w.]*\s*\()")
_RESULT = re.compile(r"r\d+(?:\.\d+)?(?:\.\w+)?")


@dataclass(frozen=True)
class Surroundings:
    """What a graph is checked against. No layer is touched: profiles are given.

    `fit` tells in one sentence why a tool does not take arguments, "" where it does; `outputs`
    gives the outputs of an algorithm as names to families, None for an unknown one; `file_exists`
    tells whether a file that a step would write is there already; `seconds` estimates a step from
    the features that go in; `closest` gives the names most like a wrong one; `invalid` counts the
    invalid geometries of layers.
    """

    definitions: Mapping[str, ToolDefinition]
    roles: Roles
    shapes: Shapes
    layers: Mapping[str, LayerProfile]
    fit: Callable[[str, dict[str, Any]], str]
    phrases: Phrases
    closest: Callable[[str, Iterable[str]], Sequence[str]]
    outputs: Callable[[str], Mapping[str, str] | None] = lambda algorithm: {}
    file_exists: Callable[[str], bool] = lambda name: False
    seconds: Callable[[str, int], float] = lambda tool, features: 0.0
    invalid: Mapping[str, int] = field(default_factory=dict)
    algorithms: Algorithms = NO_ALGORITHMS


def check(graph: Graph, around: Surroundings) -> tuple[Finding, ...]:
    """Return what is found in a graph, the worst first, then in the order of its steps."""
    shape = faults(graph)
    found = [
        Finding(one.fault.value, Severity.ERROR, one.message, one.vertices[0], mends=_untied(
            graph, one.fault, one.vertices))
        for one in shape
    ]  # fmt: skip
    if shape:
        return tuple(found)
    layers = {key: of_layer(one) for key, one in around.layers.items()}
    gives = around.shapes.follow(graph, layers)
    project = _named(around)
    for vertex in graph.vertices:
        found += _vertex(graph, vertex, gives, layers, around)
        found += check_objective(graph, vertex, around.phrases, project)
    found += check_question(graph, around.phrases, project)
    found += _answer(graph, gives)
    found += _unused(graph)
    places = {key: place for place, key in enumerate(graph.ids())}
    return tuple(sorted(found, key=lambda one: (_ORDER[one.severity], places.get(one.vertex, -1))))


def errors(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return what keeps a graph from running."""
    return tuple(one for one in findings if one.severity is Severity.ERROR)


def _vertex(
    graph: Graph,
    vertex: Vertex,
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
    around: Surroundings,
) -> Iterator[Finding]:
    for name in vertex.asked():
        if graph.variable(name) is None:
            yield _no_variable(graph, vertex, name, around)
    if vertex.kind is not Kind.TASK:
        if not vertex.objective.strip():
            what = "asks" if vertex.kind is Kind.QUESTION else "shows"
            text = f"{vertex.id} says nothing of what it {what}."
            yield Finding("objective", Severity.WARNING, text, vertex.id)
        return
    yield from _agent(graph, vertex, around)
    if vertex.is_abstract:
        yield Finding(
            "abstract", Severity.NOTE,
            f"{vertex.id} has no tool yet: a model chooses it when the step runs.", vertex.id,
        )  # fmt: skip
        return
    definition = around.definitions.get(vertex.tool)
    if definition is None:
        yield _no_tool(vertex, around)
        return
    yield from _unknown_parameters(vertex, definition)
    known = definition.parameters.get("properties", {})
    given = {key: one for key, one in stand_ins(vertex, gives).items() if key in known}
    refusal = around.fit(vertex.tool, given)
    found: tuple[Finding, ...] = ()
    if schema_of(vertex, around.algorithms) is None:
        found = tuple(value_findings(vertex, definition, gives, layers, around.closest))
    yield from found
    if refusal and not found:
        yield Finding("arguments", Severity.ERROR, refusal, vertex.id, _place(refusal, definition))
    if refusal or found:
        return
    if vertex.tool == "calculate":
        yield from _arithmetic(vertex)
    if vertex.tool == "run_algorithm":
        yield from algorithm_findings(
            graph, vertex, gives, layers, around.algorithms, around.closest
        )
    yield from _inputs(graph, vertex, gives, layers, around)
    yield from _file(vertex, gives[vertex.id], around)


def _no_variable(graph: Graph, vertex: Vertex, name: str, around: Surroundings) -> Finding:
    """Return the finding of a variable that is not there; it is mended by the closest, or added."""
    at = next((key for key, one in (vertex.parameters or {}).items() if name in _asked(one)), "")
    near = list(around.closest(name, [one.name for one in graph.variables]))[:1]
    if near:
        parameters = mapped(
            dict(vertex.parameters or {}), lambda one: Asked(near[0]) if one == Asked(name) else one
        )
        mend = _edit(f"Use {near[0]}", replace(vertex, parameters=parameters))
    else:
        added = (*graph.variables, Variable(name, Type.TEXT))
        mend = Mend(f"Add variable {name}", Change(variables=added, reason=f"Add {name}"), True)
    text = f"There is no variable {name}."
    return Finding("variable", Severity.ERROR, text, vertex.id, at, (mend,))


def _asked(value: Value) -> set[str]:
    """Return the variables in a value."""
    found = {one.variable for one in walk(value) if isinstance(one, Asked)}
    texts = (one for one in walk(value) if isinstance(one, Template))
    return found | {name for one in texts for name, key in one.references() if not key}


def _arithmetic(vertex: Vertex) -> Iterator[Finding]:
    """Find names in a calculation that are no numbers of steps or of earlier results."""
    said = (vertex.parameters or {}).get("expression")
    text = said.filled(lambda name, key: "1") if isinstance(said, Template) else said
    if not isinstance(text, str):
        return
    strange = [one for one in _NAME.findall(text) if not _RESULT.fullmatch(one)]
    if strange:
        message = (
            f"{vertex.id} calculates with numbers of steps, and {strange[0]} is none: use one such "
            "as v1.count, or leave the step out."
        )
        yield Finding("arithmetic", Severity.ERROR, message, vertex.id, "expression")


def _place(refusal: str, definition: ToolDefinition) -> str:
    """Return the parameter of which a refusal speaks, "" where it names none."""
    said = re.split(r"[.:]", refusal)[0]
    known = definition.parameters.get("properties", {})
    return next((one for one in known if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", said)), "")


def _named(around: Surroundings) -> Project:
    """Return what objectives may name in this project."""
    fields = {key: [one.name for one in layer.fields] for key, layer in around.layers.items()}
    samples = (text for one in around.layers.values() for x in one.fields for text in x.samples)
    return Project(fields, tuple(text for text in dict.fromkeys(samples) if not text.isdecimal()))


def _agent(graph: Graph, vertex: Vertex, around: Surroundings) -> Iterator[Finding]:
    fitting = around.roles.of(vertex.tool) if vertex.tool else None
    role = around.roles.find(vertex.agent)
    if role is None:
        known = [one.name for one in around.roles.all()]
        near = fitting.name if fitting else next(iter(around.closest(vertex.agent, known)), "")
        said = f'There is no agent "{vertex.agent}".' if vertex.agent else "The step has no agent."
        mends = (_edit(f"Give it to {near}", replace(vertex, agent=near)),) if near else ()
        severity = Severity.ERROR if vertex.is_abstract else Severity.WARNING
        yield Finding("agent", severity, said, vertex.id, mends=mends)
    elif vertex.tool and fitting is not None and vertex.tool not in role.tools:
        said = f"{role.label} has no tool {vertex.tool}; {fitting.label} has it."
        mend = _edit(f"Give it to {fitting.label}", replace(vertex, agent=fitting.name))
        yield Finding("agent", Severity.WARNING, said, vertex.id, mends=(mend,))


def _no_tool(vertex: Vertex, around: Surroundings) -> Finding:
    near = list(around.closest(vertex.tool, around.definitions))[:1]
    mends = tuple(_edit(f"Use {one}", replace(vertex, tool=one)) for one in near)
    text = (
        f'This QGIS has no tool "{vertex.tool}". The step is kept, but cannot run.'
        if not near
        else f'There is no tool "{vertex.tool}". Closest: {near[0]}.'
    )
    return Finding("tool", Severity.ERROR, text, vertex.id, mends=mends)


def _unknown_parameters(vertex: Vertex, definition: ToolDefinition) -> Iterator[Finding]:
    known = definition.parameters.get("properties", {})
    given = dict(vertex.parameters or {})
    for name in given:
        if name not in known:
            kept = {key: one for key, one in given.items() if key != name}
            mend = _edit(f"Leave {name} out", replace(vertex, parameters=kept))
            text = f"{vertex.tool} has no parameter {name}. It takes {', '.join(known)}."
            yield Finding("parameter", Severity.ERROR, text, vertex.id, name, (mend,))


def _inputs(
    graph: Graph,
    vertex: Vertex,
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
    around: Surroundings,
) -> Iterator[Finding]:
    features = 0
    for name in dict.fromkeys(vertex.layers()):
        shape = layers.get(name)
        if shape is None:
            continue
        features += max(shape.features, 0)
        if shape.features == 0:
            text = f"{name} has no features: the step will make nothing."
            yield Finding("empty", Severity.WARNING, text, vertex.id)
        broken = around.invalid.get(name, 0)
        if broken:
            some = f"{broken:,} of {shape.features:,} features of {name} are invalid."
            yield Finding("invalid", Severity.WARNING, f"{some} They are repaired on a copy.",
                          vertex.id)  # fmt: skip
    for one in graph.used(vertex):
        found = gives[one.vertex].shape if one.vertex in gives else None
        features += max(found.features, 0) if found is not None else 0
    seconds = around.seconds(vertex.tool, features)
    if seconds >= _SLOW_S:
        text = f"This step takes about {seconds / 60:.0f} min for {features:,} features."
        yield Finding("cost", Severity.WARNING, text, vertex.id)


def _file(vertex: Vertex, given: Gives, around: Surroundings) -> Iterator[Finding]:
    name = (vertex.parameters or {}).get(given.writes) if given.writes else None
    if isinstance(name, str) and around.file_exists(name):
        text = f"{name} is there already, and would be written over: choose another name."
        free = _free(name, around)
        parameters = {**(vertex.parameters or {}), given.writes: free}
        mend = _edit(f"Write {free}", replace(vertex, parameters=parameters))
        yield Finding("overwrite", Severity.WARNING, text, vertex.id, given.writes, (mend,))


def _free(name: str, around: Surroundings) -> str:
    """Return the next name of a file that is not there yet."""
    stem, dot, ending = name.rpartition(".")
    for number in range(2, 1000):
        found = f"{stem}_{number}{dot}{ending}" if dot else f"{name}_{number}"
        if not around.file_exists(found):
            return found
    return name


def _answer(graph: Graph, gives: Mapping[str, Gives]) -> Iterator[Finding]:
    value = graph.answer.value
    if value is None:
        return
    if value.vertex not in gives:
        text = f"The answer names {value.vertex}, and no step is called so."
        yield Finding("answer", Severity.ERROR, text)
    elif value.key and not gives[value.vertex].has(value.key):
        known = ", ".join(gives[value.vertex].numbers) or "no number"
        text = f"The answer names {value.text}, but {value.vertex} gives {known}."
        mends = tuple(
            Mend(
                f"Answer with {key}",
                Change(answer=replace(graph.answer, value=Output(value.vertex, key))),
            )
            for key in gives[value.vertex].numbers[:1]
        )
        yield Finding("answer", Severity.ERROR, text, value.vertex, mends=mends)


def _unused(graph: Graph) -> Iterator[Finding]:
    """Note steps that look like leftovers: nobody uses them and they are not an end."""
    used = {parent for parent, _ in graph.edges()}
    if graph.answer.value is not None:
        used.add(graph.answer.value.vertex)
    last = next(reversed(order(graph)), "")  # a mend puts steps before it at the end of the list
    for vertex in graph.vertices:
        alone = vertex.id not in used and vertex.id != last and vertex.kind is Kind.TASK
        if (
            alone
            and vertex.tool
            and not vertex.tool.startswith(
                ("style_", "label_", "export_", "save_", "write_", "zoom_")
            )
        ):
            text = f"No step uses what {vertex.id} gives."
            gone = Mend(f"Remove {vertex.id}", Change(removed=(vertex.id,), reason=text), True)
            yield Finding("unused", Severity.NOTE, text, vertex.id, mends=(gone,))


def _untied(graph: Graph, fault: Fault, vertices: tuple[str, ...]) -> tuple[Mend, ...]:
    """Return the mend of a link that cannot be: it is taken away from the first of the steps."""
    if fault not in (Fault.UNKNOWN, Fault.SELF, Fault.CYCLE):
        return ()
    vertex = graph.vertex(vertices[0])
    known = set(graph.ids()) - {vertex.id}
    kept = known - set(vertices) if fault is Fault.CYCLE else known
    after = tuple(one for one in vertex.after if one in kept)
    parameters = without(
        vertex.parameters, lambda one: isinstance(one, Output) and one.vertex not in kept
    )
    if after == vertex.after and parameters == vertex.parameters:
        return ()
    mend = _edit("Take the link away", replace(vertex, after=after, parameters=parameters))
    is_guess = fault is Fault.CYCLE or parameters != vertex.parameters
    return (replace(mend, is_guess=is_guess),)


def stand_ins(vertex: Vertex, gives: Mapping[str, Gives]) -> dict[str, Any]:
    """Return a step's parameters as arguments with something in place of what is not there yet."""

    def change(value: Value) -> Any:
        if isinstance(value, Layer):
            return value.name
        if isinstance(value, Output):
            given = gives.get(value.vertex)
            numeric = given is not None and value.key in given.numbers
            return 1.0 if numeric else value.text
        if isinstance(value, Template):
            return value.text
        return 1 if isinstance(value, Asked) else value  # a number fits a text too

    return {key: mapped(one, change) for key, one in dict(vertex.parameters or {}).items()}


def _edit(label: str, vertex: Vertex) -> Mend:
    return Mend(label, Change(edited=(vertex,), reason=label))
