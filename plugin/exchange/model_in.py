# SPDX-License-Identifier: GPL-2.0-or-later
"""A model of QGIS as a graph, so that it can be explained, edited and extended; it is never run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qgis.core import (
    Qgis,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterNumber,
)

from ..workflow.graph import Graph, Group, Source, Type, Variable, Vertex
from ..workflow.role import Roles
from ..workflow.value import Asked, Layer, Output, Value
from .loss import Lost
from .model_out import ANSWER
from .remainder import VARIABLE, known, restored
from .tool_algorithm import OUTPUT, PREFIX

_LAYERS = {"vector", "source", "raster", "layer", "maplayer", "mesh", "pointcloud"}
_OURS = f"geo_olm:{PREFIX}"
_FROM = Qgis.ProcessingModelChildParameterSource


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

    def read(self) -> Read:
        """Read inputs, then steps."""
        children = {
            key: one
            for key, one in self._model.childAlgorithms().items()
            if not self._tells_answer(key, one)
        }
        inputs = [one for one in self._model.parameterDefinitions() if not one.isDestination()]
        sources, variables = [], []
        for one in inputs:
            if self._is_layer(one):
                name = one.description() or one.name()
                self._layers[one.name()] = name
                sources.append(Source(name, str(one.defaultValue() or "")))
            else:
                variables.append(self._variable(one))
        vertices = tuple(self._vertex(key, child) for key, child in children.items())
        graph = Graph(
            question=str(self._model.helpContent().get("ALG_DESC", "")),
            vertices=vertices,
            variables=tuple(variables),
            sources=tuple(sources),
            groups=tuple(self._groups(vertices)),
            title=self._model.displayName(),
        )
        for name in self._model.variables():
            if name != VARIABLE:
                self._lost.append(Lost("", f"The model's variable {name} is not taken over."))
        graph, lost = restored(graph, self._past)
        return Read(graph, (*self._lost, *lost))

    def _is_layer(self, definition: QgsProcessingParameterDefinition) -> bool:
        """Tell whether an input is a layer of the project, and no variable of the workflow."""
        variable = self._past.variable(definition.name())
        asked = variable is not None and variable.type is Type.LAYER
        return definition.type() in _LAYERS and not asked

    def _tells_answer(self, key: str, child: QgsProcessingModelChildAlgorithm) -> bool:
        """Tell whether a step is the one that an exported model gives its answer by."""
        given = self._past.answer.value is not None and not self._past.has(key)
        ours = child.algorithmId() == f"{_OURS}calculate"
        return given and ours and key.rstrip("_") == ANSWER

    def _variable(self, definition: QgsProcessingParameterDefinition) -> Variable:
        label = definition.description()
        default = definition.defaultValue()
        if isinstance(definition, QgsProcessingParameterNumber):
            return Variable(definition.name(), Type.NUMBER, label, default)
        if definition.type() == "enum":
            options = tuple(definition.options())
            chosen = options[default] if isinstance(default, int) else default
            return Variable(definition.name(), Type.CHOICE, label, chosen, choices=options)
        if definition.type() == "datetime":
            return Variable(definition.name(), Type.DATE, label, default)
        if definition.type() not in ("string", "expression", "boolean", "distance", "field"):
            kind = definition.type()
            self._lost.append(Lost("", f"The input {definition.name()} ({kind}) becomes a text."))
        kept = definition.type() == "distance"
        return Variable(definition.name(), Type.NUMBER if kept else Type.TEXT, label, default)

    def _vertex(self, key: str, child: QgsProcessingModelChildAlgorithm) -> Vertex:
        identity = child.algorithmId()
        given: dict[str, Value] = {}
        for name, sources in child.parameterSources().items():
            values = [self._value(key, one) for one in sources]
            given[name] = values[0] if len(values) == 1 else values
        typed = identity.startswith(_OURS)
        tool = identity[len(_OURS) :] if typed else "run_algorithm"
        parameters = (
            {name: _decoded(value) for name, value in given.items()}
            if typed
            else {"algorithm": identity, "parameters": given}
        )
        if child.algorithm() is None:
            self._lost.append(Lost(key, f'This QGIS has no algorithm "{identity}".'))
        role = self._roles.of(tool)
        place = child.position()
        vertex = Vertex(
            id=key,
            agent="" if role is None else role.name,
            tool=tool,
            parameters=parameters,
            title=_title(child, key),
            comment=child.comment().description(),
            position=(place.x(), place.y()),
            bypassed=not child.isActive(),
        )
        used = {one.vertex for one in vertex.outputs()}
        after = [one.childId for one in child.dependencies() if one.childId not in used]
        return replace(vertex, after=tuple(after))

    def _value(self, key: str, source: QgsProcessingModelChildParameterSource) -> Value:
        kinds = {
            _FROM.StaticValue: lambda: source.staticValue(),
            _FROM.ModelParameter: lambda: self._input(source.parameterName()),
            _FROM.ChildOutput: lambda: self._output(source),
        }
        found: Callable[[], Value] | None = kinds.get(source.source())
        if found is not None:
            return found()
        text = source.expression() or source.expressionText()
        self._lost.append(Lost(key, f"The expression {text} of {key} becomes a text."))
        return text

    def _input(self, name: str) -> Value:
        return Layer(self._layers[name]) if name in self._layers else Asked(name)

    def _output(self, source: QgsProcessingModelChildParameterSource) -> Output:
        key = source.outputName()
        return Output(source.outputChildId(), "" if key == OUTPUT else key)

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


def _decoded(value: Value) -> Value:
    """Return a static JSON text of a typed tool as the list or object that it says."""
    if isinstance(value, str) and value[:1] in "[{" and value:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _title(child: QgsProcessingModelChildAlgorithm, key: str) -> str:
    """Return a step's title without the id that an exported model adds, "" for its tool's own."""
    said = child.description()
    found = said[: -len(key) - 1] if said.endswith(f" {key}") else said
    own = child.algorithm()
    return "" if own is not None and found == own.displayName() else str(found)
