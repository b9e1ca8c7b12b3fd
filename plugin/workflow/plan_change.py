# SPDX-License-Identifier: GPL-2.0-or-later
"""The operations by which a model changes a graph, and the change that they mean.

`{"changes": [{"change": "edit", "step": "v1", "arguments": {"distance": 2000}}, …]}`: edit merges
arguments into a step, narrow adds conditions to it, replace gives it another tool, insert puts a
new step after one and before what used that one's layer, add a new one that leaves the others as
they are, remove hands the step's first layer on, answer says another number. What no operation
names stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .change import Change, between
from .graph import Graph, Vertex
from .plan_form import Known, PlanError, Reader, task
from .plan_value import told
from .value import Layer, Output, Value, mapped

OPERATIONS = ("edit", "narrow", "replace", "insert", "add", "remove", "answer")
CONDITIONS = "conditions"
"""The argument that narrows what a step works on."""
_GIVES_NO_LAYER = ("table", "map")
"""Agents after whose steps nothing is put in between."""


@dataclass
class Editor:
    """A graph under change; `graph` is how it stands, `remarks` what was repaired."""

    graph: Graph
    known: Known
    remarks: list[str] = field(default_factory=list)

    def apply(self, form: Mapping[str, Any]) -> None:
        """Take one operation. Raises PlanError for one that does not fit the graph."""
        kind = str(form.get("change", ""))
        if kind not in OPERATIONS:
            raise PlanError(f'There is no change "{kind}". Changes: {", ".join(OPERATIONS)}.')
        getattr(self, f"_{kind}")(form)

    def _edit(self, form: Mapping[str, Any]) -> None:
        old = self._step(form)
        given = self._read({**task(self.graph, old), "arguments": _arguments(form)}, old.id)
        merged = {**dict(old.parameters or {}), **dict(given.parameters or {})}
        kept = {key: one for key, one in merged.items() if _arguments(form).get(key, 0) is not None}
        if kept != old.parameters:
            self._put(replace(old, parameters=kept, objective=str(form.get("objective", ""))))

    def _narrow(self, form: Mapping[str, Any]) -> None:
        old = self._step(form)
        added = form.get(CONDITIONS)
        before = (old.parameters or {}).get(CONDITIONS, [])
        if not isinstance(added, list) or not isinstance(before, (list, tuple)):
            raise PlanError(f"{old.id} takes its conditions as a list.")
        kept = [one for one in before if not any(_excludes(other, one) for other in added)]
        both = [*kept, *(one for one in added if one not in kept)]
        self._edit({"step": old.id, "arguments": {CONDITIONS: told(both, self.graph.has)}})

    def _replace(self, form: Mapping[str, Any]) -> None:
        old = self._step(form)
        new = self._read({**form, "id": old.id}, old.id)
        self._put(
            replace(
                old,
                agent=new.agent,
                tool=new.tool,
                parameters=new.parameters,
                objective=new.objective,
            )
        )

    def _insert(self, form: Mapping[str, Any]) -> None:
        before = self._step(form)
        users = self.graph.children(before.id)
        new = self._new(form)
        if new.agent in _GIVES_NO_LAYER:
            return
        for key in users:
            self._put(_moved(self.graph.vertex(key), Output(before.id), Output(new.id)))
        answer = self.graph.answer
        if new.tool == before.tool and answer.value and answer.value.vertex == before.id:
            value = replace(answer.value, vertex=new.id)
            self.graph = replace(self.graph, answer=replace(answer, value=value))

    def _add(self, form: Mapping[str, Any]) -> None:
        self._new(form)

    def _remove(self, form: Mapping[str, Any]) -> None:
        old = self._step(form)
        first = next((one for one in old.values() if isinstance(one, (Layer, Output))), None)
        users = self.graph.children(old.id)
        self.graph = self.graph.without([old.id])
        for key in users:
            user = self.graph.vertex(key)
            after = tuple(one for one in user.after if one != old.id)
            user = replace(user, after=after)
            self._put(user if first is None else _moved(user, Output(old.id), first))

    def _answer(self, form: Mapping[str, Any]) -> None:
        reader = self._reader()
        answer = reader.answer(form.get("value", ""))
        self.remarks += reader.remarks
        self.graph = replace(self.graph, answer=replace(answer, unit=self.graph.answer.unit))

    # -- parts

    def _step(self, form: Mapping[str, Any]) -> Vertex:
        name = str(form.get("step", ""))
        if not self.graph.has(name):
            raise PlanError(f"There is no step {name}. Steps: {', '.join(self.graph.ids())}.")
        return self.graph.vertex(name)

    def _reader(self) -> Reader:
        variables = [one.name for one in self.graph.variables]
        return Reader(self.known, self.graph.ids(), variables)

    def _read(self, form: Mapping[str, Any], own: str) -> Vertex:
        reader = self._reader()
        (found,) = reader.vertices([{**form, "after": ()}])
        self.remarks += reader.remarks
        return replace(found, id=own)

    def _new(self, form: Mapping[str, Any]) -> Vertex:
        reader = self._reader()
        fresh = self.graph.free_id()
        (found,) = reader.vertices([{**form, "id": fresh, "after": ()}])
        self.remarks += reader.remarks
        self._put(found)
        return found

    def _put(self, vertex: Vertex) -> None:
        self.graph = self.graph.with_vertex(vertex)


def change_of(form: Any, graph: Graph, known: Known) -> Change:
    """Return the change that a reply means; steps that it leaves alone stay identical.

    Raises PlanError.
    """
    changes = form.get("changes") if isinstance(form, Mapping) else None
    if not isinstance(changes, list) or not changes:
        raise PlanError('Reply with one JSON object {"changes": [...]}.')
    editor = Editor(graph, known)
    for one in changes:
        if not isinstance(one, Mapping):
            raise PlanError("Each change is an object.")
        editor.apply(one)
    return between(graph, editor.graph)


def _arguments(form: Mapping[str, Any]) -> Mapping[str, Any]:
    found = form.get("arguments")
    return found if isinstance(found, Mapping) else {}


def _excludes(new: Any, old: Any) -> bool:
    """Tell whether a condition says what a field equals otherwise than one before."""
    if not isinstance(new, Mapping) or not isinstance(old, Mapping) or new == old:
        return False
    return all(one.get("op") == "=" for one in (new, old)) and new.get("field") == old.get("field")


def _moved(vertex: Vertex, old: Output, new: Value) -> Vertex:
    """Return a step that uses another value in the place of an output."""
    if vertex.parameters is None:
        return vertex
    moved = mapped(vertex.parameters, lambda one: new if one == old else one)
    return vertex if moved == vertex.parameters else replace(vertex, parameters=moved)
