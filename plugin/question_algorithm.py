# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Processing algorithms for questions share: their group, a model, a JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterString,
    QgsProject,
)
from qgis.PyQt.QtCore import QCoreApplication

from ..tools.base import ToolError
from .llm.base import Server
from .settings import Settings, SettingsStore
from .source import opened


def tr(text: str) -> str:
    """Translate a text of these algorithms."""
    return QCoreApplication.translate("QuestionAlgorithm", text)


class QuestionAlgorithm(QgsProcessingAlgorithm):
    """An algorithm of the group of questions."""

    def group(self) -> str:  # noqa: D102
        return tr("Questions")

    def groupId(self) -> str:  # noqa: D102
        return "questions"

    def add_model(self, *advanced: QgsProcessingParameterDefinition) -> None:
        """Declare MODEL, and as advanced ones SERVER, BASE_URL and what else is given."""
        self.addParameter(QgsProcessingParameterString("MODEL", tr("Model"), optional=True))
        server = QgsProcessingParameterEnum(
            "SERVER",
            tr("Server"),
            [server.value for server in Server],
            defaultValue=Server.AUTO.value,
            optional=True,
        )
        server.setUsesStaticStrings(True)
        address = QgsProcessingParameterString("BASE_URL", tr("Server address"), optional=True)
        for parameter in (server, address, *advanced):
            parameter.setFlags(
                parameter.flags() | QgsProcessingParameterDefinition.Flag.FlagAdvanced
            )
            self.addParameter(parameter)

    def question(self, parameters: dict[str, Any], context: QgsProcessingContext) -> str:
        """Return QUESTION. Raises QgsProcessingException for an empty one."""
        found = str(self.parameterAsString(parameters, "QUESTION", context)).strip()
        if not found:
            raise QgsProcessingException(tr("The question is empty. Type one."))
        return found

    def model_settings(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        seed: int | None = None,
        steps: int | None = None,
    ) -> Settings:
        """Return the stored settings with the model and server that the parameters name."""
        return chosen_settings(
            SettingsStore().load(),
            self.parameterAsString(parameters, "SERVER", context),
            self.parameterAsString(parameters, "BASE_URL", context),
            self.parameterAsString(parameters, "MODEL", context),
            seed,
            steps,
        )

    def add_json(self, title: str) -> None:
        """Declare JSON, a file that is written only when it is named."""
        self.addParameter(
            QgsProcessingParameterFileDestination(
                "JSON", title, tr("JSON files (*.json)"), optional=True, createByDefault=False
            )
        )


class LayersAlgorithm(QuestionAlgorithm):
    """An algorithm over LAYERS, which work in a project of its own."""

    def add_layers(self) -> None:
        """Declare LAYERS; without them the project's own are meant."""
        self.addParameter(
            QgsProcessingParameterMultipleLayers(
                "LAYERS", tr("Layers"), QgsProcessing.SourceType.TypeMapLayer, optional=True
            )
        )

    def checkParameterValues(
        self, parameters: dict[str, Any], context: QgsProcessingContext
    ) -> tuple[bool, str]:
        """Refuse sources that cannot be opened by their names, before QGIS does it without."""
        refusal = _refusal(parameters, context)
        return (False, refusal) if refusal else super().checkParameterValues(parameters, context)

    def prepareAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> bool:
        """Copy the layers into a project of the run's own, on the main thread."""
        refusal = _refusal(parameters, context)
        if refusal:
            feedback.reportError(refusal, True)
            return False
        named = _listed(parameters.get("LAYERS"))
        layers: list[QgsMapLayer] = []
        for one in named:
            if isinstance(one, str):
                layers += opened(one, context)
            else:
                layers += self.parameterAsLayerList({"LAYERS": [one]}, "LAYERS", context) or []
        if not named and context.project() is not None:
            layers = list(context.project().mapLayers().values())
        self.own = own_project(layers, context.project())
        return True

    def hand_over(self, identities: Sequence[str], context: QgsProcessingContext) -> None:
        """Hand layers of the run's own project over to that of the context. Main thread only."""
        for identity in identities:
            layer = self.own.takeMapLayer(self.own.mapLayer(identity))
            if layer is None or context.project() is None:
                continue
            context.temporaryLayerStore().addMapLayer(layer)
            details = QgsProcessingContext.LayerDetails(layer.name(), context.project(), "")
            context.addLayerToLoadOnCompletion(layer.id(), details)
        self.own.clear()


class WorkflowAlgorithm(LayersAlgorithm):
    """An algorithm of the group of workflows."""

    def group(self) -> str:  # noqa: D102
        return tr("Workflows")

    def groupId(self) -> str:  # noqa: D102
        return "workflows"


def chosen_settings(
    stored: Settings, server: str, address: str, model: str, seed: int | None, steps: int | None
) -> Settings:
    """Return the stored settings with what a caller named instead."""
    changes: dict[str, Any] = {}
    if server and server != "auto":
        changes["server"] = server
    if address:
        changes["address"] = address
    if model:
        changes["model"] = model
    if seed is not None:
        changes["seed"] = seed
    if steps is not None:
        changes["max_steps"] = steps
    return replace(stored, **changes)


def _listed(value: Any) -> list[Any]:
    """Return what LAYERS names: nothing, one layer or source, or a list of them."""
    if not value:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _refusal(parameters: dict[str, Any], context: QgsProcessingContext) -> str:
    """Return a sentence that names the layers that cannot be opened, or ""."""
    named = [text for text in _listed(parameters.get("LAYERS")) if isinstance(text, str)]
    try:
        missing = [text for text in named if not opened(text, context)]
    except ToolError as error:
        return error.message
    if not missing:
        return ""
    return tr("{} could not be opened. Check the source.").format(", ".join(missing))


def own_project(layers: list[QgsMapLayer], source: QgsProject | None) -> QgsProject:
    """Return a new project with copies of the layers, the ellipsoid and CRS of `source`; without
    a CRS there, that of the first layer that has one, and the ellipsoid of WGS 84."""
    project = QgsProject()
    crs = source.crs() if source is not None else QgsCoordinateReferenceSystem()
    known = (one.crs() for one in layers if one.crs().isValid())
    project.setCrs(crs if crs.isValid() else next(known, crs))  # an ellipsoid holds only with one
    if source is not None:
        project.setEllipsoid(source.ellipsoid())
        project.setTransformContext(source.transformContext())
    if project.ellipsoid() in ("", "NONE"):
        project.setEllipsoid("EPSG:7030")
    for layer in layers:
        copy = layer.clone()
        project.addMapLayer(copy)
    return project


def keep_record(path: str, record: dict[str, Any], feedback: QgsProcessingFeedback) -> None:
    """Write a record; the answer is not lost where that fails."""
    try:
        write_json(path, record)
    except QgsProcessingException as error:
        feedback.reportError(str(error))


def write_json(path: str, value: Any) -> None:
    """Write a value as JSON. Raises QgsProcessingException with a sentence."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise QgsProcessingException(
            tr("{} cannot be written: {}.").format(path, error.strerror or error)
        ) from error
