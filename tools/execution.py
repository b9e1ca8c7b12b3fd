# SPDX-License-Identifier: GPL-2.0-or-later
"""Running one Processing algorithm: prepared and finished on the main thread, run on the caller's.

Outputs are temporary layers, or files in the temporary folder; the guards on what may run and
where it may write stand in offer and parameter.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsMapLayer,
    QgsNotSupportedException,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback,
    QgsProcessingUtils,
    QgsProject,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import Qt

from . import guard, guard_result, parquet
from .base import MendableError, Progress
from .context import Context
from .crs import keep_ellipsoid
from .expression import literals
from .source import WGS_84, expressions, layer_of, plain
from .validity import Fault, invalid_inputs

_POLL_S = 0.1
_LAYERS = ("outputVector", "outputRaster", "outputLayer")


@dataclass(frozen=True)
class Outcome:
    """What an algorithm gave: new layers by output name, the other outputs as plain values, and
    the files that it wrote where the parameters said so."""

    layers: dict[str, QgsMapLayer]
    values: dict[str, Any]
    files: tuple[str, ...] = ()


def find(algorithm: str) -> QgsProcessingAlgorithm:
    """Return a fresh copy of an algorithm of the live registry. Raises MendableError."""
    found = QgsApplication.processingRegistry().createAlgorithmById(algorithm)
    if found is None:
        raise MendableError(
            f'There is no algorithm "{algorithm}". Find its id with search_algorithms.'
        )
    return found


class _Feedback(QgsProcessingFeedback):
    """Forwards progress, keeps the error texts, and is cancelled by a watching thread."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(False)
        self.errors: list[str] = []
        self.progressChanged.connect(progress, Qt.ConnectionType.DirectConnection)

    def reportError(self, error: str, fatalError: bool = False) -> None:
        """Keep an error text."""
        self.errors.append(error)


class _Watch:
    """Cancels a feedback soon after `cancelled` turns true, while the algorithm runs."""

    def __init__(self, feedback: QgsProcessingFeedback, cancelled: Callable[[], bool]) -> None:
        self._feedback = feedback
        self._cancelled = cancelled
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _poll(self) -> None:
        while not self._over.wait(_POLL_S):
            if self._cancelled():
                self._feedback.cancel()
                return


class _Failed(MendableError):
    """An algorithm said that it failed."""


def run(algorithm: str, parameters: dict[str, Any], context: Context) -> Outcome:
    """Run an algorithm and return its outputs; new layers belong to nobody yet.

    The guards look at it before and after; inputs whose invalid geometries stop it are repaired
    on a copy, which is noted. Called on the worker thread (or, headless, on the main thread).
    Raises MendableError for parameters that do not fit and a failed run, ToolCancelled,
    LastingError.
    """
    found = find(algorithm)
    held, parquets = parquet.held_back(found, parameters)
    outcome = _guarded(found, held, context)
    written = parquet.written(parquets, outcome.layers, context)
    outcome = replace(outcome, files=(*outcome.files, *written))
    guard_result.after(found, parameters, outcome.layers, outcome.values, outcome.files, context)
    return outcome


def _guarded(
    algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any], context: Context
) -> Outcome:
    """Run with copies in place of what is mended, once more with repaired geometries."""
    copies = guard.before(algorithm, parameters, context)
    parameters = guard.completed(algorithm, parameters, copies, context)
    try:
        return _played(_Work.of(algorithm, parameters, copies, context))
    except _Failed as error:
        faults = invalid_inputs(parameters, context)
        if not faults:
            raise
        copies = guard.before(algorithm, parameters, context)  # the first ones went with the run
        copies.update({fault.source.id: _repaired(fault, context) for fault in faults})
        try:
            return _played(_Work.of(algorithm, parameters, copies, context))
        except _Failed:
            raise MendableError(faults[0].sentence) from error


def _or_copy(copies: dict[str, QgsMapLayer], value: Any) -> Any:
    """Return the copy itself: by its id a worker finds only layers of the project."""
    return copies[value] if isinstance(value, str) and value in copies else value


def _repaired(fault: Fault, context: Context) -> QgsMapLayer:
    parameters = {"INPUT": fault.source.id, "OUTPUT": "TEMPORARY_OUTPUT"}
    outcome = _played(_Work(find("native:fixgeometries"), parameters, context))
    copy = outcome.layers["OUTPUT"]
    context.call(lambda: copy.setName(fault.source.key))
    context.note(
        f"{fault.count} of {fault.source.features} geometries of {fault.source.key} were invalid "
        "and repaired on a copy."
    )
    return copy


def _played(work: _Work) -> Outcome:
    """Prepare, run and finish, and leave nothing of a run that did not end well."""
    context, outcome = work.context, None
    try:
        context.stop_if_cancelled()
        context.call(work.prepare)
        with _Watch(work.feedback, context.cancelled):
            if work.main_only:
                context.call(work.execute)
            else:
                work.execute()
        context.stop_if_cancelled()
        outcome = context.call(work.finish)
        return outcome
    except (QgsProcessingException, QgsNotSupportedException) as error:
        context.stop_if_cancelled()
        raise _Failed(work.failure(str(error))) from error
    finally:
        context.call(work.release)
        work.tidy(keep=outcome is not None)


class _Work:
    """One run of one algorithm, step by step; `copies` are inputs that no project holds."""

    def __init__(
        self,
        algorithm: QgsProcessingAlgorithm,
        parameters: dict[str, Any],
        context: Context,
        copies: tuple[QgsMapLayer, ...] = (),
    ) -> None:
        self.algorithm = algorithm
        self.parameters = parameters
        self.context = context
        self.feedback = _Feedback(context.progress)
        self.main_only = bool(algorithm.flags() & Qgis.ProcessingAlgorithmFlag.NoThreading)
        self.results: dict[str, Any] = {}
        self._copies = copies
        self._folder = Path(tempfile.mkdtemp(dir=_made(context.temporary_folder)))
        self.processing: Any = None
        self._there = frozenset(self._written())

    @classmethod
    def of(
        cls,
        algorithm: QgsProcessingAlgorithm,
        parameters: dict[str, Any],
        copies: dict[str, QgsMapLayer],
        context: Context,
    ) -> _Work:
        """Return a run with the copies in place of what they stand for, by layer id."""
        replaced = {
            name: [_or_copy(copies, one) for one in value]
            if isinstance(value, list)
            else _or_copy(copies, value)
            for name, value in parameters.items()
        }
        return cls(algorithm.create(), replaced, context, tuple(copies.values()))

    def prepare(self) -> None:
        """Check the parameters and load the inputs. Main thread."""
        for value in self.parameters.values():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str):
                    self.context.refuse_removed(one)
        self.parameters = {name: _sourced(value) for name, value in self.parameters.items()}
        self.processing = QgsProcessingContext()
        self.processing.setProject(self.context.project)
        ellipsoid = self._ellipsoid()
        keep_ellipsoid(ellipsoid)
        self.processing.setEllipsoid(ellipsoid)
        self.processing.setDistanceUnit(Qgis.DistanceUnit.Meters)
        self.processing.setAreaUnit(Qgis.AreaUnit.SquareMeters)
        self.processing.setExpressionContext(expressions(self.context.project, ellipsoid))
        self.processing.setFeedback(self.feedback)
        self.processing.setInvalidGeometryCheck(Qgis.InvalidGeometryCheck.AbortOnInvalid)
        self.processing.setTemporaryFolder(str(self._folder))
        # They go with the context, on the main thread.
        for copy in (*self._copies, *self._spoken_of()):
            self.processing.temporaryLayerStore().addMapLayer(copy)
        fits, message = self.algorithm.checkParameterValues(self.parameters, self.processing)
        if not fits:
            raise MendableError(f"{self.algorithm.displayName()}: {message}")
        if not self.algorithm.prepare(self.parameters, self.processing, self.feedback):
            raise _Failed(self.failure(""))

    def _spoken_of(self) -> list[QgsMapLayer]:
        """Return copies of the layers that expressions name, when this is not QGIS's own project.

        Processing finds layers in expressions in QGIS's own project and among its temporary ones
        alone, and the latter on the main thread alone.
        """
        project = self.context.project
        if project is QgsProject.instance():
            return []
        texts = [
            self.parameters[one.name()]
            for one in self.algorithm.parameterDefinitions()
            if one.type() == "expression" and isinstance(self.parameters.get(one.name()), str)
        ]
        named = {literal for text in texts for literal in literals(text)}
        layers = [one for one in project.mapLayers().values() if {one.name(), one.id()} & named]
        copies = [one.clone() for one in layers if isinstance(one, QgsVectorLayer)]
        self.main_only = self.main_only or bool(copies)
        return copies

    def _ellipsoid(self) -> str:
        """Return the project's ellipsoid; WGS 84 where "none" would measure in degrees."""
        project = self.context.project
        found = project.ellipsoid()
        if found and found != "NONE":
            return found
        named = [value for value in self.parameters.values() if isinstance(value, str)]
        layers = [project.mapLayer(value) for value in named]
        layers.extend(self._copies)
        degrees = any(layer is not None and layer.crs().isGeographic() for layer in layers)
        return WGS_84 if degrees or not project.crs().isValid() else "NONE"

    def execute(self) -> None:
        """Run the algorithm on the calling thread."""
        self.results = self.algorithm.runPrepared(self.parameters, self.processing, self.feedback)

    def finish(self) -> Outcome:
        """Take the outputs over. Main thread."""
        self.results.update(self.algorithm.postProcess(self.processing, self.feedback) or {})
        layers: dict[str, QgsMapLayer] = {}
        values: dict[str, Any] = {}
        for output in self.algorithm.outputDefinitions():
            value = self.results.get(output.name())
            layer = self._layer(output, value)
            if layer is not None:
                layers[output.name()] = layer
            elif _should_be_layer(output, value):
                raise QgsProcessingException("")  # a program of GDAL may fail without raising
            elif value is not None:
                values[output.name()] = plain(value)
        return Outcome(layers, values, tuple(self._written()))

    def _written(self) -> Iterator[str]:
        """Yield the files of the destinations that are no temporary ones."""
        for definition in self.algorithm.destinationParameterDefinitions():
            text = self.parameters.get(definition.name())
            if isinstance(text, str) and os.path.isabs(text) and os.path.isfile(text):
                yield text

    def _layer(self, output: Any, value: Any) -> QgsMapLayer | None:
        if output.type() not in _LAYERS:
            return None
        if not isinstance(value, str) or not value:
            return None
        layer = QgsProcessingUtils.mapLayerFromString(value, self.processing)
        if layer is None:
            return None
        return self.processing.takeResultLayer(layer.id())

    def failure(self, message: str) -> str:
        """Say in the algorithm's own words why it failed."""
        said = _last_line(message) or "; ".join(map(_last_line, self.feedback.errors[-2:])).strip()
        name = self.algorithm.displayName()
        return f"{name} failed: {said}" if said else f"{name} failed without saying why."

    def release(self) -> None:
        """Let go of the layers that were loaded for the run. Main thread."""
        self.processing = None

    def tidy(self, keep: bool) -> None:
        """Remove an empty folder, or all files of a run that did not end well.

        A file that was there before the run stays: other layers may be in it.
        """
        if keep:
            if not os.listdir(self._folder):
                os.rmdir(self._folder)
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        for text in self._written():
            if text not in self._there:
                os.remove(text)


def _should_be_layer(output: Any, value: Any) -> bool:
    """Tell whether an output names a file that should be a layer."""
    is_layer = output.type() in ("outputVector", "outputRaster")
    return is_layer and isinstance(value, str) and os.path.isabs(value)


def _last_line(message: str) -> str:
    """Return what an algorithm said; of a traceback of Python the line that says what happened."""
    said = message.strip()
    return said.splitlines()[-1].strip() if "Traceback (most recent" in said else said


def _sourced(value: Any) -> Any:
    """Return a parameter with each mere selection of a layer as Processing takes it."""
    if isinstance(value, list):
        return [_sourced(one) for one in value]
    layer_id, is_part = layer_of(value) if isinstance(value, str) else ("", False)
    return QgsProcessingFeatureSourceDefinition(layer_id, True) if is_part else value


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
