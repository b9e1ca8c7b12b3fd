# SPDX-License-Identifier: GPL-2.0-or-later
"""A graph as a model of QGIS: it opens in the Model Designer and runs there with equal results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from qgis.core import (
    QgsApplication,
    QgsExpression,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildDependency,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelGroupBox,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterMapLayer,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QPointF, QSizeF
from qgis.PyQt.QtGui import QColor

from ..workflow.graph import Graph, Kind, Type, Variable, Vertex
from ..workflow.topology import order
from ..workflow.value import Asked, Layer, Output, Template, Value, mapped, walk
from .loss import Lost
from .remainder import VARIABLE, kept, name_of
from .tool_algorithm import OUTPUT, PREFIX, SPOKEN

Source = QgsProcessingModelChildParameterSource
_SPOT = "\ue000"
"""Marks in JSON where a part of an expression goes; no text holds this character."""
_COLUMN, _ROW = 260.0, 130.0
_BARE = re.compile(r"\W+")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
VARIABLE_MARKS = re.compile(r"[\s'\"():.]")
ANSWER, _CALCULATE = "answer", "calculate"
"""The step that gives the number of the answer, and its tool."""
LAYER_OUTPUTS = ("outputVector", "outputRaster", "outputLayer")


def to_model(
    graph: Graph, is_tool: Callable[[str], bool]
) -> tuple[QgsProcessingModelAlgorithm, tuple[Lost, ...]]:
    """Return a graph as a model, and what of it could not be held. Main thread only.

    `is_tool` tells which typed tools stand in the toolbox. Raises TopologyError for a graph
    without an order.
    """
    return _Writer(graph, is_tool).model()


class _Writer:
    def __init__(self, graph: Graph, is_tool: Callable[[str], bool]) -> None:
        self._graph = graph
        self._is_tool = is_tool
        self._lost: list[Lost] = []
        self._model = QgsProcessingModelAlgorithm(name_of(graph), "Geo-OLM")
        self._inputs: dict[str, str] = {}
        self._held: dict[str, str] = {}
        self._named: dict[str, str] = {}

    def model(self) -> tuple[QgsProcessingModelAlgorithm, tuple[Lost, ...]]:
        """Write inputs, steps and outputs."""
        steps = order(self._graph)
        for variable in self._graph.variables:
            self._variable(variable)
        sources = {one.name: one.source for one in self._graph.sources}
        for vertex in self._graph.vertices:
            for name in vertex.layers():
                self._layer(name, sources.get(name, ""))
        for place, key in enumerate(steps):
            self._step(self._graph.vertex(key), place)
        self._outputs((*steps, *self._answer()))
        self._boxes()
        if self._graph.question:
            self._model.setHelpContent({"ALG_DESC": self._graph.question})
        self._model.setVariables({VARIABLE: kept(self._graph)})
        for note in self._graph.notes:
            self._lose("", f'The note "{note.text[:40]}" is not taken over.')
        return self._model, tuple(self._lost)

    def _lose(self, vertex: str, text: str) -> None:
        self._lost.append(Lost(vertex, text))

    # -- inputs

    def _add(self, definition: QgsProcessingParameterDefinition) -> None:
        component = QgsProcessingModelParameter(definition.name())
        component.setPosition(QPointF(_COLUMN * len(self._inputs), 0))
        self._model.addModelParameter(definition, component)

    def _name(self, text: str) -> str:
        bare = _BARE.sub("_", text).strip("_") or "input"
        taken, number, found = set(self._inputs.values()), 2, bare
        while found in taken:
            found, number = f"{bare}_{number}", number + 1
        return found

    def _layer(self, name: str, source: str) -> None:
        key = f"layer {name}"
        if key not in self._inputs:
            self._inputs[key] = self._name(name)
            self._add(QgsProcessingParameterMapLayer(self._inputs[key], name, source or None))

    def _variable(self, variable: Variable) -> None:
        self._inputs[variable.name] = self._name(variable.name)
        name, label = self._inputs[variable.name], variable.label or variable.name
        default = variable.default
        if variable.type is Type.NUMBER:
            kind = QgsProcessingParameterNumber.Type.Double
            self._add(QgsProcessingParameterNumber(name, label, kind, default))
        elif variable.type is Type.CHOICE:
            self._add(
                QgsProcessingParameterEnum(
                    name, label, list(variable.choices), defaultValue=default,
                    usesStaticStrings=True,
                )
            )  # fmt: skip
        elif variable.type is Type.LAYER:
            self._add(QgsProcessingParameterMapLayer(name, label, default))
        else:
            self._add(QgsProcessingParameterString(name, label, default))

    # -- steps

    def _step(self, vertex: Vertex, place: int) -> None:
        if vertex.kind is not Kind.TASK:
            self._special(vertex)
            return
        identity = self._algorithm(vertex)
        algorithm = (
            QgsApplication.processingRegistry().algorithmById(identity) if identity else None
        )
        if algorithm is None:
            what = vertex.tool or "no tool yet"
            self._lose(vertex.id, f"{vertex.id} ({what}) is no algorithm, so a model has none.")
            return
        child = QgsProcessingModelChildAlgorithm(identity)
        child.setChildId(vertex.id)
        self._named[vertex.id] = f"{vertex.title or algorithm.displayName()} {vertex.id}"
        child.setDescription(self._named[vertex.id])
        child.setActive(not vertex.bypassed)
        if vertex.bypassed:
            self._lose(vertex.id, f"{vertex.id} is off; a model does not hand its input on.")
        x, y = vertex.position or (_COLUMN * (place + 1), _ROW * (place % 3 + 1))
        child.setPosition(QPointF(x, y))
        if vertex.comment or vertex.objective:
            comment = child.comment()
            comment.setDescription(vertex.comment or vertex.objective)
        given = dict(vertex.parameters or {})
        if vertex.tool == "run_algorithm":
            given = dict(given.get("parameters") or {})
        for name, value in given.items():
            definition = algorithm.parameterDefinition(name)
            if definition is None or definition.isDestination():
                continue
            sources = self._sources(vertex, value)
            if sources is not None:
                child.addParameterSources(name, sources)
        before = [one for one in self._graph.parents(vertex) if one in self._held]
        child.setDependencies([QgsProcessingModelChildDependency(one) for one in before])
        self._held[vertex.id] = identity
        self._model.addChildAlgorithm(child)

    def _special(self, vertex: Vertex) -> None:
        if vertex.kind is Kind.QUESTION:
            name = self._name(vertex.id)
            self._inputs[vertex.id] = name
            default = (vertex.parameters or {}).get("default")
            self._add(QgsProcessingParameterString(name, vertex.objective or name, default))
        else:
            self._lose(vertex.id, f"The review stop {vertex.id} is not taken over.")

    def _algorithm(self, vertex: Vertex) -> str:
        if vertex.tool == "run_algorithm":
            return str((vertex.parameters or {}).get("algorithm", ""))
        return f"geo_olm:{PREFIX}{vertex.tool}" if self._is_tool(vertex.tool) else ""

    # -- values

    def _sources(self, vertex: Vertex, value: Value) -> list[Source] | None:
        """Return the sources of a parameter, None where a model cannot hold it."""
        if isinstance(value, (list, tuple)) and any(
            isinstance(one, (Layer, Output, Asked)) for one in value
        ):
            found = [self._source(vertex, one) for one in value]
            return [one for one in found if one is not None]
        one = self._source(vertex, value)
        return None if one is None else [one]

    def _source(self, vertex: Vertex, value: Value) -> Source | None:
        if isinstance(value, Layer):
            return Source.fromModelParameter(self._inputs[f"layer {value.name}"])
        if isinstance(value, Asked):
            return Source.fromModelParameter(self._inputs[value.variable])
        if isinstance(value, Output):
            return self._output(vertex, value)
        if isinstance(value, Template):
            return self._template(value)
        if isinstance(value, (Mapping, list, tuple)):
            return self._structure(vertex, value)
        return Source.fromStaticValue(value)

    def _structure(self, vertex: Vertex, value: Value) -> Source | None:
        """Return a list or an object: itself for an algorithm, for a typed tool its JSON, put
        together by an expression where variables and outputs of steps stand in it.

        QGIS writes lists as JSON, but no value alone: its brackets are cut off.
        """
        parts: list[str] = []
        layers = [one for one in walk(value) if isinstance(one, Layer)]

        def marked(leaf: Value) -> Value:
            if isinstance(leaf, Template):
                parts.append(self._template(leaf).expression())
            elif isinstance(leaf, Output):
                parts.append(self._part(leaf.vertex, leaf.key))
            elif isinstance(leaf, Asked):
                parts.append(f"@{self._inputs[leaf.variable]}")
            else:
                return leaf
            return f"{_SPOT}{len(parts)}{_SPOT}"

        found = mapped(value, marked)
        plain = vertex.tool == "run_algorithm"
        if layers or (parts and plain):
            self._lose(vertex.id, f"A parameter of {vertex.id} uses another step deep inside.")
            return None
        if plain:
            return Source.fromStaticValue(found)
        texts = re.split(f'"{_SPOT}\\d+{_SPOT}"', json.dumps(found, ensure_ascii=False))
        if not parts:
            return Source.fromStaticValue(texts[0])
        pieces = [QgsExpression.quotedString(texts[0])]
        for part, text in zip(parts, texts[1:]):
            pieces += [f"substr(to_json(array({part})), 2, -1)", QgsExpression.quotedString(text)]
        return Source.fromExpression(" || ".join(pieces))

    def _output(self, vertex: Vertex, value: Output) -> Source | None:
        if value.vertex in self._inputs:
            return Source.fromModelParameter(self._inputs[value.vertex])
        seen = self._graph.vertex(value.vertex)
        if seen.kind is Kind.REVIEW:
            shown = (seen.parameters or {}).get("layer")
            return self._source(vertex, shown)
        if value.vertex not in self._held:
            self._lose(vertex.id, f"{vertex.id} uses {value.vertex}, which a model has not.")
            return None
        key = value.key or self._main(seen)
        if key in self._output_names(value.vertex):
            return Source.fromChildOutput(value.vertex, key)
        return Source.fromExpression(self._number(value))

    def _main(self, vertex: Vertex) -> str:
        """Return the output that a step means without a key: its layer, else its only number."""
        names = self._output_names(vertex.id)
        if not self._tells(vertex.id):
            return next((key for key, kind in names.items() if kind in LAYER_OUTPUTS), OUTPUT)
        given = vertex.parameters or {}
        if SPOKEN in names and (given.get("conditions") or given.get("where")):
            return SPOKEN
        return next((key for key, kind in names.items() if kind == "outputNumber"), OUTPUT)

    def _tells(self, key: str) -> bool:
        """Tell whether a step is a typed tool that gives numbers, and a layer only of those."""
        if not self._held[key].startswith(f"geo_olm:{PREFIX}"):
            return False
        algorithm = QgsApplication.processingRegistry().algorithmById(self._held[key])
        flag = QgsProcessingParameterDefinition.Flag.FlagOptional
        return bool(algorithm.parameterDefinition(OUTPUT).flags() & flag)

    def _number(self, value: Output) -> str:
        """Return the expression for a number of a step."""
        if value.vertex not in self._held:
            self._lose("", f"{value.vertex}, which an expression names, is no step of the model.")
            return "NULL"
        names = self._output_names(value.vertex)
        key = value.key or self._main(self._graph.vertex(value.vertex))
        if key in names:
            return self._variable_of(value.vertex, key)
        if value.key in ("count", "features"):
            layer = next((key for key, kind in names.items() if kind in LAYER_OUTPUTS), OUTPUT)
            return f"layer_property({self._variable_of(value.vertex, layer)}, 'feature_count')"
        self._lose(value.vertex, f"{value.text} is no output of its algorithm.")
        return "NULL"

    def _variable_of(self, vertex: str, output: str) -> str:
        """Return the variable by which expressions of a model mean an output of a step."""
        name = VARIABLE_MARKS.sub("_", f"{self._named[vertex]}_{output}")
        return f"@{name}" if _PLAIN.fullmatch(name) else f"var({QgsExpression.quotedString(name)})"

    def _part(self, name: str, key: str) -> str:
        """Return the expression for an input, or a number of a step."""
        if name in self._inputs and key in ("", "answer"):
            return f"@{self._inputs[name]}"
        return self._number(Output(name, key))

    def _template(self, template: Template) -> Source:
        """Return an expression that puts the text together."""
        parts: list[str] = []

        def fill(name: str, key: str) -> str:
            parts.append(self._part(name, key))
            return "\0"

        texts = template.filled(fill).split("\0")
        pieces = [QgsExpression.quotedString(texts[0])]
        for part, text in zip(parts, texts[1:]):
            pieces += [f"to_string({part})", QgsExpression.quotedString(text)]
        joined = " || ".join(one for one in pieces if one != "''")
        return Source.fromExpression(joined or "''")

    def _output_names(self, vertex: str) -> dict[str, str]:
        identity = self._held[vertex]
        algorithm = QgsApplication.processingRegistry().algorithmById(identity)
        return {one.name(): one.type() for one in algorithm.outputDefinitions()}

    # -- outputs

    def _answer(self) -> tuple[str, ...]:
        """Add a step that gives the number of the answer, where no table of a step holds it."""
        value = self._graph.answer.value
        if value is None or not value.key or value.vertex not in self._held:
            return ()
        names = self._output_names(value.vertex)
        if self._tells(value.vertex) or not self._is_tool(_CALCULATE):
            return ()
        if value.key not in names and value.key not in ("count", "features"):
            self._lose(value.vertex, f"{value.text} is no output of its algorithm.")
            return ()
        key = ANSWER
        while self._graph.has(key):
            key += "_"
        child = QgsProcessingModelChildAlgorithm(f"geo_olm:{PREFIX}{_CALCULATE}")
        child.setChildId(key)
        child.setDescription(f"Answer {key}")
        child.setPosition(QPointF(_COLUMN * (len(self._held) + 1), _ROW * 4))
        number = Source.fromExpression(f"to_string({self._number(value)})")
        child.addParameterSources("expression", [number])
        child.setDependencies([QgsProcessingModelChildDependency(value.vertex)])
        self._held[key] = child.algorithmId()
        self._model.addChildAlgorithm(child)
        return (key,)

    def _ends(self, key: str) -> list[str]:
        """Return the outputs of a step that are the model's: its layer, and others asked for."""
        names = self._output_names(key)
        layers = [name for name, kind in names.items() if kind in LAYER_OUTPUTS]
        asked: Mapping[str, Value] = {}
        if self._graph.has(key):
            asked = (self._graph.vertex(key).parameters or {}).get("parameters") or {}
        return [name for name in layers if name == layers[0] or asked.get(name)]

    def _boxes(self) -> None:
        """Draw a box around the steps of each group."""
        for group in self._graph.groups:
            places = [
                self._model.childAlgorithm(key).position()
                for key in group.vertices
                if key in self._held
            ]
            if not places:
                self._lose("", f'The group "{group.title}" holds no step of the model.')
                continue
            across, down = [one.x() for one in places], [one.y() for one in places]
            box = QgsProcessingModelGroupBox(group.title)
            box.setPosition(QPointF((min(across) + max(across)) / 2, (min(down) + max(down)) / 2))
            box.setSize(QSizeF(max(across) - min(across) + _COLUMN, max(down) - min(down) + _ROW))
            if QColor.isValidColor(group.color):  # a tone of the palette is none of a model
                box.setColor(QColor(group.color))
            self._model.addGroupBox(box)

    def _outputs(self, steps: tuple[str, ...]) -> None:
        """Let the layers that no other step uses be the model's, and tables of the numbers that
        the answer names or no other step uses."""
        used = {parent for parent, child in self._graph.edges() if child in self._held}
        answer = self._graph.answer
        told = {name for name, _ in Template(answer.text).references()}
        told |= {answer.value.vertex} if answer.value is not None else set()
        for key in steps:
            if key not in self._held or (key in used and key not in told):
                continue
            child = self._model.childAlgorithm(key)
            ends = {}
            for place, layer in enumerate(self._ends(key)):
                name = f"Result {key} {layer}" if place else f"Result {key}"
                ends[name] = QgsProcessingModelOutput(name)
                ends[name].setChildId(key)
                ends[name].setChildOutputName(layer)
            child.setModelOutputs(ends)
            self._model.setChildAlgorithm(child)
        self._model.updateDestinationParameters()
