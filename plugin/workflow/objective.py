# SPDX-License-Identifier: GPL-2.0-or-later
"""The objectives O of a graph: written from parameters, and held against them and the question.

An objective says what arrives from which step, the source, area, dates, operation, class or field,
and what to return (GeoFlow paper, section 3): with that a small model knows what to call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...tools.base import ToolDefinition
from . import phrase
from .change import Change
from .finding import Finding, Mend, Severity
from .graph import Graph, Kind, Vertex
from .phrase import Distance, Phrases
from .value import Layer, Output, Value, walk
from .wording import value_text

_DISTANCES = ("distance", "max_distance", "radius", "size", "DISTANCE")
_UNIT, _WITHIN = "unit", "within_distance"
_PARTS = {
    "source": "which layer, or which step, it works on",
    "distance": "the distance with its unit",
    "condition": "the condition, with the field and the value",
    "field": "the field",
    "other": "the other layer",
    "crs": "the CRS",
    "dates": "the dates",
    "class": "the class",
}


Place = tuple[str, str]
"""A layer by its key, and one of its fields."""


@dataclass(frozen=True)
class Project:
    """What objectives may name: layers by their keys with their fields, and texts that values of
    those fields hold. `names` are proper names among the values, each with the layers and fields
    that hold it; `filters` are the arguments in which tools take conditions, by the tool, each
    with the argument of the layer that they are about; `far` are the tools that take a distance.
    """

    fields: Mapping[str, Sequence[str]]
    values: Sequence[str] = ()
    names: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    filters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    far: Collection[str] = ()


def written(vertex: Vertex, definition: ToolDefinition | None) -> str:
    """Return the objective that a step's parameters say: what arrives, the work, what is given."""
    if vertex.kind is not Kind.TASK or vertex.is_abstract or definition is None:
        return vertex.objective
    parameters = dict(vertex.parameters or {})
    arrives = [one.vertex for one in vertex.outputs()]
    sources = list(vertex.layers())
    said = [definition.label or vertex.tool]
    if sources:
        said.append(f"of {_listed(sources)}")
    if arrives:
        said.append(f"with what arrives from {_listed(list(dict.fromkeys(arrives)))}")
    rest = [
        f"{key} {value_text(value)}"
        for key, value in parameters.items()
        if not isinstance(value, (Layer, Output)) and value not in ("", None)
    ]
    text = ": ".join([" ".join(said), *([", ".join(rest)] if rest else [])])
    return f"{text}. Return the result."


def check_objective(
    graph: Graph, vertex: Vertex, phrases: Phrases, project: Project
) -> Iterator[Finding]:
    """Yield what is missing in an abstract step's objective, and where one and the parameters of
    its step contradict each other."""
    if vertex.kind is not Kind.TASK:
        return
    if vertex.is_abstract:
        missing = missing_parts(graph, vertex, phrases, project)
        if missing:
            said = ", ".join(_PARTS[one] for one in missing)
            text = f"The objective of {vertex.id} does not say {said}."
            yield Finding("objective", Severity.ERROR, text, vertex.id, "objective")
        elif not phrases.returns(vertex.objective):
            text = f"The objective of {vertex.id} does not say what to return."
            yield Finding("return", Severity.WARNING, text, vertex.id, "objective")
        return
    yield from _distance(vertex, phrases)
    yield from _layers(vertex, project)
    yield from _fields(vertex, project)


def missing_parts(
    graph: Graph, vertex: Vertex, phrases: Phrases, project: Project
) -> tuple[str, ...]:
    """Return the parts that an objective needs and does not say, by the names of the data."""
    text = vertex.objective
    operations = phrases.operations(text)
    if not text.strip():
        return ("source",)
    needs = dict.fromkeys(part for one in operations for part in one.needs) or {"source": None}
    others = [one.id for one in graph.vertices if one.id != vertex.id]
    layers = phrase.names(text, list(project.fields))
    steps = phrase.names(text, others)
    sources = len(layers) + len(steps) + (1 if graph.parents(vertex) and not steps else 0)
    fields = [field for names in project.fields.values() for field in names]
    has = {
        "source": sources > 0,
        "other": sources > 1,
        "distance": any(True for _ in phrases.distances(text)),
        "field": bool(phrase.names(text, fields)),
        "condition": bool(phrase.names(text, [*fields, *project.values]) or phrase.quoted(text)),
        "crs": phrase.has_crs(text),
        "dates": phrase.has_dates(text),
        "class": bool(phrase.quoted(text) or phrase.names(text, project.values)),
    }
    return tuple(one for one in needs if not has[one])


def check_question(graph: Graph, phrases: Phrases, project: Project) -> Iterator[Finding]:
    """Yield what the question says and no step uses: a distance, a year, a layer, a quoted name."""
    said = " ".join(_texts(graph))
    used = [one.metres for one in phrases.distances(said)] + list(_numbers(graph))
    for one in phrases.distances(graph.question):
        if not any(_same(value, one.metres) for value in used):
            text = f"The question says {one.text}, and no step uses that distance."
            mends = _reaching(graph, one, project)
            vertex = mends[0].change.edited[0].id if mends else ""
            yield Finding("question distance", Severity.WARNING, text, vertex, mends=mends)
    for year in sorted(phrase.years(graph.question) - phrase.years(said) - _short_years(said)):
        text = f"The question says {year}, and no step uses that year."
        yield Finding("question year", Severity.WARNING, text)
    for layer in phrase.names(graph.question, list(project.fields)):
        if not phrase.names(said, [layer]):
            text = f"The question names {layer}, and no step uses that layer."
            yield Finding("question layer", Severity.WARNING, text)
    for name in phrase.proper(graph.question, project.names):
        if name not in said:
            fields = dict.fromkeys(key for _layer, key in project.names[name])
            text = (
                f"The question says {name}, a value of the field {' or '.join(fields)}; "
                "no step picks it by a condition."
            )
            mends = _picking(graph, name, project)
            vertex = mends[0].change.edited[0].id if mends else ""
            yield Finding("question value", Severity.WARNING, text, vertex, mends=mends)
    yield from _unsaid_names(graph, project)
    yield from _units(graph, phrases)
    yield from _direction(graph, phrases)
    for number, text in phrases.plain_numbers(graph.question):
        if not any(_same(value, number) for value in _said_numbers(graph)):
            text = f"The question says {text}, and no step uses that number."
            yield Finding("question number", Severity.WARNING, text)
    for count in phrases.large_numbers(graph.question):
        if not any(_same(value, count.number) for value in _numbers(graph)):
            text = f"The question says {count.text}, which is {count.number:.15g}; no step uses it."
            yield Finding("question number", Severity.WARNING, text)
    for name in phrase.files(graph.question):
        if name.rpartition(".")[0].casefold() not in said.casefold():
            text = f"The question names the file {name}, and no step reads or writes it."
            yield Finding("question file", Severity.WARNING, text)
    for name in phrase.quoted(graph.question):
        if name.casefold() not in said.casefold():
            text = f'The question says "{name}", and no step uses it.'
            yield Finding("question name", Severity.WARNING, text)


def _unsaid_names(graph: Graph, project: Project) -> Iterator[Finding]:
    """Yield the names that steps pick though the question says others of the same field."""
    said = phrase.proper(graph.question, project.names)
    fields = {place for name in said for place in project.names[name]}
    for vertex in graph.vertices:
        for key in project.filters.get(vertex.tool, ()):
            for one in (vertex.parameters or {}).get(key) or ():
                value = one.get("value") if isinstance(one, Mapping) else None
                if (
                    isinstance(value, str)
                    and one.get("op") == "="
                    and value not in graph.question
                    and not fields.isdisjoint(project.names.get(value, ()))
                ):
                    text = f"{vertex.id} picks {value}, which the question does not say."
                    yield Finding("unsaid value", Severity.WARNING, text, vertex.id, key)


def _direction(graph: Graph, phrases: Phrases) -> Iterator[Finding]:
    """Yield that the answer is the end of another side than the question asks for."""
    value, said = graph.answer.value, phrases.ends(graph.question)
    if not isinstance(value, Output) or len(said) != 1 or not phrases.is_end(value.key):
        return
    (wanted,) = said
    if value.key != wanted:
        text = f"The question asks for {wanted}, but the answer is {value.key}."
        change = Change(answer=replace(graph.answer, value=Output(value.vertex, wanted)))
        mends = (Mend(f"Answer with {wanted}", change),)
        yield Finding("question direction", Severity.WARNING, text, mends=mends)


def _short_years(text: str) -> frozenset[str]:
    """Return the years that names such as SID74 may stand for."""
    short = re.findall(r"(?<=[A-Za-z_])\d\d(?!\d)", text)
    return frozenset(f"{century}{one}" for one in short for century in ("19", "20"))


def _units(graph: Graph, phrases: Phrases) -> Iterator[Finding]:
    """Yield the steps that give an area in another unit than the one that the question says."""
    said = phrases.areas(graph.question)
    given = [(one, (one.parameters or {}).get(_UNIT)) for one in graph.vertices]
    given = [(one, unit) for one, unit in given if phrases.is_area(str(unit))]
    if len(said) != 1 or any(unit in said for _vertex, unit in given):
        return
    (wanted,) = said
    for vertex, unit in given:
        text = f"The question asks for {wanted}, but {vertex.id} gives {unit}."
        mends = (_set(vertex, _UNIT, wanted, f"Use {wanted}"),)
        yield Finding("question unit", Severity.WARNING, text, vertex.id, _UNIT, mends)


def _reaching(graph: Graph, said: Distance, project: Project) -> tuple[Mend, ...]:
    """Return the mend that gives a step the distance, where just one step takes one."""
    steps = [one for one in graph.vertices if one.tool in project.far]
    if len(steps) != 1:
        return ()
    given: dict[str, Any] = {**(steps[0].parameters or {}), "distance": _whole(said.metres)}
    if "predicate" in given:
        given["predicate"] = _WITHIN
    step = replace(steps[0], parameters=given)
    return (Mend(f"Use {said.text}", Change(edited=(step,))),)


def _picking(graph: Graph, name: str, project: Project) -> tuple[Mend, ...]:
    """Return the mend that has a step pick a name, where just one step can: it takes conditions
    on a layer that holds it, and has none yet, or one that asks another thing of that field."""
    found = []
    for vertex in graph.vertices:
        given = dict(vertex.parameters or {})
        for key, about in project.filters.get(vertex.tool, {}).items():
            fields = [
                field for layer, field in project.names[name] if given.get(about) == Layer(layer)
            ]
            had = [one for one in given.get(key) or () if isinstance(one, Mapping)]
            if not fields or any(
                one.get("field") != fields[0] or one.get("op") == "=" for one in had
            ):
                continue
            given[key] = [{"field": fields[0], "op": "=", "value": name}]
            step = replace(vertex, parameters=given)
            found.append(Mend(f"Only where {fields[0]} is {name}", Change(edited=(step,))))
    return tuple(found) if len(found) == 1 else ()


def _distance(vertex: Vertex, phrases: Phrases) -> Iterator[Finding]:
    """Tell a distance of the objective from that of the parameters, which are in metres."""
    parameters = dict(vertex.parameters or {})
    named = [key for key in _DISTANCES if isinstance(parameters.get(key), (int, float))]
    said = list(phrases.distances(vertex.objective))
    if len(named) != 1 or len(said) != 1:
        return
    key, wanted = named[0], said[0]
    given = float(parameters[key])
    if _same(given, wanted.metres):
        return
    text = f"The objective of {vertex.id} says {wanted.text}, but its {key} is {given:g} m."
    yield Finding(
        "contradiction", Severity.ERROR, text, vertex.id, key,
        (
            _set(vertex, key, _whole(wanted.metres), f"Use {wanted.text}"),
            _reworded(vertex, wanted.text, f"{given:g} m"),
        ),
    )  # fmt: skip


def _layers(vertex: Vertex, project: Project) -> Iterator[Finding]:
    said = phrase.names(vertex.objective, list(project.fields))
    used = list(dict.fromkeys(vertex.layers()))
    if len(said) == 1 and len(used) == 1 and said[0] != used[0]:
        text = f"The objective of {vertex.id} names {said[0]}, but the step works on {used[0]}."
        parameters = _swapped(dict(vertex.parameters or {}), used[0], said[0])
        mends = (
            Mend(f"Use {said[0]}", Change(edited=(replace(vertex, parameters=parameters),))),
            _reworded(vertex, said[0], used[0]),
        )
        yield Finding("contradiction", Severity.ERROR, text, vertex.id, "layer", mends)


def _fields(vertex: Vertex, project: Project) -> Iterator[Finding]:
    used = next(iter(vertex.layers()), "")
    known = list(project.fields.get(used, ()))
    given = (vertex.parameters or {}).get("field")
    said = [one for one in phrase.names(vertex.objective, known) if one != used]
    if isinstance(given, str) and len(said) == 1 and said[0] != given and given in known:
        text = f"The objective of {vertex.id} names the field {said[0]}, but it takes {given}."
        mends = (
            _set(vertex, "field", said[0], f"Use {said[0]}"),
            _reworded(vertex, said[0], given),
        )
        yield Finding("contradiction", Severity.ERROR, text, vertex.id, "field", mends)


def _texts(graph: Graph) -> Iterator[str]:
    """Yield what the steps say: objectives, and every text and name in their parameters."""
    for vertex in graph.vertices:
        yield vertex.objective
        for value in vertex.values():
            if isinstance(value, str):
                yield value
            elif not isinstance(value, (Mapping, list, tuple)):
                yield value_text(value)


def _numbers(graph: Graph) -> Iterator[float]:
    for vertex in graph.vertices:
        for value in walk(dict(vertex.parameters or {})):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                yield float(value)


def _said_numbers(graph: Graph) -> Iterator[float]:
    """Yield the numbers of parameters, those within texts such as expressions too."""
    yield from _numbers(graph)
    for vertex in graph.vertices:
        for value in walk(dict(vertex.parameters or {})):
            if isinstance(value, str):
                yield from map(float, re.findall(r"\d+(?:\.\d+)?", value))


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(abs(one), abs(other), 1e-9)


def _whole(number: float) -> Any:
    return int(number) if float(number).is_integer() else number


def _set(vertex: Vertex, key: str, value: Any, label: str) -> Mend:
    parameters = {**dict(vertex.parameters or {}), key: value}
    return Mend(label, Change(edited=(replace(vertex, parameters=parameters),), reason=label))


def _reworded(vertex: Vertex, old: str, new: str) -> Mend:
    label = f"Keep {new}"
    text = vertex.objective.replace(old, new)
    return Mend(label, Change(edited=(replace(vertex, objective=text),), reason=label))


def _swapped(value: Value, old: str, new: str) -> Any:
    if isinstance(value, Layer):
        return Layer(new) if value.name == old else value
    if isinstance(value, Mapping):
        return {key: _swapped(one, old, new) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_swapped(one, old, new) for one in value]
    return value


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
