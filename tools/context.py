# SPDX-License-Identifier: GPL-2.0-or-later
"""The toolbox over one project, and what a tool is given during a call.

Layers and the project are touched only inside `call`, which runs a function on the main thread.
"""

from __future__ import annotations

import errno
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from qgis.core import QgsApplication, QgsCsException, QgsMapLayer, QgsProject, QgsRectangle

from .base import (
    Family,
    LastingError,
    LayerProfile,
    LayerReference,
    MendableError,
    Progress,
    ToolCancelled,
    ToolDefinition,
    ToolError,
    ToolResult,
)
from .profile import Profiler
from .registry import Registry, Tool
from .source import LayerSource, VectorSource, snapshot
from .spelling import bare, did_you_mean, same
from .store import Provenance, ResultStore

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_FITS = {
    Family.VECTOR: {Family.VECTOR, Family.POINT, Family.LINE, Family.POLYGON},
    Family.TABLE: {Family.TABLE, Family.VECTOR, Family.POINT, Family.LINE, Family.POLYGON},
}


class MainCaller(Protocol):
    """Runs a function on the main thread, returns its result or raises its error."""

    def __call__(self, function: Callable[[], T]) -> T:
        """Run `function`; called on the main thread, it runs at once."""


class Canvas(Protocol):
    """The map window, where there is one. Main thread only."""

    def zoom_to(self, extent: QgsRectangle, crs: Any) -> None:
        """Show `extent`, which is in `crs` (a QgsCoordinateReferenceSystem)."""


@dataclass
class Context:
    """What a tool may use during one call."""

    project: QgsProject
    call: MainCaller
    store: ResultStore
    sources: Callable[[], list[LayerSource]]
    profile: Callable[[LayerSource], LayerProfile]
    progress: Progress
    cancelled: Callable[[], bool]
    canvas: Canvas | None
    temporary_folder: Path
    output_folder: Path | None
    tool: str
    short: str
    gone: Callable[[str], str]
    notes: list[str] = field(default_factory=list)

    def note(self, *sentences: str) -> None:
        """Add what the model and the user should know beside the result, once each."""
        self.notes.extend(text for text in sentences if text and text not in self.notes)

    def stop_if_cancelled(self) -> None:
        """Raise ToolCancelled when the user stopped the run."""
        if self.cancelled():
            raise ToolCancelled()

    def layer(self, text: str) -> LayerSource:
        """Return the layer that `text` means, by key, result id or layer id.

        Raises MendableError with the closest names, LastingError for a removed layer.
        """
        found = self.sources()
        exact = [one for one in found if text in (one.key, one.id) or text == one.short]
        if not exact:
            exact = [one for one in found if one.key in same(text, [one.key])]
        if not exact:
            exact = [one for one in found if bare(one.key) == bare(text)]
        if len(exact) == 1:
            return exact[0]
        if len(exact) > 1:
            several = " or ".join(one.key for one in exact)
            raise MendableError(f'"{text}" fits several layers: say {several}.')
        self.refuse_removed(text)
        keys = [one.key for one in found]
        raise MendableError(
            f'There is no layer "{text}" in this project. {did_you_mean(text, keys)}'
        )

    def refuse_removed(self, text: str) -> None:
        """Raise LastingError when `text` means a layer that was here and is not any more."""
        name = self.gone(text)
        if name:
            raise removed(name)

    def vector(self, text: str, family: Family = Family.TABLE) -> VectorSource:
        """Return the vector layer or table that `text` means; errors as in `layer`."""
        found = self.layer(text)
        if not isinstance(found, VectorSource):
            raise MendableError(f"{found.key} is a raster; this tool takes a layer with features.")
        wanted = _FITS.get(family, {family})
        if found.family not in wanted and found.family is not Family.VECTOR:
            raise MendableError(
                f"{found.key} is a {found.geometry} layer; this tool takes {family.value}s."
            )
        return found

    def map_layer(self, source: LayerSource) -> QgsMapLayer:
        """Return the live layer of a snapshot. Main thread only. Raises LastingError."""
        layer = self.project.mapLayer(source.id)
        if layer is None:
            raise removed(source.key)
        return layer

    def hand_over(
        self, layer: QgsMapLayer, title: str, parameters: dict[str, Any]
    ) -> LayerReference:
        """Add a new layer to the project with its provenance. Main thread only."""
        provenance = Provenance(self.tool, parameters, self.store.question())
        return self.store.add(layer, title, self.short, provenance)


class ProjectToolbox:
    """The tools over one project; implements tools.base.Toolbox.

    `call` runs a function on the main thread (and at once when it is called there). All methods
    may be called from any one thread at a time.
    """

    def __init__(
        self,
        project: QgsProject,
        registry: Registry,
        call: MainCaller,
        temporary_folder: Path,
        output_folder: Path | None = None,
        canvas: Canvas | None = None,
    ) -> None:
        self._project = project
        self._registry = registry
        self._call = call
        self._temporary = temporary_folder
        self._output = output_folder
        self._canvas = canvas
        self._store = ResultStore(project)
        self._profiler = Profiler()
        self._known: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return all tools, in the order in which they are listed to a model."""
        return self._registry.definitions()

    def layers(self) -> tuple[LayerProfile, ...]:
        """Return the profiles of the layers, the project's own first, then results."""
        return tuple(self._profiler.profile(source) for source in self._sources())

    def begin_turn(self, question: str) -> None:
        """Open a group of results for one question."""
        self._store.begin_turn(question)

    def has_changed(self) -> bool:
        """Tell whether the last turn made or changed something that undo would take back."""
        return self._store.has_changed()

    def use_output(self, folder: Path | None) -> None:
        """Write the files of the next calls into `folder`, None for the temporary one."""
        self._output = folder

    def undo_turn(self) -> tuple[str, ...]:
        """Take back the last turn that changed something; returns what was done."""
        return self._call(self._store.undo_turn)

    def run(
        self,
        name: str,
        arguments: dict[str, Any],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> ToolResult:
        """Run one call. Raises MendableError, LastingError or ToolCancelled."""
        tool, fitting = self._prepared(name, arguments)
        context = Context(
            project=self._project,
            call=self._call,
            store=self._store,
            sources=self._sources,
            profile=self._profiler.profile,
            progress=progress,
            cancelled=cancelled,
            canvas=self._canvas,
            temporary_folder=self._temporary,
            output_folder=self._output,
            tool=name,
            short=self._store.next_id(),
            gone=self._gone,
        )
        context.stop_if_cancelled()
        try:
            result = tool.run(fitting, context)
        except (ToolError, ToolCancelled):
            raise
        except MemoryError as error:
            raise LastingError("This machine has too little memory for that step.") from error
        except QgsCsException as error:
            raise MendableError(
                "Coordinates do not fit their CRS: the layer's CRS may be set wrongly."
            ) from error
        except OSError as error:
            _LOG.exception("tool %s failed", name)
            raise LastingError(_unwritten(error, self._temporary)) from error
        except RuntimeError as error:
            _LOG.exception("tool %s failed", name)
            raise LastingError(_deleted(error)) from error
        return self._finished(result, fitting, context)

    def close(self) -> None:
        """Let go of the project's layers."""
        self._call(self._profiler.close)

    def _prepared(self, name: str, arguments: dict[str, Any]) -> tuple[Tool, dict[str, Any]]:
        try:
            return self._registry.prepare(name, arguments)
        except MendableError as error:
            meant = "" if self._registry.has(name) else self._call(lambda: _algorithm(name))
            if not meant:
                raise
            raise MendableError(
                f'"{name}" is no tool but an algorithm: call run_algorithm with '
                f'algorithm "{meant}" and its parameters.'
            ) from error

    def _finished(
        self, result: ToolResult, arguments: dict[str, Any], context: Context
    ) -> ToolResult:
        notes = tuple(dict.fromkeys([*result.notes, *context.notes]))
        joint = "\n" if "\n" in result.text else " "
        text = joint.join([result.text, *notes])
        if result.id or not (result.numbers or result.layers or result.texts):
            finished = replace(result, text=text, notes=notes)
        else:
            self._store.take_id(context.short)
            finished = replace(
                result, id=context.short, text=f"{context.short}: {text}", notes=notes
            )
        self._store.keep(finished, arguments)
        return finished

    def _sources(self) -> list[LayerSource]:
        return self._call(self._snapshots)

    def _snapshots(self) -> list[LayerSource]:
        """Take a snapshot of every layer, results last. Main thread only."""
        layers = self._ordered()
        keys = _unique([_in_a_line(layer.name()) for layer in layers])
        found = []
        for layer, key in zip(layers, keys):
            self._profiler.watch(layer)
            one = snapshot(layer, self._project, key, self._store.short_of(layer.id()))
            if one is not None:
                found.append(one)
                self._names[one.id] = key
                self._known.update({text: one.id for text in (key, one.id, one.short) if text})
        return found

    def _ordered(self) -> list[QgsMapLayer]:
        tree = [node.layer() for node in self._project.layerTreeRoot().findLayers()]
        listed = {layer.id() for layer in tree if layer is not None}
        layers = [layer for layer in tree if layer is not None]
        layers += [one for key, one in self._project.mapLayers().items() if key not in listed]
        valid = [layer for layer in layers if layer.isValid()]
        own = [layer for layer in valid if not self._store.short_of(layer.id())]
        made = [layer for layer in valid if self._store.short_of(layer.id())]
        return own + sorted(made, key=lambda layer: self._store.order_of(layer.id()))

    def _gone(self, text: str) -> str:
        layer_id = self._known.get(text)
        if layer_id is None or self._call(lambda: self._project.mapLayer(layer_id)) is not None:
            return ""
        return self._names[layer_id]


def removed(name: str) -> LastingError:
    """Return the error of a layer that is not there any more."""
    return LastingError(f"{name} was removed while it was in use. The results so far are kept.")


def _in_a_line(name: str) -> str:
    """Return a layer's name as a model may read it: no line break may pass for another line."""
    return " ".join(name.split()) or "unnamed"


def _unique(names: list[str]) -> list[str]:
    """Return the names with a number added where one is shared."""
    seen: dict[str, int] = {}
    taken, keys = set(names), []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        key = name
        if seen[name] > 1:
            number = seen[name]
            while f"{name} ({number})" in taken:
                number += 1
            key = f"{name} ({number})"
            taken.add(key)
        keys.append(key)
    return keys


def _algorithm(name: str) -> str:
    """Return the id of the algorithm that a wrong tool name means, "" for none."""
    registry = QgsApplication.processingRegistry()
    for text in (name, name.replace("_", ":", 1), name.replace(".", ":", 1)):
        found = registry.algorithmById(text)
        if found is not None:
            return str(found.id())
    return ""


def _unwritten(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOSPC:
        left = shutil.disk_usage(folder).free // 1_000_000
        return (
            f"The disk is full: {left} MB left in the temporary folder. "
            "The results so far are kept."
        )
    return f"A file could not be read or written: {error.strerror or error}."


def _deleted(error: RuntimeError) -> str:
    if "deleted" in str(error):
        return removed("A layer").message
    return f"The step stopped with an error: {error}"
