# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:batchworkflow`: a kept workflow over many inputs, on a cluster of QGIS processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputString,
    QgsProcessingParameterFile,
    QgsProcessingParameterFolderDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from ..tools.boundary import file_of
from .batch.cluster import MISSING, is_there
from .batch.input import read_inputs
from .batch.job import BatchError, Job, layer_names
from .batch.scheduler import checked
from .batch.work import Batch, plan_of
from .llm.base import ModelError
from .question_algorithm import QuestionAlgorithm, write_json
from .run_workflow import read_workflow
from .settings import SettingsStore
from .workflow.graph import Graph


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("BatchWorkflowAlgorithm", text)


class BatchWorkflowAlgorithm(QuestionAlgorithm):
    """Runs a workflow for each input; a job that fails is a line of the record."""

    def name(self) -> str:  # noqa: D102
        return "batchworkflow"

    def displayName(self) -> str:  # noqa: D102
        return tr("Run a workflow over many inputs")

    def group(self) -> str:  # noqa: D102
        return tr("Workflows")

    def groupId(self) -> str:  # noqa: D102
        return "workflows"

    def shortHelpString(self) -> str:  # noqa: D102
        return tr(
            "Runs a kept workflow (.geoflow.json) once for each input, without any model, in "
            "several QGIS processes at the same time. Inputs are a folder or a pattern such as "
            "/data/*.gpkg (a job a file), a table whose first line names the variables (a job a "
            'row), JSON such as [{"distance": 500}, {"distance": 1000}], or tiles: {"extent": '
            '[xmin, ymin, xmax, ymax], "crs": "EPSG:32632", "tile_size": 1000, "layer": "roads"}. '
            "Dask hands the jobs out: to a cluster on this machine, or to the scheduler whose "
            "address is given; its machines need QGIS, this plugin and the files at the same "
            "paths. The output folder keeps what is done: a second call runs only what failed, is "
            "missing or has changed. Vectors and numbers are gathered in results.gpkg, rasters "
            "in a .vrt for each last step; the record can be kept as JSON."
        )

    def createInstance(self) -> BatchWorkflowAlgorithm:  # noqa: D102
        return BatchWorkflowAlgorithm()

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters and outputs of the contract."""
        self.addParameter(
            QgsProcessingParameterFile(
                "WORKFLOW",
                tr("Workflow"),
                QgsProcessingParameterFile.Behavior.File,
                fileFilter=tr("Workflows (*.geoflow.json)"),
            )
        )
        self.addParameter(
            QgsProcessingParameterString(
                "INPUTS", tr("Inputs (JSON, a file, a folder or a pattern)"), multiLine=True
            )
        )
        self.addParameter(
            QgsProcessingParameterNumber(
                "WORKERS",
                tr("Workers on this machine (0 chooses)"),
                QgsProcessingParameterNumber.Type.Integer,
                defaultValue=0,
                minValue=0,
                maxValue=64,
            )
        )
        self.addParameter(
            QgsProcessingParameterString(
                "SCHEDULER", tr("Address of a Dask scheduler (tcp://host:8786)"), optional=True
            )
        )
        self.addParameter(QgsProcessingParameterFolderDestination("OUTPUT", tr("Results")))
        self.add_json(tr("Record"))
        self.addOutput(QgsProcessingOutputString("STATUS", tr("Status")))

    def prepareAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> bool:
        """Note where the project's layers lie, on the main thread."""
        project = context.project()
        layers = project.mapLayers().values() if project is not None else ()
        self._sources = {one.name(): one.source() for one in layers}
        return True

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Run the batch. Raises QgsProcessingException with a sentence where none could run."""
        settings = SettingsStore().load()
        loaded = read_workflow(self.parameterAsFile(parameters, "WORKFLOW", context))
        for remark in loaded.remarks:
            feedback.pushInfo(remark)
        folder = self.parameterAsString(parameters, "OUTPUT", context)
        workers = self.parameterAsInt(parameters, "WORKERS", context)
        try:
            scheduler = self.parameterAsString(parameters, "SCHEDULER", context)
            plan = plan_of(workers, checked(scheduler, settings))
            inputs = self.parameterAsString(parameters, "INPUTS", context)
            jobs = read_inputs(inputs, loaded.graph)
            jobs = with_sources(jobs, loaded.graph, self._sources)
            if not is_there():
                raise BatchError(MISSING)
            batch = Batch(loaded.graph, settings, plan, Path(folder).absolute(), feedback)
            record = batch.run(jobs)
        except (BatchError, ModelError) as error:
            raise QgsProcessingException(str(error)) from error
        except OSError as error:
            said = tr("The results cannot be written: {}.").format(error.strerror or error)
            raise QgsProcessingException(said) from error
        path = self.parameterAsFileOutput(parameters, "JSON", context)
        if path:
            write_json(path, record)
        summary = tr("{} of {} jobs are done, {} failed.")
        feedback.pushInfo(summary.format(record["done"], record["total"], record["failed"]))
        return {"OUTPUT": folder, "STATUS": record["status"], "JSON": path}


def with_sources(jobs: Sequence[Job], graph: Graph, sources: Mapping[str, str]) -> list[Job]:
    """Return the jobs with the layers that none of them names: those of the project, else those
    that the workflow noted. `sources` are those of the project by name. Raises BatchError."""
    common: dict[str, str] = {}
    noted = {one.name: one.source for one in graph.sources}
    for name, is_variable in layer_names(graph).items():
        missing = [job for job in jobs if name not in job.variables]
        if not missing:
            continue
        variable = graph.variable(name) if is_variable else None
        meant = str(variable.default or "") if variable is not None else name
        source = sources.get(meant, "")
        if source and not _is_file(source):  # others may hold a password, and records keep sources
            raise BatchError(f"{meant} lies in no file: keep a copy in one, then try again.")
        source = source or noted.get(meant, "") or (meant if is_variable else "")
        if not _is_file(source):
            raise BatchError(
                f"{missing[0].place or missing[0].id}: the layer {name} has no source. Add it to "
                "the inputs, or open it in the project."
            )
        common[name] = source
    return [replace(job, variables={**common, **job.variables}) for job in jobs]


def _is_file(source: str) -> bool:
    path = file_of(source)
    return path is not None and path.exists()
