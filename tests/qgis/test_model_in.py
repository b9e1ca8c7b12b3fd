# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of QGIS as graphs: they run to the model's own results, and what is lost is listed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from exchange_case import content, difference
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from qgis.core import (
    QgsApplication,
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildDependency,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelGroupBox,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterDistance,
    QgsProcessingParameterEnum,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorLayer,
    QgsProcessingUtils,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QPointF, QSizeF
from toolbox_case import Bench, box, layer

from geo_olm.plugin.exchange.catalog import is_offered
from geo_olm.plugin.exchange.model_in import Read, from_file
from geo_olm.plugin.exchange.model_out import to_model
from geo_olm.plugin.provider import GeoOlmProvider
from geo_olm.plugin.replay import agents, replay
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.graph import (
    Answer,
    Graph,
    Group,
    Source,
    Type,
    Variable,
    Vertex,
)
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template

pytestmark = pytest.mark.usefixtures("qgis_processing", "provider")
From = QgsProcessingModelChildParameterSource
TOWNS = [(f"POINT({x * 100} 0)", f"t{x}", x * 10) for x in range(10)]
FIELDS = [(box(0, -50, 250, 50), "a"), (box(200, -50, 550, 50), "b")]


@pytest.fixture(scope="module")
def provider() -> Iterator[None]:
    """Let QGIS know our own algorithms."""
    registry = QgsApplication.processingRegistry()
    found = GeoOlmProvider()
    registry.addProvider(found)
    yield
    registry.removeProvider(found)
    assert Bench.opened == []


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    found = {}
    for made in (
        layer("towns", "Point", "name:string people:integer", TOWNS),
        layer("fields", "Polygon", "name:string", FIELDS),
    ):
        path = str(tmp_path / f"{made.name()}.gpkg")
        options = QgsVectorFileWriter.SaveVectorOptions()
        options.layerName = made.name()
        QgsVectorFileWriter.writeAsVectorFormatV3(
            made, path, QgsProject.instance().transformContext(), options
        )
        found[made.name()] = path
    return found


class Made:
    """A model put together by hand."""

    def __init__(self, name: str) -> None:
        self.model = QgsProcessingModelAlgorithm(name, "by hand")

    def input(self, definition: QgsProcessingParameterDefinition, comment: str = "") -> None:
        component = QgsProcessingModelParameter(definition.name())
        if comment:
            component.comment().setDescription(comment)
        self.model.addModelParameter(definition, component)

    def layer(self, name: str) -> None:
        kinds = [QgsProcessing.SourceType.TypeVectorAnyGeometry]
        self.input(QgsProcessingParameterVectorLayer(name, name, kinds))

    def step(
        self,
        key: str,
        algorithm: str,
        ends: dict[str, str],
        after: tuple[str, ...] = (),
        comment: str = "",
        place: tuple[float, float] = (0, 0),
        **sources: Any,
    ) -> None:
        child = QgsProcessingModelChildAlgorithm(algorithm)
        child.setChildId(key)
        child.setDescription(key.title())
        child.setPosition(QPointF(*place))
        if comment:
            child.comment().setDescription(comment)
        child.setDependencies([QgsProcessingModelChildDependency(one) for one in after])
        for name, one in sources.items():
            source = one if isinstance(one, From) else From.fromStaticValue(one)
            child.addParameterSources(name, [source])
        outputs = {}
        for title, name in ends.items():
            outputs[title] = QgsProcessingModelOutput(title)
            outputs[title].setChildId(key)
            outputs[title].setChildOutputName(name)
        child.setModelOutputs(outputs)
        self.model.addChildAlgorithm(child)
        self.model.updateDestinationParameters()


def expressions() -> Made:
    """Distances by expressions, a text put together, a constant."""
    made = Made("expressions")
    made.layer("towns")
    made.layer("fields")
    made.input(QgsProcessingParameterNumber("far", "How far", defaultValue=20))
    made.input(QgsProcessingParameterString("least", "At least", "30"))
    made.step(
        "near", "native:buffer", {}, INPUT=From.fromModelParameter("towns"),
        DISTANCE=From.fromExpression("@far * 2 + 5"), SEGMENTS=From.fromExpression("2 + 1"),
    )  # fmt: skip
    made.step(
        "big", "native:extractbyexpression", {"Big": "OUTPUT", "Small": "FAIL_OUTPUT"},
        INPUT=From.fromChildOutput("near", "OUTPUT"),
        EXPRESSION=From.fromExpression("'\"people\" >= ' || to_string(@least)"),
    )  # fmt: skip
    return made


def boxes() -> Made:
    """Steps in a group, with comments, a hand-made order and a variable of the model."""
    made = Made("boxes")
    made.layer("towns")
    made.layer("fields")
    made.step(
        "native:clip_1", "native:clip", {}, comment="only inside", place=(100, 100),
        INPUT=From.fromModelParameter("towns"), OVERLAY=From.fromModelParameter("fields"),
    )  # fmt: skip
    made.step(
        "native:addfieldtoattributestable_1", "native:fieldcalculator", {"Half": "OUTPUT"},
        after=("native:clip_1",), place=(100, 300),
        INPUT=From.fromChildOutput("native:clip_1", "OUTPUT"), FIELD_NAME="half", FIELD_TYPE=0,
        FORMULA='"people" / 2',
    )  # fmt: skip
    made.step(
        "far", "native:buffer", {"Wide": "OUTPUT"}, after=("native:clip_1",), place=(900, 300),
        INPUT=From.fromModelParameter("fields"), DISTANCE=10,
    )  # fmt: skip
    group = QgsProcessingModelGroupBox("Inside")
    group.setPosition(QPointF(100, 200))
    group.setSize(QSizeF(300, 400))
    made.model.addGroupBox(group)
    empty = QgsProcessingModelGroupBox("Nothing")
    empty.setPosition(QPointF(5000, 5000))
    empty.setSize(QSizeF(10, 10))
    made.model.addGroupBox(empty)
    made.model.setVariables({"who": "me"})
    made.model.setHelpContent({"ALG_DESC": "Towns in fields", "ALG_CREATOR": "me"})
    return made


def inputs() -> Made:
    """Inputs of many kinds."""
    made = Made("inputs")
    made.layer("towns")
    made.layer("fields")
    kind = QgsProcessingParameterNumber.Type.Integer
    made.input(QgsProcessingParameterDistance("far", "Far", 30, "towns"), "in metres")
    made.input(QgsProcessingParameterNumber("parts", "Parts", kind, 4, minValue=1, maxValue=9))
    made.input(
        QgsProcessingParameterEnum("cap", "Cap", ["Round", "Flat", "Square"], defaultValue=2)
    )
    made.input(QgsProcessingParameterBoolean("merge", "Merge", True))
    made.input(QgsProcessingParameterField("by", "By", "name", "fields"))
    made.input(QgsProcessingParameterString("said", "Said", optional=True))
    made.step(
        "wide", "native:buffer", {"Wide": "OUTPUT"}, INPUT=From.fromModelParameter("towns"),
        DISTANCE=From.fromModelParameter("far"), SEGMENTS=From.fromModelParameter("parts"),
        END_CAP_STYLE=From.fromModelParameter("cap"), DISSOLVE=From.fromModelParameter("merge"),
    )  # fmt: skip
    made.step(
        "one", "native:collect", {"One": "OUTPUT"}, INPUT=From.fromModelParameter("fields"),
        FIELD=From.fromModelParameter("by"),
    )  # fmt: skip
    return made


LOST = {
    expressions: [
        ("", "The model's group by hand is not taken over."),
        ("big", 'The name "Big" of a result is not taken over.'),
        ("big", 'The name "Small" of a result is not taken over.'),
        ("near", "The expression 2 + 1 of near becomes its value, 3."),
        ("near", "The expression @far * 2 + 5 of near becomes the step near_number."),
    ],
    boxes: [
        ("", "The model's group by hand is not taken over."),
        ("", "The model's help on ALG_CREATOR is not taken over."),
        ("", "The model's variable who is not taken over."),
        ("", 'The box "Nothing" holds no step.'),
        ("far", 'The name "Wide" of a result is not taken over.'),
        (
            "native_addfieldtoattributestable_1",
            'The name "Half" of a result is not taken over.',
        ),
    ],
    inputs: [
        ("", 'The comment "in metres" of the input far is not taken over.'),
        ("", "The choices of the input cap go by their numbers: 0 Round, 1 Flat, 2 Square."),
        ("", "The input by is a text and no longer bound to the fields of a layer."),
        ("", "The input said need not be given in the model; the workflow needs it."),
        ("", "The limits of the input parts are not taken over."),
        ("", "The model's group by hand is not taken over."),
        ("one", 'The name "One" of a result is not taken over.'),
        ("wide", 'The name "Wide" of a result is not taken over.'),
    ],
}


def ran(model: QgsProcessingModelAlgorithm, files: dict[str, str]) -> list[dict[str, Any]]:
    """Run a model and return the content of its layers."""
    context = QgsProcessingContext()
    given = {
        one.name(): "TEMPORARY_OUTPUT"
        if one.isDestination()
        else files.get(one.name(), one.defaultValue())
        for one in model.parameterDefinitions()
    }
    if model.parameterDefinition("said") is not None:
        given["said"] = "x"
    results, done = model.create().run(given, context, QgsProcessingFeedback())
    assert done, results
    return [
        content(QgsProcessingUtils.mapLayerFromString(value, context))
        for key, value in sorted(results.items())
        if isinstance(value, str)
    ]


def read(made: QgsProcessingModelAlgorithm, path: Path) -> Read:
    assert made.toFile(str(path))
    return from_file(path, agents())


def matched(layers: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    """Tell whether each layer has its equal among the others."""
    return all(any(not difference(one, other) for other in others) for one in layers)


@pytest.mark.parametrize("kind", [expressions, boxes, inputs])
def test_a_model_of_any_kind_runs_the_same_as_a_graph_and_exported_again(
    kind: Any, tmp_path: Path, files: dict[str, str]
) -> None:
    model = kind().model
    wanted = ran(model, files)
    assert wanted
    assert all(one["rows"] for one in wanted)
    found = read(model, tmp_path / "m.model3")
    assert sorted((one.vertex, one.text) for one in found.lost) == sorted(LOST[kind])
    project = QgsProject()
    values = {**files, **({"said": "x"} if found.graph.variable("said") else {})}
    used = {name for one in found.graph.vertices for name in one.layers()}
    for name in used:
        project.addMapLayer(QgsVectorLayer(files[name], name))
    values = {key: one for key, one in values.items() if key not in files}
    there = set(project.mapLayers())
    record = replay(found.graph, project, Settings(), values, str(tmp_path), lambda event: None)
    assert record["status"] == "ok", record["reason"]
    made = [content(one) for key, one in project.mapLayers().items() if key not in there]
    assert matched(wanted, made)
    project.clear()
    again, lost = to_model(found.graph, is_offered)
    assert lost == ()
    assert matched(wanted, ran(again, files))


def test_groups_comments_and_order_of_a_model_are_the_graph_s(tmp_path: Path) -> None:
    graph = read(boxes().model, tmp_path / "m.model3").graph
    clip, half = "native_clip_1", "native_addfieldtoattributestable_1"
    assert [(one.title, set(one.vertices)) for one in graph.groups] == [("Inside", {clip, half})]
    assert graph.vertex(clip).comment == "only inside"
    assert graph.vertex("far").after == (clip,)
    assert graph.question == "Towns in fields"


def test_texts_and_arithmetic_of_a_model_become_templates(tmp_path: Path) -> None:
    graph = read(expressions().model, tmp_path / "m.model3").graph
    assert graph.vertex("big").parameters["parameters"] == {
        "INPUT": Output("near"),
        "EXPRESSION": Template('"people" >= {least}'),
        "FAIL_OUTPUT": "TEMPORARY_OUTPUT",
    }
    near = graph.vertex("near").parameters["parameters"]
    assert near["DISTANCE"] == Output("near_number", "value")
    assert near["SEGMENTS"] == 3
    made = graph.vertex("near_number")
    assert (made.tool, made.parameters) == ("calculate", {"expression": Template("{far} * 2 + 5")})


WORDS = st.text(st.characters(blacklist_categories=("C", "Zl", "Zp")), max_size=12)
VARIABLES = (
    Variable("far", Type.NUMBER, "How far", 50, unit="m"),
    Variable("least", Type.TEXT, default="3"),
    Variable("day", Type.DATE, "Day", "2024-05-31"),
    Variable("way", Type.CHOICE, "Way", "b", choices=("a", "b")),
    Variable("place", Type.LAYER, "Place", family="polygon"),
)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Vertex, ...]:
    """Steps that use layers, variables and those before them."""
    found: list[Vertex] = []
    for number in range(draw(st.integers(1, 6))):
        layers = [one.id for one in found if one.tool in ("buffer", "filter", "run_algorithm")]
        counts = [one.id for one in found if one.tool in ("count", "buffer")]
        layer_of = st.sampled_from(
            [Layer("towns"), Layer("my fields (1)"), Asked("place"), *map(Output, layers)]
        )
        numbers = st.sampled_from(
            [7, 2.5, -1, Asked("far"), *(Output(one, "count") for one in counts)]
        )
        texts = st.sampled_from(
            [
                Template("\"name\" = '{least}'"),
                Template("{far}"),
                Asked("least"),
                *(Template(f"{{{one}.count}} / 2 > {{far}}") for one in counts),
            ]
        )
        tool, parameters = draw(
            st.one_of(
                st.fixed_dictionaries({"layer": layer_of, "distance": numbers}).map(
                    lambda one: ("buffer", one)
                ),
                st.fixed_dictionaries({"layer": layer_of, "where": texts | WORDS.filter(bool)}).map(
                    lambda one: ("filter", one)
                ),
                st.fixed_dictionaries(
                    {
                        "layer": layer_of,
                        "conditions": st.lists(
                            st.fixed_dictionaries(
                                {
                                    "field": WORDS,
                                    "op": st.just("="),
                                    "value": st.integers() | WORDS | numbers | texts,
                                }
                            ),
                            min_size=1,
                            max_size=2,
                        ),
                    }
                ).map(lambda one: ("count", one)),
                st.fixed_dictionaries(
                    {
                        "INPUT": layer_of,
                        "DISTANCE": numbers,
                        "DISSOLVE": st.booleans() | st.just(Asked("way")),
                        "SEGMENTS": st.just(5),
                    }
                ).map(
                    lambda one: ("run_algorithm", {"algorithm": "native:buffer", "parameters": one})
                ),
                st.lists(layer_of, min_size=2, max_size=3).map(
                    lambda one: (
                        "run_algorithm",
                        {"algorithm": "native:mergevectorlayers", "parameters": {"LAYERS": one}},
                    )
                ),
            )
        )
        vertex = Vertex(
            f"v{number}",
            draw(st.sampled_from(["vector", "table", "own"])),
            draw(WORDS),
            tool,
            parameters,
            title=draw(WORDS),
            comment=draw(WORDS),
            position=(float(draw(st.integers(-500, 500))), float(number * 90)),
        )
        used = {one.vertex for one in vertex.outputs()}
        earlier = [one.id for one in found if one.id not in used]
        after = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        found.append(replace(vertex, after=tuple(after)))
    return tuple(found)


@st.composite
def whole(draw: st.DrawFn) -> Graph:
    """A graph with all that a model and its text hold."""
    vertices = draw(steps())
    ids = [one.id for one in vertices]
    layers = [Source("towns", "/t.gpkg", "ogr", "Point", "EPSG:4326", ("name",))]
    used = {name for one in vertices for name in one.layers()}
    told = draw(st.sampled_from(ids))
    return Graph(
        draw(WORDS),
        vertices,
        VARIABLES,
        draw(st.sampled_from([Answer(), Answer(f"{{{told}.count}} towns", unit="m")])),
        tuple(one for one in layers if one.name in used),
        draw(st.lists(st.sampled_from(ids), unique=True, min_size=1).map(
            lambda one: (Group("Box", tuple(one), "#ff0000"),)
        )),
        title=draw(WORDS),
        description=draw(WORDS),
    )  # fmt: skip


@settings(
    max_examples=400 if os.environ.get("GEO_OLM_LONG") == "1" else 40,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(whole())
def test_a_graph_loses_nothing_on_its_way_through_a_model(graph: Graph) -> None:
    model, lost = to_model(graph, is_offered)
    assert lost == ()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph.model3"
        assert model.toFile(str(path))
        found = from_file(path, agents())
    assert found.lost == ()
    before = {one.id: one for one in graph.vertices}
    assert found.graph.ids() == graph.ids()
    for one in found.graph.vertices:
        assert replace(one, after=()) == replace(before[one.id], after=())
        assert set(one.after) == set(before[one.id].after)
    assert found.graph.variables == graph.variables
    assert {one.name for one in found.graph.sources} >= {one.name for one in graph.sources}
    assert set(graph.sources) <= set(found.graph.sources)
    assert found.graph.answer == graph.answer
    assert found.graph.groups == graph.groups
    for key in ("question", "title", "description"):
        assert getattr(found.graph, key) == getattr(graph, key)
