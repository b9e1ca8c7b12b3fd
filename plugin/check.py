# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:checkmodel`: the model doctor from the toolbox and headless, and the check itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputString,
)
from qgis.PyQt.QtCore import QCoreApplication

from .link import process_link
from .llm.base import ModelError
from .llm.doctor_note import note_of
from .llm.doctor_report import Began, Check, Finding, Grade, Report, Step
from .model_note import NoteStore
from .place import RESOURCES
from .question_algorithm import QuestionAlgorithm, write_json
from .runner import RunTask, on_main_thread, wait
from .settings import Settings

DEFAULT_CONTEXT = 8192
"""Tokens that the plugin uses where neither a setting nor the server says another number."""


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("CheckModelAlgorithm", text)


def examine_model(
    settings: Settings, tell: Callable[[Step], None], cancelled: Callable[[], bool]
) -> None:
    """Examine the model that the settings lead to; the last thing told is the Report.

    Worker thread. Raises ModelError when no model is found at all.
    """
    from .llm import doctor_question
    from .llm.doctor import Doctor

    questions = doctor_question.load(RESOURCES / "doctor.json")
    model = process_link().model(settings)
    try:
        doctor = Doctor(model, questions, settings.context or DEFAULT_CONTEXT)
        for step in doctor.examine(cancelled):
            tell(step)
    finally:
        model.close()


def remember(report: Report) -> None:
    """Keep what a complete report says of a model, for its next questions."""
    note = note_of(report)
    if note is not None:
        NoteStore().keep(report.key, note)


class CheckModelAlgorithm(QuestionAlgorithm):
    """Examines a model and remembers the settings that fit it."""

    def name(self) -> str:  # noqa: D102
        return "checkmodel"

    def displayName(self) -> str:  # noqa: D102
        return tr("Check a model")

    def shortHelpString(self) -> str:  # noqa: D102
        return tr(
            "Measures what a language model can do here: server, context, tool calls, thinking, "
            "speed, loading, memory, and right choices on small tool questions. The settings "
            "that fit it are remembered for its next questions. Takes some minutes on a slow "
            "machine; nothing of the project is sent."
        )

    def createInstance(self) -> CheckModelAlgorithm:  # noqa: D102
        return CheckModelAlgorithm()

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters and outputs of the contract."""
        self.add_model()
        self.add_json(tr("Report as JSON"))
        self.addOutput(QgsProcessingOutputString("REPORT", tr("Report")))

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Examine the model. Raises QgsProcessingException when there is none to examine."""
        settings = self.model_settings(parameters, context)
        try:
            report = checked(settings, lambda step: show(step, feedback), feedback.isCanceled)
        except ModelError as error:
            raise QgsProcessingException(error.message) from error
        remember(report)
        path = self.parameterAsFileOutput(parameters, "JSON", context)
        if path:
            write_json(path, report.as_dict())
        return {"REPORT": report.text()}


def checked(
    settings: Settings, on_step: Callable[[Step], None], cancelled: Callable[[], bool]
) -> Report:
    """Examine a model and return the report; blocks until the end. Raises ModelError.

    On the main thread the work runs in a task while an event loop spins.
    """
    steps: list[Step] = []

    def take(step: Step) -> None:
        steps.append(step)
        on_step(step)

    if on_main_thread():
        task = RunTask(
            tr("Geo-OLM: examining the model"),
            lambda emit, stopped: examine_model(settings, emit, stopped),
        )
        task.told.connect(take)
        wait(task, cancelled)
    else:
        examine_model(settings, take, cancelled)
    return next(step for step in reversed(steps) if isinstance(step, Report))


def show(step: Step, feedback: QgsProcessingFeedback) -> None:
    """Write a step into the algorithm's log."""
    if isinstance(step, Began):
        feedback.setProgress(100 * list(Check).index(step.check) / len(Check))
        words = f"{step.check.value}: {step.detail}" if step.detail else step.check.value
        feedback.setProgressText(words)
    elif isinstance(step, Finding):
        words = f"{step.check.value}: {step.found}"
        words += f" ({step.meaning})" if step.meaning else ""
        good = step.grade in (Grade.FINE, Grade.NOTE)
        (feedback.pushInfo if good else feedback.pushWarning)(words)
    else:
        feedback.setProgress(100)
