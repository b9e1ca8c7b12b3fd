# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:ask`: one question, from the toolbox, in a batch, or headless in qgis_process."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

from qgis.core import (
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
    QgsProcessingOutputString,
    QgsProcessingParameterFile,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
    QgsProject,
)
from qgis.PyQt.QtCore import QCoreApplication

from ..tools.base import ToolError
from .agent.event import CallFinished, CallStarted, Event, Notice, StageChanged
from .question_algorithm import QuestionAlgorithm, write_json
from .settings import Settings, SettingsStore
from .source import opened

_LOG = logging.getLogger(__name__)


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("AskAlgorithm", text)


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


class AskAlgorithm(QuestionAlgorithm):
    """Answers one question about layers and gives the answer, its number and its status."""

    def name(self) -> str:  # noqa: D102
        return "ask"

    def displayName(self) -> str:  # noqa: D102
        return tr("Ask a question")

    def shortHelpString(self) -> str:  # noqa: D102
        return tr(
            "Answers a question about layers with a language model that runs on this machine or "
            "on a server of yours. Without layers the project's own are used. The result layers "
            "are added to the project; the record of the run can be kept as JSON."
        )

    def createInstance(self) -> AskAlgorithm:  # noqa: D102
        return AskAlgorithm()

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters and outputs of the contract."""
        self.addParameter(QgsProcessingParameterString("QUESTION", tr("Question"), multiLine=True))
        self.addParameter(
            QgsProcessingParameterMultipleLayers(
                "LAYERS", tr("Layers"), QgsProcessing.SourceType.TypeMapLayer, optional=True
            )
        )
        self.add_model(
            QgsProcessingParameterNumber("SEED", tr("Seed"), optional=True),
            QgsProcessingParameterNumber(
                "MAX_STEPS", tr("Steps at most"), minValue=1, optional=True
            ),
            QgsProcessingParameterFile(
                "OUTPUT_FOLDER",
                tr("Folder for files"),
                QgsProcessingParameterFile.Behavior.Folder,
                optional=True,
            ),
        )
        self.add_json(tr("Record"))
        self.addOutput(QgsProcessingOutputString("ANSWER", tr("Answer")))
        self.addOutput(QgsProcessingOutputNumber("VALUE", tr("Value")))
        self.addOutput(QgsProcessingOutputString("STATUS", tr("Status")))

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
        self._own = own_project(layers, context.project())
        return True

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Answer the question; a failure of the model is a status, not an exception."""
        from .session import answer_question

        question = self.parameterAsString(parameters, "QUESTION", context).strip()
        if not question:
            raise QgsProcessingException(tr("The question is empty. Type one."))
        server = self.parameterAsString(parameters, "SERVER", context)
        settings = chosen_settings(
            SettingsStore().load(),
            server,
            self.parameterAsString(parameters, "BASE_URL", context),
            self.parameterAsString(parameters, "MODEL", context),
            self._whole(parameters, "SEED", context),
            self._whole(parameters, "MAX_STEPS", context),
        )
        self._record = answer_question(
            question,
            self._own,
            settings,
            self.parameterAsString(parameters, "OUTPUT_FOLDER", context),
            lambda event: report(event, feedback),
            feedback.isCanceled,
        )
        path = self.parameterAsFileOutput(parameters, "JSON", context)
        if path:
            self._keep_record(path, feedback)
        return {
            "ANSWER": self._record["answer"],
            "VALUE": self._record["value"],
            "STATUS": self._record["status"],
        }

    def _keep_record(self, path: str, feedback: QgsProcessingFeedback) -> None:
        """Write the record; the answer is not lost where that fails."""
        try:
            write_json(path, self._record)
        except QgsProcessingException as error:
            feedback.reportError(str(error))

    def postProcessAlgorithm(
        self, context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, Any]:
        """Hand the result layers over to the project of the context, on the main thread."""
        for item in self._record["layers"]:
            layer = self._own.takeMapLayer(self._own.mapLayer(item["id"]))
            if layer is None or context.project() is None:
                continue
            context.temporaryLayerStore().addMapLayer(layer)
            details = QgsProcessingContext.LayerDetails(layer.name(), context.project(), "")
            context.addLayerToLoadOnCompletion(layer.id(), details)
        self._own.clear()
        return {}

    def _whole(
        self, parameters: dict[str, Any], name: str, context: QgsProcessingContext
    ) -> int | None:
        if parameters.get(name) is None:
            return None
        return self.parameterAsInt(parameters, name, context)


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
    """Return a new project with copies of the layers, the ellipsoid and CRS of `source`."""
    project = QgsProject()
    if source is not None:
        project.setCrs(source.crs())
        project.setEllipsoid(source.ellipsoid())
        project.setTransformContext(source.transformContext())
    elif layers:
        project.setCrs(layers[0].crs())
    if project.ellipsoid() in ("", "NONE"):
        project.setEllipsoid("EPSG:7030")
    for layer in layers:
        copy = layer.clone()
        project.addMapLayer(copy)
    return project


def report(event: Event, feedback: QgsProcessingFeedback) -> None:
    """Write an event into the algorithm's log."""
    if isinstance(event, StageChanged):
        feedback.setProgressText(event.stage)
    elif isinstance(event, CallStarted):
        feedback.pushInfo(f"{event.tool} {json.dumps(event.arguments, ensure_ascii=False)}")
    elif isinstance(event, CallFinished):
        if event.ok and event.result is not None:
            feedback.pushInfo(event.result.text)
        else:
            feedback.pushWarning(event.error)
    elif isinstance(event, Notice):
        feedback.pushInfo(event.text)
