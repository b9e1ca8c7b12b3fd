# SPDX-License-Identifier: GPL-2.0-or-later
"""Running one Processing algorithm: prepared and finished on the main thread, run on the caller's.

Outputs are temporary layers, or files in the temporary folder; the guards on what may run and
where it may write stand in offer and parameter.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsFeatureRequest,
    QgsMapLayer,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingUtils,
)
from qgis.PyQt.QtCore import Qt

from .base import MendableError, Progress, ToolCancelled
from .context import Context
from .source import WGS_84, plain
from .validity import first_invalid

_POLL_S = 0.1


@dataclass(frozen=True)
class Outcome:
    """What an algorithm gave: new layers by output name, and the other outputs as plain values."""

    layers: dict[str, QgsMapLayer]
    values: dict[str, Any]


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


def run(algorithm: str, parameters: dict[str, Any], context: Context) -> Outcome:
    """Run an algorithm and return its outputs; new layers belong to nobody yet.

    Called on the worker thread (or, headless, on the main thread). Raises MendableError for
    parameters that do not fit and invalid geometries, ToolCancelled, LastingError.
    """
    context.stop_if_cancelled()
    work = _Work(find(algorithm), parameters, context)
    context.call(work.prepare)
    try:
        with _Watch(work.feedback, context.cancelled):
            if work.main_only:
                context.call(work.execute)
            else:
                work.execute()
        context.stop_if_cancelled()
        return context.call(work.finish)
    except QgsProcessingException as error:
        context.stop_if_cancelled()
        raise MendableError(work.why(str(error), context)) from error
    except ToolCancelled:
        context.call(work.clear)
        raise
    finally:
        context.call(work.release)


class _Work:
    """One run of one algorithm, step by step."""

    def __init__(
        self, algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any], context: Context
    ) -> None:
        self.algorithm = algorithm
        self.parameters = parameters
        self.feedback = _Feedback(context.progress)
        self.main_only = bool(algorithm.flags() & Qgis.ProcessingAlgorithmFlag.NoThreading)
        self._done = False
        self._context = context
        self._folder = context.temporary_folder / f"{context.short}_{algorithm.name()}"
        self.processing: QgsProcessingContext

    def prepare(self) -> None:
        """Check the parameters and load the inputs. Main thread."""
        for value in self.parameters.values():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str):
                    self._context.refuse_removed(one)
        self.processing = QgsProcessingContext()
        self.processing.setProject(self._context.project)
        self.processing.setEllipsoid(self._ellipsoid())
        self.processing.setFeedback(self.feedback)
        self.processing.setInvalidGeometryCheck(
            QgsFeatureRequest.InvalidGeometryCheck.GeometryAbortOnInvalid
        )
        self._context.temporary_folder.mkdir(parents=True, exist_ok=True)
        self.processing.setTemporaryFolder(str(self._context.temporary_folder))
        fits, message = self.algorithm.checkParameterValues(self.parameters, self.processing)
        if not fits:
            raise MendableError(f"{self.algorithm.displayName()}: {message}")
        if not self.algorithm.prepare(self.parameters, self.processing, self.feedback):
            raise MendableError(self.why("", self._context))

    def _ellipsoid(self) -> str:
        """Return the project's ellipsoid; WGS 84 where "none" would measure in degrees."""
        project = self._context.project
        found = project.ellipsoid()
        if found and found != "NONE":
            return found
        layers = [project.mapLayer(str(value)) for value in self.parameters.values()]
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
            elif value is not None:
                values[output.name()] = plain(value)
        self._done = True
        return Outcome(layers, values)

    def _layer(self, output: Any, value: Any) -> QgsMapLayer | None:
        if output.type() not in ("outputVector", "outputRaster", "outputLayer"):
            return None
        if not isinstance(value, str) or not value:
            return None
        layer = QgsProcessingUtils.mapLayerFromString(value, self.processing)
        if layer is None:
            return None
        return self.processing.takeResultLayer(layer.id())

    def why(self, message: str, context: Context) -> str:
        """Say why a run failed: an invalid geometry of an input by name, else its own words."""
        invalid = first_invalid(self.algorithm, self.parameters, context)
        if invalid:
            return invalid
        said = message.strip() or "; ".join(self.feedback.errors[-2:]).strip()
        name = self.algorithm.displayName()
        return f"{name} failed: {said}" if said else f"{name} failed without saying why."

    def clear(self) -> None:
        """Remove what a stopped run left behind. Main thread."""
        for value in getattr(self, "results", {}).values():
            path = Path(value) if isinstance(value, str) and value else None
            if path is not None and path.is_file() and self._is_temporary(path):
                path.unlink()

    def _is_temporary(self, path: Path) -> bool:
        return self._context.temporary_folder.resolve() in path.resolve().parents

    def release(self) -> None:
        """Let go of the layers that were loaded for the run. Main thread."""
        del self.processing
