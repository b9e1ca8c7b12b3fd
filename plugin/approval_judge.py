# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges what a call would leave behind in the project of a toolbox, and what a graph would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..tools.algorithm import offered
from ..tools.base import MendableError
from ..tools.toolbox import ProjectToolbox
from . import lasting, lasting_algorithm
from .agent.event import Deed, Reach
from .approval import Approver, Intent, Word
from .assembly import output_of
from .runner import MainThread
from .settings import Settings
from .workflow.graph import Graph, Kind
from .workflow.value import Asked, Layer, Output, Template, walk

_RUN = "run_algorithm"


class ProjectJudge:
    """Tells of a call what it would do; results of the chat are not the user's own layers."""

    def __init__(
        self, toolbox: ProjectToolbox, main: MainThread, folder: Callable[[], Path | None]
    ) -> None:
        """`folder` gives the one that files are written into, None for none."""
        self._toolbox, self._main, self._folder = toolbox, main, folder
        self._labels = {one.name: one.label for one in toolbox.definitions()}

    def __call__(self, tool: str, arguments: dict[str, Any]) -> Deed:
        """Return what a call would do; any thread."""
        if tool == _RUN:
            deed = self._algorithm(arguments)
        else:
            deed = lasting.deed(tool, self._labels.get(tool, ""), arguments)
        if deed.reach is Reach.PROJECT and tool != _RUN:
            return self._on_layer(deed)
        folder = self._folder() if deed.reach is Reach.FILE else None
        return replace(deed, where=str(folder) if folder is not None else "")

    def _algorithm(self, arguments: Mapping[str, Any]) -> Deed:
        """Judge a run of an algorithm; one that is not offered fails by itself."""
        given = arguments.get("parameters")
        parameters: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
        name = str(arguments.get("algorithm", ""))
        try:
            found = self._main.call(lambda: lasting_algorithm.deed(offered(name), parameters))
        except MendableError:
            return Deed(Reach.READ, name)
        return replace(found, details=lasting.details(arguments))

    def _on_layer(self, deed: Deed) -> Deed:
        """Name the layer of the project; what this chat made, or a step will, was not there."""
        if not deed.target:
            return replace(deed, reach=Reach.MAKE)
        found = self._toolbox.origin(deed.target)
        if found is None:
            return deed
        key, source, is_result = found
        if is_result:
            return replace(deed, reach=Reach.MAKE, target=key)
        return replace(deed, target=key, where=source)


def make_approver(
    toolbox: ProjectToolbox, main: MainThread, settings: Callable[[], Settings], word: Word
) -> Approver:
    """Return the approver of a toolbox, which from now on lets no call pass without it."""
    judge = ProjectJudge(toolbox, main, lambda: output_of(settings()))
    approver = Approver(lambda: settings().approval, judge, word)
    toolbox.ask_before(approver)
    return approver


def intents(graph: Graph) -> tuple[Intent, ...]:
    """Return the calls that the steps of a graph will make, as far as they are known."""
    found = []
    for vertex in graph.vertices:
        if vertex.kind is Kind.TASK and vertex.tool:
            given = vertex.parameters or {}
            is_open = any(_is_open(one) for one in walk(given))
            found.append(Intent(vertex.tool, _known(given), is_open))
    return tuple(found)


def _is_open(value: Any) -> bool:
    return isinstance(value, (Output, Asked, Template))


def _known(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without those that other steps or variables fill."""
    known: dict[str, Any] = {}
    for name, one in value.items():
        if isinstance(one, Mapping):
            known[name] = _known(one)
        elif isinstance(one, Layer):
            known[name] = one.name
        elif isinstance(one, (list, tuple)):
            if not any(_is_open(part) for part in walk(one)):
                known[name] = [part.name if isinstance(part, Layer) else part for part in one]
        elif not _is_open(one):
            known[name] = one
    return known
