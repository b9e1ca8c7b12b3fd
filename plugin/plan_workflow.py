# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:planworkflow`: a question made into a workflow file, to look at, change and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputFile,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from .agent.event import Notice
from .library import KeepError, save
from .llm.base import ModelError, RunCancelled
from .question_algorithm import WorkflowAlgorithm
from .workflow.finding import Severity
from .workflow.plan_event import Planned, Planning
from .workflow.plan_form import PlanError


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("PlanWorkflowAlgorithm", text)


class PlanWorkflowAlgorithm(WorkflowAlgorithm):
    """Plans a question over layers and writes the workflow; nothing of it is run."""

    def name(self) -> str:  # noqa: D102
        return "planworkflow"

    def displayName(self) -> str:  # noqa: D102
        return tr("Plan a workflow")

    def shortHelpString(self) -> str:  # noqa: D102
        return tr(
            "Makes a workflow of a question with a language model and writes it as a file "
            "(.geoflow.json). Nothing is run: look at the file, change it, and run it as often as "
            "needed, without any model, by Run a workflow. Without layers the project's own are "
            "used."
        )

    def createInstance(self) -> PlanWorkflowAlgorithm:  # noqa: D102
        return PlanWorkflowAlgorithm()

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters and the output of the contract."""
        self.addParameter(QgsProcessingParameterString("QUESTION", tr("Question"), multiLine=True))
        self.add_layers()
        self.add_model()
        self.addParameter(
            QgsProcessingParameterFileDestination(
                "OUTPUT", tr("Workflow"), tr("Workflows (*.geoflow.json)")
            )
        )
        self.addOutput(QgsProcessingOutputFile("OUTPUT", tr("Workflow")))

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Plan and write; raises QgsProcessingException with a sentence where there is no plan."""
        from .plan_work import plan_question

        question = self.question(parameters, context)
        path = Path(self.parameterAsFileOutput(parameters, "OUTPUT", context))
        settings = self.model_settings(parameters, context)
        try:
            planned = plan_question(
                question,
                self.own,
                settings,
                lambda event: report(event, feedback),
                feedback.isCanceled,
            )
        except ModelError as error:
            raise QgsProcessingException(error.message) from error
        except RunCancelled as error:
            raise QgsProcessingException(tr("Stopped. No workflow was written.")) from error
        except PlanError as error:
            raise QgsProcessingException(str(error)) from error
        if planned.candidate.rejected:
            raise QgsProcessingException(planned.candidate.rejected)
        tell(planned, feedback)
        try:
            return {"OUTPUT": str(save(planned.graph, path, over=True))}
        except KeepError as error:
            raise QgsProcessingException(str(error)) from error

    def postProcessAlgorithm(
        self, context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, Any]:
        """Let go of the copies of the layers, on the main thread."""
        self.own.clear()
        return {}


def report(event: Any, feedback: QgsProcessingFeedback) -> None:
    """Write an event into the algorithm's log."""
    if isinstance(event, Planning):
        feedback.setProgressText(event.stage)
        if event.text:
            feedback.pushInfo(event.text)
    elif isinstance(event, Notice):
        feedback.pushInfo(event.text)


def tell(planned: Planned, feedback: QgsProcessingFeedback) -> None:
    """Write the steps of a plan, and what is wrong with them, into the algorithm's log."""
    for one in planned.graph.vertices:
        feedback.pushInfo(f"{one.id}: {one.objective or one.tool}")
    for finding in planned.candidate.findings:
        if finding.severity is Severity.ERROR:
            feedback.pushWarning(finding.message)
        else:
            feedback.pushInfo(finding.message)
