# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON form of a graph: what is written, and what is read back, faults with their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .graph import (
    Answer,
    Graph,
    Group,
    Kind,
    Note,
    Source,
    Status,
    Type,
    Variable,
    Vertex,
)
from .value import Asked, Layer, Output, Template, Value

FORMAT = "geoflow"
VERSION = "1.1"
_LAYER, _OUTPUT, _VARIABLE, _TEMPLATE, _LITERAL = (
    "$layer",
    "$output",
    "$variable",
    "$template",
    "$literal",
)
_MARKS = (_LAYER, _OUTPUT, _VARIABLE, _TEMPLATE, _LITERAL)
T = TypeVar("T")


class FormError(Exception):
    """A part of a workflow that cannot be read; `place` is its path in the JSON."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place


def written(graph: Graph) -> dict[str, Any]:
    """Return the JSON form of a graph, keys in a fixed order, without what is empty."""
    answer = {
        "text": graph.answer.text,
        "value": None if graph.answer.value is None else value_form(graph.answer.value),
        "unit": graph.answer.unit,
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        **_kept(
            {
                "title": graph.title,
                "description": graph.description,
                "question": graph.question,
                "variables": [_variable_form(one) for one in graph.variables],
                "sources": [_source_form(one) for one in graph.sources],
            }
        ),
        "vertices": [vertex_form(one) for one in graph.vertices],
        **_kept(
            {
                "answer": _kept(answer),
                "groups": [
                    _kept({**vars(one), "vertices": list(one.vertices)}) for one in graph.groups
                ],
                "notes": [_note_form(one) for one in graph.notes],
            }
        ),
    }


def vertex_form(vertex: Vertex) -> dict[str, Any]:
    """Return the JSON form of a vertex; a task without parameters is abstract, {} is not."""
    parameters = vertex.parameters
    form = {
        "id": vertex.id,
        "kind": "" if vertex.kind is Kind.TASK else vertex.kind.value,
        "title": vertex.title,
        "agent": vertex.agent,
        "objective": vertex.objective,
        "tool": vertex.tool,
        "after": list(vertex.after),
        "comment": vertex.comment,
        "position": None if vertex.position is None else list(vertex.position),
        "bypassed": vertex.bypassed,
        "status": "" if vertex.status is Status.PENDING else vertex.status.value,
        "history": vertex.history,
    }
    found = _kept(form)
    if parameters is not None:
        found["parameters"] = {key: value_form(one) for key, one in parameters.items()}
    return found


def value_form(value: Value) -> Any:
    """Return the JSON form of a parameter's value."""
    if isinstance(value, Layer):
        return {_LAYER: value.name}
    if isinstance(value, Output):
        key = {"key": value.key} if value.key else {}
        return {_OUTPUT: value.vertex, **key}
    if isinstance(value, Asked):
        return {_VARIABLE: value.variable}
    if isinstance(value, Template):
        return {_TEMPLATE: value.text}
    if isinstance(value, Mapping):
        form = {key: value_form(one) for key, one in value.items()}
        return {_LITERAL: form} if any(key in _MARKS for key in form) else form
    if isinstance(value, (list, tuple)):
        return [value_form(one) for one in value]
    return value


def _variable_form(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "type": variable.type.value,
        **_kept(
            {
                "label": variable.label,
                "default": variable.default,
                "family": "" if variable.family == "any" else variable.family,
                "choices": list(variable.choices),
                "unit": variable.unit,
            }
        ),
    }


def _source_form(source: Source) -> dict[str, Any]:
    position = None if source.position is None else list(source.position)
    form = {**vars(source), "fields": list(source.fields), "position": position}
    return {"name": source.name, **_kept(form)}


def _note_form(note: Note) -> dict[str, Any]:
    return {"text": note.text, "area": list(note.area), **_kept({"color": note.color})}


def _kept(form: dict[str, Any]) -> dict[str, Any]:
    """Return a form without what says nothing; 0 stays, as it is a value."""
    return {
        key: one
        for key, one in form.items()
        if one is not None and one is not False and one != "" and one != [] and one != {}
    }


@dataclass(frozen=True)
class Reading:
    """Reads one object of the JSON; remarks about what is not known go to `remark`."""

    form: Mapping[str, Any]
    place: str
    remark: Callable[[str], None]

    def text(self, key: str, needed: bool = False) -> str:
        """Return a text, "" where it is missing. Raises FormError."""
        if key not in self.form:
            if needed:
                raise FormError(self.place, f"{key} is missing.")
            return ""
        return str(self._typed(key, str, "a text"))

    def flag(self, key: str) -> bool:
        """Return true or false, false where it is missing. Raises FormError."""
        return bool(self._typed(key, bool, "true or false")) if key in self.form else False

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts. Raises FormError."""
        found = self.items(key)
        for place, one in enumerate(found):
            if not isinstance(one, str):
                raise FormError(f"{self.place}.{key}[{place}]", "a text is needed.")
        return tuple(found)

    def items(self, key: str) -> Sequence[Any]:
        """Return a list, empty where it is missing. Raises FormError."""
        found: Sequence[Any] = self._typed(key, list, "a list") if key in self.form else []
        return found

    def parts(self, key: str) -> list[Reading]:
        """Return a list of objects. Raises FormError."""
        return [
            reading(one, f"{self.place}.{key}[{place}]".lstrip("."), self.remark)
            for place, one in enumerate(self.items(key))
        ]

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Return a list of `count` numbers, () where it is missing. Raises FormError."""
        found = self.items(key)
        if found and (len(found) != count or not all(_is_number(one) for one in found)):
            raise FormError(f"{self.place}.{key}", f"{count} numbers are needed.")
        return tuple(float(one) for one in found)

    def choice(self, key: str, kind: Callable[[str], T], default: T) -> T:
        """Return a value of an enumeration. Raises FormError."""
        text = self.text(key)
        if not text:
            return default
        try:
            return kind(text)
        except ValueError:
            raise FormError(f"{self.place}.{key}", f'"{text}" is not known.') from None

    def know(self, *keys: str) -> None:
        """Tell which keys are read; others are remarked on."""
        for key in self.form:
            if key not in keys and not key.startswith("x-"):
                self.remark(f"{self.place or 'The workflow'}: {key} is not known and was left out.")

    def _typed(self, key: str, kind: type, words: str) -> Any:
        found = self.form[key]
        if not isinstance(found, kind):
            raise FormError(f"{self.place}.{key}".lstrip("."), f"{words} is needed.")
        return found


def reading(form: Any, place: str, remark: Callable[[str], None]) -> Reading:
    """Return a reader of an object. Raises FormError for anything else."""
    if not isinstance(form, Mapping):
        raise FormError(place, "an object is needed.")
    return Reading(form, place, remark)


def read(form: Any, remark: Callable[[str], None]) -> Graph:
    """Return the graph of a JSON form. Raises FormError with the place of the first fault."""
    top = reading(form, "", remark)
    top.know(
        "format", "version", "title", "description", "question", "variables", "sources",
        "vertices", "answer", "groups", "notes", "$schema",
    )  # fmt: skip
    if "vertices" not in top.form:
        raise FormError("", "vertices is missing.")
    return Graph(
        question=top.text("question"),
        vertices=tuple(_vertex(one) for one in top.parts("vertices")),
        variables=tuple(_variable(one) for one in top.parts("variables")),
        answer=_answer(reading(top.form.get("answer", {}), "answer", remark)),
        sources=tuple(_source(one) for one in top.parts("sources")),
        groups=tuple(_group(one) for one in top.parts("groups")),
        notes=tuple(_note(one) for one in top.parts("notes")),
        title=top.text("title"),
        description=top.text("description"),
    )


def read_vertex(form: Any, place: str, remark: Callable[[str], None]) -> Vertex:
    """Return the vertex of a JSON form. Raises FormError."""
    return _vertex(reading(form, place, remark))


def read_value(form: Any, place: str) -> Value:
    """Return a parameter's value from its JSON form. Raises FormError."""
    if isinstance(form, list):
        return [read_value(one, f"{place}[{at}]") for at, one in enumerate(form)]
    if not isinstance(form, Mapping):
        return form
    marks = [key for key in form if key in _MARKS]
    if not marks:
        return {key: read_value(one, f"{place}.{key}") for key, one in form.items()}
    mark = marks[0]
    if len(marks) > 1 or set(form) - {mark, "key"} or ("key" in form and mark != _OUTPUT):
        raise FormError(place, f"an object with {mark} holds nothing else.")
    if mark == _LITERAL:
        literal = form[mark]
        if not isinstance(literal, Mapping):
            raise FormError(place, f"{mark} holds an object.")
        return {key: read_value(one, f"{place}.{key}") for key, one in literal.items()}
    text, key = form[mark], form.get("key", "")
    if not isinstance(text, str) or not isinstance(key, str):
        raise FormError(place, f"{mark} holds a text.")
    if mark == _OUTPUT:
        return Output(text, key)
    return {_LAYER: Layer, _VARIABLE: Asked, _TEMPLATE: Template}[mark](text)


def _vertex(form: Reading) -> Vertex:
    form.know(
        "id", "kind", "title", "agent", "objective", "tool", "after", "comment", "position",
        "bypassed", "status", "history", "parameters",
    )  # fmt: skip
    position = form.numbers("position", 2)
    parameters = form.form.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise FormError(f"{form.place}.parameters", "an object is needed.")
    return Vertex(
        id=form.text("id", needed=True),
        agent=form.text("agent"),
        objective=form.text("objective"),
        tool=form.text("tool"),
        parameters=None
        if parameters is None
        else {
            key: read_value(one, f"{form.place}.parameters.{key}")
            for key, one in parameters.items()
        },
        after=form.texts("after"),
        kind=form.choice("kind", Kind, Kind.TASK),
        title=form.text("title"),
        comment=form.text("comment"),
        position=(position[0], position[1]) if position else None,
        bypassed=form.flag("bypassed"),
        status=form.choice("status", Status, Status.PENDING),
        history=form.text("history"),
    )


def _variable(form: Reading) -> Variable:
    form.know("name", "type", "label", "default", "family", "choices", "unit")
    return Variable(
        name=form.text("name", needed=True),
        type=form.choice("type", Type, Type.TEXT),
        label=form.text("label"),
        default=form.form.get("default"),
        family=form.text("family") or "any",
        choices=form.texts("choices"),
        unit=form.text("unit"),
    )


def _answer(form: Reading) -> Answer:
    form.know("text", "value", "unit")
    value = read_value(form.form["value"], "answer.value") if "value" in form.form else None
    if value is not None and not isinstance(value, Output):
        raise FormError("answer.value", "the output of a step is needed.")
    return Answer(form.text("text"), value, form.text("unit"))


def _source(form: Reading) -> Source:
    form.know("name", "source", "provider", "geometry", "crs", "fields", "position")
    position = form.numbers("position", 2)
    return Source(
        form.text("name", needed=True),
        form.text("source"),
        form.text("provider"),
        form.text("geometry"),
        form.text("crs"),
        form.texts("fields"),
        (position[0], position[1]) if position else None,
    )


def _group(form: Reading) -> Group:
    form.know("title", "vertices", "color", "collapsed")
    return Group(
        form.text("title"), form.texts("vertices"), form.text("color"), form.flag("collapsed")
    )


def _note(form: Reading) -> Note:
    form.know("text", "area", "color")
    area = form.numbers("area", 4)
    if not area:
        raise FormError(f"{form.place}.area", "x, y, width and height are needed.")
    return Note(form.text("text"), (area[0], area[1], area[2], area[3]), form.text("color"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
