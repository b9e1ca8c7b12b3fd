# SPDX-License-Identifier: GPL-2.0-or-later
"""The activity-on-vertex graph G = (V, E, A, O) of the GeoFlow paper, as frozen data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .value import Asked, Layer, Output, Template, Value, mapped, walk


class Kind(str, Enum):
    """What a vertex is: work, a question to the user, or a stop at which the user looks."""

    TASK = "task"
    QUESTION = "question"
    REVIEW = "review"


class Status(str, Enum):
    """Where a vertex stands; pending, completed and failed are those of the Flow paper."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    CACHED = "cached"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def is_done(self) -> bool:
        """Whether what the vertex gives may be used."""
        return self in (Status.COMPLETED, Status.CACHED)


class Type(str, Enum):
    """What a variable holds."""

    LAYER = "layer"
    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    CHOICE = "choice"


@dataclass(frozen=True)
class Variable:
    """A value asked for at run time; `default` None means that it must be given.

    `family` is a Family value for layers, `choices` the texts of a choice, `unit` a number's.
    """

    name: str
    type: Type
    label: str = ""
    default: Any = None
    family: str = "any"
    choices: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Vertex:
    """A vertex: `agent` does `objective` by calling `tool` with `parameters`.

    A task without a tool, or with `parameters` None, is abstract: its agent chooses the calls.
    `after` are vertices that must be done before, beside those whose outputs are used.
    `comment` is the user's; `position` the place on the canvas; a bypassed vertex hands its first
    input layer on. For a question `objective` is what is asked, `parameters` may hold choices and
    a default; a review shows the layer in its parameter `layer`.
    """

    id: str
    agent: str = ""
    objective: str = ""
    tool: str = ""
    parameters: Mapping[str, Value] | None = None
    after: tuple[str, ...] = ()
    kind: Kind = Kind.TASK
    title: str = ""
    comment: str = ""
    position: tuple[float, float] | None = None
    bypassed: bool = False
    status: Status = Status.PENDING
    history: str = ""

    @property
    def is_abstract(self) -> bool:
        """Whether a model must choose the calls."""
        return self.kind is Kind.TASK and (not self.tool or self.parameters is None)

    def values(self) -> Iterator[Value]:
        """Yield every value in the parameters, at any depth."""
        return walk(dict(self.parameters or {}))

    def outputs(self) -> Iterator[Output]:
        """Yield the outputs of other vertices that the parameters use, templates included.

        A template's name counts as an output too where it is a variable's: ask the graph.
        """
        for value in self.values():
            if isinstance(value, Output):
                yield value
            elif isinstance(value, Template):
                yield from (Output(name, key) for name, key in value.references())

    def layers(self) -> Iterator[str]:
        """Yield the names of the project layers that the parameters use."""
        return (value.name for value in self.values() if isinstance(value, Layer))

    def asked(self) -> Iterator[str]:
        """Yield the names of the variables that the parameters name outside templates."""
        return (value.variable for value in self.values() if isinstance(value, Asked))


@dataclass(frozen=True)
class Answer:
    """What a finished run says: `text` is a template over outputs, `value` the number meant.

    Both empty: the last number, else the last layer, is told.
    """

    text: str = ""
    value: Output | None = None
    unit: str = ""


@dataclass(frozen=True)
class Source:
    """A project layer as the workflow knew it, so that it can be opened or matched elsewhere.

    `position` is the place on the canvas where the user put it, which a layer that no step takes
    yet needs.
    """

    name: str
    source: str = ""
    provider: str = ""
    geometry: str = ""
    crs: str = ""
    fields: tuple[str, ...] = ()
    position: tuple[float, float] | None = None


@dataclass(frozen=True)
class Group:
    """Vertices that the user put together on the canvas, with a title.

    `color` is the name of a tone of the palette, or #rrggbb from a QGIS model; of a collapsed
    group only the title is seen.
    """

    title: str
    vertices: tuple[str, ...]
    color: str = ""
    collapsed: bool = False


@dataclass(frozen=True)
class Note:
    """A comment on the canvas; `area` is x, y, width, height in em, `color` as that of a group."""

    text: str
    area: tuple[float, float, float, float]
    color: str = ""


@dataclass(frozen=True)
class Graph:
    """A workflow. The order of the vertices has no meaning but for equal choices."""

    question: str = ""
    vertices: tuple[Vertex, ...] = ()
    variables: tuple[Variable, ...] = ()
    answer: Answer = field(default_factory=Answer)
    sources: tuple[Source, ...] = ()
    groups: tuple[Group, ...] = ()
    notes: tuple[Note, ...] = ()
    title: str = ""
    description: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing on the canvas: no step, no note, no layer put there."""
        placed = any(one.position is not None for one in self.sources)
        return not (self.vertices or self.notes or placed)

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the vertices, in order."""
        return tuple(one.id for one in self.vertices)

    def has(self, identity: str) -> bool:
        """Tell whether a vertex is called so."""
        return any(one.id == identity for one in self.vertices)

    def vertex(self, identity: str) -> Vertex:
        """Return a vertex. Raises KeyError."""
        for one in self.vertices:
            if one.id == identity:
                return one
        raise KeyError(identity)

    def variable(self, name: str) -> Variable | None:
        """Return a variable, None where none is called so."""
        return next((one for one in self.variables if one.name == name), None)

    def used(self, vertex: Vertex) -> tuple[Output, ...]:
        """Return the outputs that a vertex uses, without the variables of its templates."""
        names = {one.name for one in self.variables}
        return tuple(one for one in vertex.outputs() if one.vertex not in names)

    def parents(self, vertex: Vertex) -> tuple[str, ...]:
        """Return the ids that must be done before, each once, data first; unknown ones too."""
        found = [one.vertex for one in self.used(vertex)] + list(vertex.after)
        return tuple(dict.fromkeys(found))

    def children(self, identity: str) -> tuple[str, ...]:
        """Return the ids of the vertices that wait for this one."""
        return tuple(one.id for one in self.vertices if identity in self.parents(one))

    def edges(self) -> tuple[tuple[str, str], ...]:
        """Return all (parent, child) pairs, unknown parents too."""
        return tuple((parent, one.id) for one in self.vertices for parent in self.parents(one))

    def with_vertex(self, vertex: Vertex) -> Graph:
        """Return the graph with a vertex replaced, or added at the end."""
        if not self.has(vertex.id):
            return replace(self, vertices=(*self.vertices, vertex))
        changed = tuple(vertex if one.id == vertex.id else one for one in self.vertices)
        return replace(self, vertices=changed)

    def without(self, identities: Iterable[str]) -> Graph:
        """Return the graph without some vertices; what used them is left as it is."""
        gone = set(identities)
        groups = tuple(
            replace(one, vertices=tuple(key for key in one.vertices if key not in gone))
            for one in self.groups
        )
        kept = tuple(one for one in self.vertices if one.id not in gone)
        return replace(self, vertices=kept, groups=tuple(one for one in groups if one.vertices))

    def renamed(self, old: str, new: str) -> Graph:
        """Return the graph with a vertex called otherwise, wherever it is used.

        Raises ValueError where another vertex or variable has the new name.
        """
        if new != old and (self.has(new) or self.variable(new) is not None):
            raise ValueError(f"{new} is taken")

        def change(value: Value) -> Value:
            if isinstance(value, Output) and value.vertex == old:
                return replace(value, vertex=new)
            if isinstance(value, Template):
                return Template(
                    value.filled(
                        lambda name, key: f"{{{Output(new if name == old else name, key).text}}}"
                    )
                )
            return value

        def moved(vertex: Vertex) -> Vertex:
            return replace(
                vertex,
                id=new if vertex.id == old else vertex.id,
                after=tuple(new if one == old else one for one in vertex.after),
                parameters=None if vertex.parameters is None else mapped(vertex.parameters, change),
            )

        value = self.answer.value
        return replace(
            self,
            vertices=tuple(moved(one) for one in self.vertices),
            groups=tuple(
                replace(one, vertices=tuple(new if key == old else key for key in one.vertices))
                for one in self.groups
            ),
            answer=replace(
                self.answer,
                text=change(Template(self.answer.text)).text,
                value=None if value is None else change(value),
            ),
        )

    def free_id(self) -> str:
        """Return an id that no vertex and no variable has: v1, v2 and so on."""
        taken = {*self.ids(), *(one.name for one in self.variables)}
        number = 1
        while f"v{number}" in taken:
            number += 1
        return f"v{number}"
