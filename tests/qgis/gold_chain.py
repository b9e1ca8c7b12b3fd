# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays the reference chain of a task with plain Processing, as a method that is always right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsClassificationJenks,
    QgsClassificationQuantile,
    QgsExpression,
    QgsExpressionContext,
    QgsExpressionContextUtils,
    QgsGraduatedSymbolRenderer,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsSymbol,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QSize

from geo_olm.plugin.evaluation.task import Task

MODES = {"quantile": QgsClassificationQuantile, "jenks": QgsClassificationJenks}
RASTERS = {".tif", ".tiff"}


def record_of(**changes: Any) -> dict[str, Any]:
    """A record of a run that ended well, with the given parts changed."""
    record = {
        "version": "1",
        "question": "",
        "answer": "",
        "value": None,
        "unit": "",
        "status": "ok",
        "reason": "",
        "calls": [],
        "layers": [],
        "files": [],
        "tokens": {"prompt": 0, "cached": 0, "evaluated": 0, "generated": 0, "estimated": False},
        "seconds": {"model": 0.0, "tools": 0.0, "total": 0.0},
        "model": {"name": "gold", "server": "", "digest": ""},
    }
    return {**record, **changes}


class GoldChain:
    """A method (evaluation's protocol) that plays the tasks' own chains."""

    name = "gold"

    def __init__(self, tasks: tuple[Task, ...], data: Path) -> None:
        self._chains = {task.question: task.gold for task in tasks}
        self._data = data

    def answer(
        self, question: str, project: QgsProject, output_folder: Path, *_: Any
    ) -> dict[str, Any]:
        """Play the chain of the question; the first line finds it."""
        chain = self._chains[question.split("\nFile ")[0]]
        return GoldPlayer(project, output_folder, self._data).play(chain)


class GoldPlayer:
    """Plays one chain in one project."""

    def __init__(self, project: QgsProject, folder: Path, data: Path) -> None:
        self._project, self._folder, self._data = project, folder, data
        self._layers = {layer.name(): layer for layer in project.mapLayers().values()}
        self._results: dict[str, dict[str, Any]] = {}
        self._record = record_of()
        self._context = QgsProcessingContext()
        self._context.setProject(project)

    def play(self, chain: tuple[Any, ...]) -> dict[str, Any]:
        for step in chain:
            if "algorithm" in step:
                self._algorithm(step)
            else:
                getattr(self, f"_tool_{step['tool']}")(step)
        return self._record

    def _algorithm(self, step: dict[str, Any]) -> None:
        import processing

        parameters = {key: self._input(value) for key, value in step["parameters"].items()}
        results = processing.run(
            step["algorithm"], parameters, context=self._context, feedback=QgsProcessingFeedback()
        )
        name = step.get("as", "")
        self._results[name] = results
        output = results.get("OUTPUT", results.get("OUTPUT_TABLE"))
        if output is not None:
            self._take(name, output)
        if isinstance(output, str) and Path(output).parent == self._folder:
            self._record["files"].append(output)

    def _input(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._input(item) for item in value]
        if not isinstance(value, str):
            return value
        if value in self._layers:
            return self._layers[value]
        suffix = Path(value).suffix
        if suffix in {".gpkg", ".geojson", ".csv", ".geoparquet"} and "/" not in value:
            return str(self._folder / value)
        return value

    def _take(self, name: str, output: Any) -> None:
        layer = output
        if isinstance(output, str):
            raster = Path(output).suffix in RASTERS
            layer = QgsRasterLayer(output, name) if raster else QgsVectorLayer(output, name, "ogr")
        layer.setName(name or "result")
        self._layers[name] = layer
        self._project.addMapLayer(layer)

    def _tool_layer_info(self, step: dict[str, Any]) -> None:
        self._results[step["as"]] = {"crs": self._layers[step["layer"]].crs().authid()}

    def _tool_statistics(self, step: dict[str, Any]) -> None:
        field = QgsExpression.quotedColumnRef(step["field"])
        expression = f"{step['stat']}({field})"
        self._results[step["as"]] = {"value": self._aggregate(step["layer"], expression)}

    def _aggregate(self, name: str, text: str) -> Any:
        layer = self._layers[name]
        context = QgsExpressionContext(QgsExpressionContextUtils.globalProjectLayerScopes(layer))
        context.setFields(layer.fields())
        context.setFeature(next(layer.getFeatures()))
        return QgsExpression(text).evaluate(context)

    def _tool_style_graduated(self, step: dict[str, Any]) -> None:
        layer = self._layers[step["layer"]]
        renderer = QgsGraduatedSymbolRenderer(step["field"])
        renderer.setSourceSymbol(QgsSymbol.defaultSymbol(layer.geometryType()))
        renderer.setClassificationMethod(MODES[step["mode"]]())
        renderer.updateClasses(layer, step["classes"])
        layer.setRenderer(renderer)

    def _tool_export_map(self, step: dict[str, Any]) -> None:
        layers = [self._layers[name] for name in step["layers"]]
        settings = QgsMapSettings()
        settings.setLayers(layers)
        settings.setDestinationCrs(layers[0].crs())
        settings.setExtent(layers[0].extent())
        settings.setOutputSize(QSize(200, 200))
        job = QgsMapRendererSequentialJob(settings)
        job.start()
        job.waitForFinished()
        path = str(self._folder / step["path"])
        if not job.renderedImage().save(path):
            raise RuntimeError(path)
        self._record["files"].append(path)

    def _tool_add_layer(self, step: dict[str, Any]) -> None:
        relative, bar, rest = step["source"].partition("|")
        source = f"{self._data / relative}{bar}{rest}"
        self._layers[step["as"]] = QgsVectorLayer(source, step["as"], "ogr")

    def _tool_write_json(self, step: dict[str, Any]) -> None:
        path = self._folder / step["path"]
        path.write_text(json.dumps(self._content(step["content"])), encoding="utf-8")
        self._record["files"].append(str(path))

    def _content(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._content(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._content(item) for item in value]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name, _, key = value[1:].partition(".")
        return self._property(name, key)

    def _property(self, name: str, key: str) -> Any:
        if key in self._results.get(name, {}):
            return self._results[name][key]
        layer = self._layers[name]
        box: QgsRectangle = layer.extent()
        return {
            "extent": [box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()],
            "crs": layer.crs().authid(),
            "geometry_type": QgsWkbTypes.displayString(QgsWkbTypes.flatType(layer.wkbType())),
            "count": layer.featureCount(),
        }[key]

    def _tool_answer(self, step: dict[str, Any]) -> None:
        if "reject" in step:
            self._record.update(status="rejected", reason=step["reject"], answer=step["reject"])
        if "number" in step:
            self._record["value"] = float(self._referred(step["number"]))
        if "text" in step:
            self._record["answer"] = f"It is {self._referred(step['text'])}."

    def _referred(self, reference: Any) -> Any:
        if isinstance(reference, str):
            return self._results[reference]["value"]
        if "count_of" in reference:
            return self._layers[reference["count_of"]].featureCount()
        if "step" in reference:
            return self._results[reference["step"]][reference["key"]]
        if "aggregate" in reference:
            return self._aggregate(reference["layer"], reference["aggregate"])
        features = list(self._layers[reference["layer"]].getFeatures())
        return features[reference.get("row", 0)].attribute(reference["field"])
