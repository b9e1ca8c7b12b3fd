# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:runworkflow`: a kept workflow, run again without any model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputString,
    QgsProcessingParameterFile,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from .agent.event import Notice
from .ask import report
from .question_algorithm import WorkflowAlgorithm, keep_record
from .settings import SettingsStore
from .workflow.event import GraphChanged, GraphStarted, StepChanged, StepLog
from .workflow.file import Loaded, WorkflowFileError, loads


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("RunWorkflowAlgorithm", text)


class RunWorkflowAlgorithm(WorkflowAlgorithm):
    """Runs a workflow file over layers and gives its answer and status."""

    def name(self) -> str:  # noqa: D102
        return "runworkflow"

    def displayName(self) -> str:  # noqa: D102
        return tr("Run a workflow")

    def shortHelpString(self) -> str:  # noqa: D102
        return tr(
            "Runs a kept workflow (.geoflow.json) again, without any model. Its layers are found "
            'by their names; the variables, as JSON such as {"distance": 500, "roads": '
            '"/data/roads.gpkg"}, give its numbers, dates and texts, and other layers. The result '
            "layers are added to the project; the record of the run can be kept as JSON."
        )

    def createInstance(self) -> RunWorkflowAlgorithm:  # noqa: D102
        return RunWorkflowAlgorithm()

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters and outputs of the contract."""
        files = QgsProcessingParameterFile.Behavior
        self.addParameter(
            QgsProcessingParameterFile(
                "WORKFLOW", tr("Workflow"), files.File, fileFilter=tr("Workflows (*.geoflow.json)")
            )
        )
        self.addParameter(
            QgsProcessingParameterString(
                "VARIABLES", tr("Variables (JSON)"), multiLine=True, optional=True
            )
        )
        self.add_layers()
        self.addParameter(
            QgsProcessingParameterFile(
                "OUTPUT_FOLDER", tr("Folder for files"), files.Folder, optional=True
            )
        )
        self.add_json(tr("Record"))
        self.addOutput(QgsProcessingOutputString("ANSWER", tr("Answer")))
        self.addOutput(QgsProcessingOutputString("STATUS", tr("Status")))

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Run the workflow; a failure of a step is a status, not an exception."""
        from .replay import replay

        loaded = read_workflow(self.parameterAsFile(parameters, "WORKFLOW", context))
        for remark in loaded.remarks:
            feedback.pushInfo(remark)
        self._record = replay(
            loaded.graph,
            self.own,
            SettingsStore().load(),
            read_variables(self.parameterAsString(parameters, "VARIABLES", context)),
            self.parameterAsString(parameters, "OUTPUT_FOLDER", context),
            Teller(feedback),
            feedback.isCanceled,
        )
        path = self.parameterAsFileOutput(parameters, "JSON", context)
        if path:
            keep_record(path, self._record, feedback)
        return {"ANSWER": self._record["answer"], "STATUS": self._record["status"]}

    def postProcessAlgorithm(
        self, context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, Any]:
        """Hand the result layers over to the project of the context, on the main thread."""
        self.hand_over([item["id"] for item in self._record["layers"]], context)
        return {}


class Teller:
    """Writes the events of a run into an algorithm's log, and its progress."""

    def __init__(self, feedback: QgsProcessingFeedback) -> None:
        self._feedback = feedback
        self._steps = 0
        self._done = 0

    def __call__(self, event: Any) -> None:
        """Take one event."""
        if isinstance(event, GraphStarted):
            self._steps = len(event.steps)
        elif isinstance(event, StepChanged):
            self._feedback.setProgressText(f"{event.step}: {event.status.value}")
            if event.status.is_done and self._steps:
                self._done += 1
                self._feedback.setProgress(100 * self._done / self._steps)
        elif isinstance(event, StepLog):
            self._feedback.pushInfo(f"{event.step}: {event.text}")
        elif isinstance(event, GraphChanged):
            self._feedback.pushInfo(event.reason)
        elif isinstance(event, Notice):
            self._feedback.pushInfo(event.text)
        else:
            report(event, self._feedback)


def read_workflow(path: str) -> Loaded:
    """Read a workflow file. Raises QgsProcessingException with a sentence."""
    if not path:
        raise QgsProcessingException(tr("No workflow is named: choose a .geoflow.json file."))
    try:
        loaded = loads(Path(path).read_bytes(), Path(path).name)
    except OSError as error:
        said = tr("{} cannot be read: {}.").format(path, error.strerror or error)
        raise QgsProcessingException(said) from error
    except WorkflowFileError as error:
        raise QgsProcessingException(str(error)) from error
    if loaded.faults:
        said = " ".join(one.message for one in loaded.faults)
        raise QgsProcessingException(tr("{} cannot run. {}").format(Path(path).name, said))
    return loaded


def read_variables(text: str) -> dict[str, Any]:
    """Read variables given as JSON, or as the path of a JSON file. Raises
    QgsProcessingException with a sentence."""
    text = text.strip()
    if not text:
        return {}
    try:
        if not text.startswith("{"):
            text = Path(text).read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        said = tr('The variables cannot be read: {}. Write {"name": value}.').replace(
            "{}", str(error), 1
        )
        raise QgsProcessingException(said) from error
    if not isinstance(found, dict):
        raise QgsProcessingException(tr('The variables are an object: write {"name": value}.'))
    return found
