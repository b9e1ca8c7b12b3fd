# SPDX-License-Identifier: GPL-2.0-or-later
"""The Processing algorithm that measures methods on a task file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputFile,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFile,
    QgsProcessingParameterFolderDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from ..llm.base import ModelError, Server
from ..settings import Settings, SettingsStore
from .fault_rate import asked_for
from .outcome import shown

if TYPE_CHECKING:
    from .harness import Plan

SERVERS = [server.value for server in Server]


def run_line(run: dict[str, Any]) -> str:
    """Describe one run in a line: task, method, repeat, verdict, value, seconds, tokens."""
    tokens = run["tokens"]["prompt"] + run["tokens"]["generated"]
    parts = ["right" if run["success"] else "wrong"]
    if run["value"] is not None:
        parts.append(shown(run["value"]))
    parts += [f"{run['seconds']['total']:.1f} s", f"{tokens:,.0f} tokens"]
    reason = "" if run["success"] else f" ({'; '.join(run['reasons'])})"
    return f"{run['task']} {run['method']} {run['repeat']}: {', '.join(parts)}{reason}"


def summary_line(method: str, found: dict[str, Any]) -> str:
    """Describe the summary of one method in a line."""
    tokens, seconds = found["tokens"], found["seconds"]
    return (
        f"{method}: {found['right']} of {found['runs']} right ({found['success']:.0%}); "
        f"on average {seconds['total']:.1f} s, {tokens['prompt']:,.0f} tokens read "
        f"({tokens['evaluated']:,.0f} of them evaluated) and {tokens['generated']:,.0f} written"
    )


class EvaluateAlgorithm(QgsProcessingAlgorithm):
    """Runs methods over a task file and writes results.json and everything that they made.

    It asks for the main thread, where each run's own project and its layers have to live; the
    agent works in the background all the same.
    """

    def name(self) -> str:
        """Return the id within the provider."""
        return "evaluate"

    def displayName(self) -> str:
        """Return the name in the toolbox."""
        return self.tr("Evaluate on a task file")

    def group(self) -> str:
        """Return the group in the toolbox."""
        return self.tr("Evaluation")

    def groupId(self) -> str:
        """Return the id of the group."""
        return "evaluation"

    def shortHelpString(self) -> str:
        """Return the help shown beside the parameters."""
        return self.tr(
            "Asks every question of a task file, each in a project of its own, grades what came "
            "out and keeps it. A run that was interrupted goes on where it ended. The open "
            "project is not touched."
        )

    def createInstance(self) -> EvaluateAlgorithm:
        """Return a new instance."""
        return EvaluateAlgorithm()

    def flags(self) -> Any:
        """Keep the algorithm on the main thread."""
        return super().flags() | QgsProcessingAlgorithm.Flag.FlagNoThreading

    def tr(self, text: str) -> str:
        """Translate a text."""
        return str(QCoreApplication.translate("EvaluateAlgorithm", text))

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters."""
        files = QgsProcessingParameterFile.Behavior
        integer = QgsProcessingParameterNumber.Type.Integer
        for parameter in (
            QgsProcessingParameterFile("TASKS", self.tr("Task file"), files.File, "json"),
            QgsProcessingParameterFile(
                "DATA", self.tr("Folder of the data"), files.Folder, optional=True
            ),
            QgsProcessingParameterString(
                "METHODS", self.tr("Methods, separated by commas"), "geo-olm"
            ),
            QgsProcessingParameterString("MODEL", self.tr("Model"), "", optional=True),
            QgsProcessingParameterEnum(
                "SERVER",
                self.tr("Server"),
                options=SERVERS,
                defaultValue=SERVERS[0],
                optional=True,
                usesStaticStrings=True,
            ),
            QgsProcessingParameterNumber(
                "REPEATS", self.tr("Repeats of each task"), integer, 1, minValue=1
            ),
            QgsProcessingParameterString(
                "IDS", self.tr("Only these tasks, separated by commas"), "", optional=True
            ),
            QgsProcessingParameterString(
                "ENDPOINTS",
                self.tr("Model servers that share the tasks: addresses, separated by commas"),
                "",
                optional=True,
            ),
            QgsProcessingParameterFolderDestination("OUT", self.tr("Folder for the results")),
        ):
            self.addParameter(parameter)
        self.addOutput(QgsProcessingOutputFile("RESULTS", self.tr("Results")))
        self.addOutput(QgsProcessingOutputFile("REPORT", self.tr("Report")))

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Run the plan. Raises QgsProcessingException with one sentence when it cannot start."""
        from .harness import Harness  # the harness and its methods cost QGIS's start too much
        from .method import MethodError
        from .report import write_report
        from .result import ResultError, ResultFile, summary
        from .source import SourceError
        from .task import TaskError

        try:
            plan = self._plan(parameters, context)
            harness = Harness(plan, _reporter(feedback), feedback.isCanceled)
            path = harness.run()
            runs = ResultFile(path).runs
            for method, found in summary(runs).items():
                feedback.pushInfo(summary_line(method, found))
            for error in harness.down.values():
                feedback.pushWarning(error.message)
            page = write_report(runs, plan.out)
        except ModelError as error:
            raise QgsProcessingException(error.message) from error
        except (TaskError, SourceError, MethodError, ResultError, ValueError, OSError) as error:
            raise QgsProcessingException(str(error)) from error
        return {"RESULTS": str(path), "REPORT": str(page), "OUT": str(plan.out)}

    def _plan(self, parameters: dict[str, Any], context: QgsProcessingContext) -> Plan:
        from .endpoint import endpoints
        from .harness import Plan, chosen
        from .method import methods_named
        from .source import data_folder
        from .task import read_tasks

        tasks = read_tasks(Path(self.parameterAsFile(parameters, "TASKS", context)))
        settings = self._settings(parameters, context)
        names = self.parameterAsString(parameters, "METHODS", context)
        ids = self.parameterAsString(parameters, "IDS", context)
        asked = self.parameterAsString(parameters, "MODEL", context)
        return Plan(
            tasks=chosen(tasks.tasks, ids),
            methods=tuple(methods_named(names, settings)),
            data=data_folder(tasks.path, self.parameterAsString(parameters, "DATA", context)),
            out=Path(self.parameterAsString(parameters, "OUT", context)),
            repeats=self.parameterAsInt(parameters, "REPEATS", context),
            asked=asked,
            token_cap=settings.run_tokens,
            endpoints=endpoints(
                self.parameterAsString(parameters, "ENDPOINTS", context), names, settings
            ),
        )

    def _settings(self, parameters: dict[str, Any], context: QgsProcessingContext) -> Settings:
        """The user's settings, with the model and the server of the parameters where given.

        The scripted model of faults has no cap of tokens, as its tokens are estimates.
        """
        model = self.parameterAsString(parameters, "MODEL", context)
        from .harness import Plan

        cap = Plan.token_cap if asked_for(model) is None else 0
        settings = replace(SettingsStore().load(), run_tokens=cap)
        server = self.parameterAsEnumString(parameters, "SERVER", context)
        if model:
            settings = replace(settings, model=model)
        return replace(settings, server=server) if server not in ("", SERVERS[0]) else settings


def _reporter(feedback: QgsProcessingFeedback) -> Any:
    def report(run: dict[str, Any], done: int, total: int) -> None:
        feedback.pushInfo(run_line(run))
        feedback.setProgress(100 * done / total)

    return report
