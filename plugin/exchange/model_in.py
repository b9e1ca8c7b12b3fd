# SPDX-License-Identifier: GPL-2.0-or-later
"""A model of QGIS as a graph, so that it can be explained, edited and extended; it is never run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qgis.core import (
    NULL,
    Qgis,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingParameterDefinition,
)

from ...tools.catalog import build_registry
from ..workflow.graph import Graph, Group, Source, Type, Variable, Vertex
from ..workflow.role import Roles
from ..workflow.value import Asked, Layer, Output, Template, Value
from .loss import Lost
from .model_expression import Formula, meant
from .model_input import LAYERS, losses, plain, variable
from .model_out import ANSWER, LAYER_OUTPUTS, VARIABLE_MARKS
from .remainder import VARIABLE, known, restored
from .tool_algorithm import OUTPUT, PREFIX, SPOKEN

_OURS = f"geo_olm:{PREFIX}"
_BARE = re.compile(r"\W+")
_FROM = Qgis.ProcessingModelChildParameterSource
_TOLD = ("outputNumber", "outputString", *LAYER_OUTPUTS)


class ModelError(Exception):
    """A file that is no model which can be read; the message is a sentence."""


@dataclass(frozen=True)
class Read:
    """A model as a graph, with what the graph cannot hold."""

    graph: Graph
    lost: tuple[Lost, ...]


def from_file(path: Path, roles: Roles) -> Read:
    """Return the graph of a .model3 file. Raises ModelError."""
    if path.suffix == ".py":
        raise ModelError(f"{path.name} is a script; only models (.model3) can be read.")
    model = QgsProcessingModelAlgorithm()
    if not path.is_file():
        raise ModelError(f"There is no file {path}.")
    if not model.fromFile(str(path)):
        raise ModelError(f"{path.name} is no model that this QGIS can read.")
    return from_model(model, roles)


def from_model(model: QgsProcessingModelAlgorithm, roles: Roles) -> Read:
    """Return the graph of a model, and what of it could not be held. Main thread only."""
    return _Reader(model, roles).read()


class _Reader:
    def __init__(self, model: QgsProcessingModelAlgorithm, roles: Roles) -> None:
        self._model = model
        self._roles = roles
        self._lost: list[Lost] = []
        self._layers: dict[str, str] = {}
        self._past = known(str(model.variables().get(VARIABLE, "")))
        self._tools = {one.name: one for one in build_registry().definitions()}
        self._ids: dict[str, str] = {}
        self._formulas: list[Vertex] = []

    def read(self) -> Read:
        """Read inputs, then steps."""
        children = {
            key: one
            for key, one in self._model.childAlgorithms().items()
            if not self._tells_answer(key, one)
        }
        for key in children:
            self._ids[key] = self._free(_BARE.sub("_", key).strip("_") or "step")
        sources, variables = self._inputs()
        self._named = self._variables(children, variables)
        vertices = [self._vertex(key, child) for key, child in children.items()]
        vertices += self._formulas
        graph = Graph(
            question=str(self._model.helpContent().get("ALG_DESC", "")),
            vertices=tuple(vertices),
            variables=tuple(variables),
            sources=tuple(sources),
            groups=tuple(self._groups(tuple(vertices))),
            title=self._model.displayName(),
        )
        self._outside()
        graph, lost = restored(graph, self._past)
        return Read(graph, (*self._lost, *lost))

    def _lose(self, vertex: str, text: str) -> None:
        self._lost.append(Lost(vertex, text))

    def _free(self, name: str) -> str:
        """Return an id that no step and no input has."""
        taken = {*self._ids.values(), *(one.id for one in self._formulas)}
        taken |= {one.name() for one in self._model.parameterDefinitions()}
        number, found = 2, name
        while found in taken:
            number, found = number + 1, f"{name}_{number}"
        return found

    def _inputs(self) -> tuple[list[Source], list[Variable]]:
        """Return the layers and the other inputs."""
        sources, variables = [], []
        for one in self._model.parameterDefinitions():
            if one.isDestination():
                continue
            self._lost += losses(one, self._model.parameterComponents().get(one.name()))
            if self._is_layer(one):
                name = one.description() or one.name()
                self._layers[one.name()] = name
                sources.append(Source(name, str(one.defaultValue() or "")))
            else:
                variables.append(variable(one))
        return sources, variables

    def _variables(
        self, children: Mapping[str, QgsProcessingModelChildAlgorithm], given: list[Variable]
    ) -> dict[str, tuple[Value, bool]]:
        """Return by its name what each variable of the model's expressions means, and whether it
        is a number."""
        found: dict[str, tuple[Value, bool]] = {
            one.name: (Asked(one.name), one.type is Type.NUMBER) for one in given
        }
        for key, child in children.items():
            algorithm = child.algorithm()
            for one in [] if algorithm is None else algorithm.outputDefinitions():
                if one.type() in _TOLD:
                    name = VARIABLE_MARKS.sub("_", f"{child.description()}_{one.name()}")
                    found[name] = self._given(key, one.name()), one.type() == "outputNumber"
        return found

    def _outside(self) -> None:
        """List what the model has beside its inputs and steps."""
        for name in self._model.variables():
            if name != VARIABLE:
                self._lose("", f"The model's variable {name} is not taken over.")
        for key, one in self._model.helpContent().items():
            if key != "ALG_DESC" and one:
                self._lose("", f"The model's help on {key} is not taken over.")
        if self._model.group() and not self._past.vertices:
            self._lose("", f"The model's group {self._model.group()} is not taken over.")

    def _is_layer(self, definition: QgsProcessingParameterDefinition) -> bool:
        """Tell whether an input is a layer of the project, and no variable of the workflow."""
        before = self._past.variable(definition.name())
        asked = before is not None and before.type is Type.LAYER
        return definition.type() in LAYERS and not asked

    def _tells_answer(self, key: str, child: QgsProcessingModelChildAlgorithm) -> bool:
        """Tell whether a step is the one that an exported model gives its answer by."""
        given = self._past.answer.value is not None and not self._past.has(key)
        ours = child.algorithmId() == f"{_OURS}calculate"
        return given and ours and key.rstrip("_") == ANSWER

    def _vertex(self, key: str, child: QgsProcessingModelChildAlgorithm) -> Vertex:
        identity, name = child.algorithmId(), self._ids[key]
        typed = identity.startswith(_OURS)
        tool = identity[len(_OURS) :] if typed else "run_algorithm"
        given = dict(self._parameters(key, child, tool if typed else ""))
        if child.algorithm() is None:
            self._lose(name, f'This QGIS has no algorithm "{identity}".')
        role, place = self._roles.of(tool), child.position()
        vertex = Vertex(
            id=name,
            agent="" if role is None else role.name,
            tool=tool,
            parameters=given if typed else {"algorithm": identity, "parameters": given},
            title=_title(child, key),
            comment=child.comment().description(),
            position=(place.x(), place.y()),
            bypassed=not child.isActive(),
        )
        used = {one.vertex for one in vertex.outputs()}
        waited = [
            self._ids[one.childId] for one in child.dependencies() if one.childId in self._ids
        ]
        return replace(vertex, after=tuple(one for one in waited if one not in used))

    def _parameters(
        self, key: str, child: QgsProcessingModelChildAlgorithm, tool: str
    ) -> Iterator[tuple[str, Value]]:
        """Yield the parameters of a step, and its optional outputs that are used."""
        for name, sources in child.parameterSources().items():
            values = [self._value(key, name, one) for one in sources]
            value = values[0] if len(values) == 1 else values
            yield name, self._decoded(value, tool, name) if tool else value
        ends = [one.childOutputName() for one in child.modelOutputs().values()]
        for title in child.modelOutputs():
            if title.removeprefix("Result ").split(" ")[0] != key:
                self._lose(self._ids[key], f'The name "{title}" of a result is not taken over.')
        for name in () if tool else dict.fromkeys([*ends, *self._used(key)]):
            algorithm = child.algorithm()
            one = None if algorithm is None else algorithm.parameterDefinition(name)
            if one is not None and one.isDestination() and name != OUTPUT:
                yield name, "TEMPORARY_OUTPUT"

    def _used(self, key: str) -> Iterator[str]:
        """Yield the outputs of a step that other steps use."""
        for child in self._model.childAlgorithms().values():
            for sources in child.parameterSources().values():
                for one in sources:
                    if one.source() == _FROM.ChildOutput and one.outputChildId() == key:
                        yield one.outputName()

    def _value(self, key: str, name: str, source: QgsProcessingModelChildParameterSource) -> Value:
        kinds = {
            _FROM.StaticValue: lambda: self._static(key, name, source.staticValue()),
            _FROM.ModelParameter: lambda: self._input(source.parameterName()),
            _FROM.ChildOutput: lambda: self._given(source.outputChildId(), source.outputName()),
        }
        found: Callable[[], Value] | None = kinds.get(source.source())
        if found is not None:
            return found()
        return self._expression(key, source.expression() or source.expressionText())

    def _static(self, key: str, name: str, value: Value) -> Value:
        found = plain(value)
        if found is None and value is not None and value != NULL:
            kind = type(value).__name__
            self._lose(self._ids[key], f"The value of {name} ({kind}) is not taken over.")
        return found

    def _expression(self, key: str, text: str) -> Value:
        """Return what an expression means: a value, or the number of a step that calculates it."""
        step = self._ids[key]
        values = {name: value for name, (value, _) in self._named.items()}
        numbers = frozenset(name for name, (_, is_number) in self._named.items() if is_number)
        found = meant(text, values, numbers)
        if isinstance(found, Formula):
            name = self._free(f"{step}_number")
            role = self._roles.of("calculate")
            agent = "" if role is None else role.name
            made = Vertex(name, agent, tool="calculate", parameters={"expression": found.text})
            self._formulas.append(made)
            self._lose(step, f"The expression {text} of {step} becomes the step {name}.")
            return Output(name, "value")
        if found is None:
            self._lose(step, f"The expression {text} of {step} becomes a text.")
            return text
        if not isinstance(found, (Output, Asked, Template, list, dict)):
            self._lose(step, f"The expression {text} of {step} becomes its value, {found}.")
        return found

    def _input(self, name: str) -> Value:
        return Layer(self._layers[name]) if name in self._layers else Asked(name)

    def _given(self, child: str, key: str) -> Output:
        """Return an output of a step; its main layer, and features it speaks of, have no key."""
        return Output(self._ids.get(child, child), "" if key in (OUTPUT, SPOKEN) else key)

    def _decoded(self, value: Value, tool: str, name: str) -> Value:
        """Return a JSON text of a typed tool's list or object as what it says."""
        known = self._tools.get(tool)
        schema = {} if known is None else known.parameters.get("properties", {}).get(name, {})
        held = schema.get("type") in ("array", "object") or "anyOf" in schema
        if not held or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            return value

    def _groups(self, vertices: tuple[Vertex, ...]) -> Any:
        for box in self._model.groupBoxes():
            middle, size = box.position(), box.size()
            inside = tuple(
                one.id
                for one in vertices
                if one.position is not None
                and abs(one.position[0] - middle.x()) <= size.width() / 2
                and abs(one.position[1] - middle.y()) <= size.height() / 2
            )
            if inside:
                yield Group(box.description(), inside, box.color().name())
            else:
                self._lost.append(Lost("", f'The box "{box.description()}" holds no step.'))


def _title(child: QgsProcessingModelChildAlgorithm, key: str) -> str:
    """Return a step's title without the id that an exported model adds, "" for its tool's own."""
    said = child.description()
    found = said[: -len(key) - 1] if said.endswith(f" {key}") else said
    own = child.algorithm()
    return "" if own is not None and found == own.displayName() else str(found)
