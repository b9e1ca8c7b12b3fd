# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:ask`: one question, from the toolbox, in a batch, or headless in qgis_process."""

from __future__ import annotations

import json
import logging
from typing import Any

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
    QgsProcessingOutputString,
    QgsProcessingParameterFile,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from .agent.event import CallFinished, CallStarted, Event, Notice, StageChanged
from .question_algorithm import LayersAlgorithm, keep_record

_LOG = logging.getLogger(__name__)


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("AskAlgorithm", text)


class AskAlgorithm(LayersAlgorithm):
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
        self.add_layers()
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

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Answer the question; a failure of the model is a status, not an exception."""
        from .session import answer_question

        question = self.question(parameters, context)
        settings = self.model_settings(
            parameters,
            context,
            self._whole(parameters, "SEED", context),
            self._whole(parameters, "MAX_STEPS", context),
        )
        self._record = answer_question(
            question,
            self.own,
            settings,
            self.parameterAsString(parameters, "OUTPUT_FOLDER", context),
            lambda event: report(event, feedback),
            feedback.isCanceled,
        )
        path = self.parameterAsFileOutput(parameters, "JSON", context)
        if path:
            keep_record(path, self._record, feedback)
        return {
            "ANSWER": self._record["answer"],
            "VALUE": self._record["value"],
            "STATUS": self._record["status"],
        }

    def postProcessAlgorithm(
        self, context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, Any]:
        """Hand the result layers over to the project of the context, on the main thread."""
        self.hand_over([item["id"] for item in self._record["layers"]], context)
        return {}

    def _whole(
        self, parameters: dict[str, Any], name: str, context: QgsProcessingContext
    ) -> int | None:
        if parameters.get(name) is None:
            return None
        return self.parameterAsInt(parameters, name, context)


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
