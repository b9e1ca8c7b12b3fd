# SPDX-License-Identifier: GPL-2.0-or-later
"""The toolbox over one project: runs the calls and knows the layers and results there are."""

from __future__ import annotations

import errno
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from qgis.core import QgsApplication, QgsCsException, QgsMapLayer, QgsProject

from .base import (
    LastingError,
    LayerProfile,
    MendableError,
    Progress,
    ToolCancelled,
    ToolDefinition,
    ToolError,
    ToolResult,
)
from .context import Canvas, Context, MainCaller, removed
from .fingerprint import fingerprint
from .keeping import Kept, keep
from .profile import Profiler
from .registry import Registry, Tool
from .selection import make_subset
from .source import LayerSource, selection, snapshot
from .store import ResultStore

_LOG = logging.getLogger(__name__)


class Approval(Protocol):
    """Has the last word on a call; any thread."""

    def check(self, name: str, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> None:
        """Let a call pass. Raises RefusedError and ToolCancelled."""


class ProjectToolbox:
    """The tools over one project; implements tools.base.Toolbox.

    `call` runs a function on the main thread (and at once when it is called there). All methods
    may be called from any thread, and calls may run at the same time. Of the folders of detectors
    the first takes new ones.
    """

    def __init__(
        self,
        project: QgsProject,
        registry: Registry,
        call: MainCaller,
        temporary_folder: Path,
        output_folder: Path | None = None,
        canvas: Canvas | None = None,
        allowed_folders: tuple[Path, ...] = (),
        detector_folders: tuple[Path, ...] = (),
    ) -> None:
        self._project = project
        self._registry = registry
        self._call = call
        self._temporary = temporary_folder
        self._output = output_folder
        self._canvas = canvas
        self._allowed = allowed_folders
        self._detectors = detector_folders
        self._store = ResultStore(project)
        self._profiler = Profiler()
        self._known: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._approval: Approval | None = None

    def ask_before(self, approval: Approval) -> None:
        """Let every call from now on pass by `approval` first."""
        self._approval = approval

    def origin(self, text: str) -> tuple[str, str, bool] | None:
        """Return the key and source of the layer that a text names exactly, and whether this chat
        made it; None for no such."""
        for source in self._sources():
            if text in (source.key, source.short, source.id):
                return source.key, source.source, bool(source.short)
        return None

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return all tools, in the order in which they are listed to a model."""
        return self._registry.definitions()

    def layers(self) -> tuple[LayerProfile, ...]:
        """Return the profiles of the layers, the project's own first, then results.

        The last ones, without an id, are features of earlier results that a call may make into
        a layer by naming their short id.
        """
        sources = self._sources()
        keys = {source.id: source.key for source in sources}
        profiles = {
            source.id: replace(
                self._profiler.profile(source),
                parent=keys.get(self._store.parent_of(source.id), ""),
            )
            for source in sources
        }
        spoken = [
            replace(
                profiles[one.layer_id],
                key=one.title,
                id="",
                short=one.short,
                features=one.features,
                parent=keys[one.layer_id],
            )
            for one in self._call(self._store.earlier_subsets)
            if one.layer_id in profiles
        ]
        return (*profiles.values(), *spoken)

    def results(self) -> frozenset[str]:
        """Return the short ids of the results that were not taken back."""
        return self._store.results()

    def begin_turn(self, question: str) -> None:
        """Open a group of results for one question."""
        self._store.begin_turn(question)

    def has_changed(self) -> bool:
        """Tell whether the last turn made or changed something that undo would take back."""
        return self._store.has_changed()

    def use_folders(self, output: Path | None, allowed: tuple[Path, ...] = ()) -> None:
        """Write the files of the next calls into `output` (None: nowhere), and let them read
        those in the `allowed` folders too."""
        self._output, self._allowed = output, allowed

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
        if self._approval is not None:
            self._approval.check(name, fitting, cancelled)
        context = self._context(name, progress, cancelled)
        try:
            context.stop_if_cancelled()
            with self._told(name):
                result = tool.run(fitting, context)
            return self._finished(result, fitting, context)
        finally:
            self._store.close_id(context.short)

    def fingerprint(self, layer: str) -> str:
        """Return what the data of a layer are now, by its key, short id or id; "" for no such."""
        return self._call(lambda: self._fingerprint(layer))

    def _fingerprint(self, text: str) -> str:
        for source in self._snapshots():
            if text in (source.key, source.short, source.id):
                layer = self._project.mapLayer(source.id)
                if layer is not None:
                    return fingerprint(layer, self._project, self._profiler.version(source.id))
        return ""

    def keep(
        self,
        target: Path,
        identities: Sequence[str],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> Kept:
        """Keep temporary layers, by their ids, in a GeoPackage; not on the main thread.

        Raises MendableError for another file of that name, LastingError, ToolCancelled.
        """
        with self._told("keep"):
            context = self._context("keep", progress, cancelled)
            try:
                return keep(identities, target, context)
            finally:
                self._store.close_id(context.short)

    def _context(self, name: str, progress: Progress, cancelled: Callable[[], bool]) -> Context:
        return Context(
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
            short=self._store.open_id(),
            gone=self._gone,
            spoken=self._spoken,
            extract=make_subset,
            allowed_folders=self._allowed,
            detector_folders=self._detectors,
        )

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Turn what QGIS and the system raise into errors that say what to do."""
        try:
            yield
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

    def _spoken(self, text: str) -> LayerProfile | None:
        """Return the profile of features of an earlier result that are no layer yet."""
        found = [one for one in self.layers() if not one.id and text in (one.short, one.key)]
        return found[0] if found else None

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
        return replace(
            finished,
            extracted=tuple(context.extracted),
            speaks=self._call(lambda: self._store.subset(finished.id)) is not None,
        )

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
                part = selection(layer, one)
                found += [part] if part is not None else []
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
