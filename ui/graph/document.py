# SPDX-License-Identifier: GPL-2.0-or-later
"""The one object that canvas and panels share: the workflow, what is selected, what a run tells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...plugin.workflow.change import Change, ChangeError, applied
from ...plugin.workflow.deciding import refused, taken
from ...plugin.workflow.difference import Part
from ...plugin.workflow.event import GraphChanged, GraphStarted, StepChanged, StepProgress
from ...plugin.workflow.finding import Finding, Mend, Severity
from ...plugin.workflow.fitting import Port, ports
from ...plugin.workflow.graph import Graph, Status, Vertex
from ...plugin.workflow.role import Roles
from ...plugin.workflow.shelf import ALGORITHM, NoShelf, Shelf
from ...tools.base import LayerProfile, ToolDefinition, ToolResult
from .comparison import Comparison
from .flow import Flow
from .undo import QUndoCommand, QUndoStack

_TYPING_S = 1.0
"""Edits of one kind within this time are one step of undo."""
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
Edit = Callable[[Graph], Graph]


class Mark(Enum):
    """What a proposed change does to a step."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class StepState:
    """Where a step stands in the present run; `percent` is below 0 where it is not known."""

    status: Status = Status.PENDING
    text: str = ""
    seconds: float = 0.0
    percent: float = -1.0
    result: ToolResult | None = None

    @property
    def features(self) -> int:
        """How many features the step's layer has, -1 for no layer or unknown."""
        return self.result.layers[0].features if self.result and self.result.layers else -1


class GraphDocument(QObject):
    """A workflow that is edited; lives on the main thread.

    `edit` is the only way to change the graph: one step of undo holds it before and after. What a
    run tells is no part of undo. `changed` carries the graph before and after.
    """

    changed = pyqtSignal(object, object)
    states_changed = pyqtSignal(object)
    findings_changed = pyqtSignal()
    selection_changed = pyqtSignal(object)
    running_changed = pyqtSignal(bool)
    known_changed = pyqtSignal()
    was_saved = pyqtSignal()
    proposal_changed = pyqtSignal()
    edit_refused = pyqtSignal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.path: Path | None = None
        self.findings: tuple[Finding, ...] = ()
        self.states: dict[str, StepState] = {}
        self.selection: frozenset[str] = frozenset()
        self.tools: Mapping[str, ToolDefinition] = {}
        self.layers: tuple[LayerProfile, ...] = ()
        self.roles = Roles(())
        self.shelf: Shelf = NoShelf()
        self.running = False
        self.proposal: Change | None = None
        self.comparison: Comparison | None = None
        self._ports: dict[tuple[str, str, str], dict[str, Port]] = {}
        self.flow = Flow(self)
        self._graph = Graph()

    @property
    def graph(self) -> Graph:
        """The workflow as it is now."""
        return self._graph

    @property
    def title(self) -> str:
        """What the workflow is called: its title, its question, else its file."""
        named = self._graph.title or self._graph.question
        return named or (self.path.name.split(".")[0] if self.path else "")

    @property
    def is_modified(self) -> bool:
        """Whether there are edits since it was loaded or saved."""
        return not self.undo_stack.isClean()

    # -- editing

    def edit(self, text: str, function: Edit, merge: str = "") -> bool:
        """Change the graph by `function`; `text` names the step of undo. Edits with the same
        `merge` that follow within a second are one. Returns whether anything changed.

        Raises what `function` raises; the graph is then as before.
        """
        if self.proposal is not None or self.comparison is not None:
            decided = self.tr("Accept or reject the proposed change first.")
            ended = self.tr("End the comparison of versions first.")
            self.edit_refused.emit(decided if self.proposal is not None else ended)
            return False
        new = function(self._graph)
        if new == self._graph:
            return False
        self.undo_stack.push(_Step(self, text, self._graph, new, merge))
        return True

    # -- what a model proposes

    @property
    def shown(self) -> Graph:
        """The workflow as the canvas shows it: with what is proposed, and what that removes."""
        if self.comparison is not None:
            return self.comparison.shown
        if self.proposal is None:
            return self._graph
        found = applied(self._graph, self.proposal)
        for key in self.proposal.removed:
            found = found.with_vertex(self._graph.vertex(key))
        return found

    def mark(self, key: str) -> Mark | None:
        """Return what is proposed for a step."""
        change = self.proposal if self.comparison is None else self.comparison.change
        if change is None:
            return None
        if any(one.id == key for one in change.inserted):
            return Mark.ADDED
        if key in change.removed:
            return Mark.REMOVED
        return Mark.CHANGED if any(one.id == key for one in change.edited) else None

    def propose(self, change: Change) -> None:
        """Show a change beside the workflow until it is accepted or rejected; a new one takes the
        place of one that is undecided. Raises ChangeError where it does not fit."""
        applied(self._graph, change)
        self.proposal, self.comparison = change, None
        self.proposal_changed.emit()

    def decide(self, accepts: bool) -> None:
        """Take what is proposed as one step of undo, or let it go."""
        change, self.proposal = self.proposal, None
        if change is not None and accepts:
            count = len(change.edited) + len(change.inserted) + len(change.removed)
            text = self.tr("Accept {} proposed changes").replace("{}", str(max(count, 1)))
            self.edit(text, lambda graph: applied(graph, change))
        self.proposal_changed.emit()

    def decide_part(self, part: Part, accepts: bool) -> None:
        """Take one part of what is proposed, with those that it needs, as one step of undo, or let
        it go; the rest stays proposed."""
        change = self.proposal
        if change is None:
            return
        if accepts:
            new, rest = taken(self._graph, change, part)
            self.proposal = None
            self.edit(self.tr("Accept: {}").replace("{}", part.lines[0]), lambda _graph: new)
        else:
            rest = refused(self._graph, change, part)
        self.proposal = None if rest.is_empty else rest
        self.proposal_changed.emit()

    def _still_fits(self) -> bool:
        """Tell whether what is proposed can be made of the workflow as it is now."""
        if self.proposal is None:
            return True
        try:
            applied(self._graph, self.proposal)
        except ChangeError:
            return False
        return True

    # -- what is compared

    def compare(self, comparison: Comparison | None) -> None:
        """Show how two versions differ in place of the workflow; None shows the workflow again."""
        self.comparison = comparison
        self.proposal_changed.emit()

    def take_back(self, text: str, function: Edit) -> None:
        """Change the workflow while it is compared with a version, as one step of undo."""
        held, self.comparison = self.comparison, None
        try:
            self.edit(text, function)
        finally:
            self.compare(None if held is None else held.with_after(self._graph))

    def load(self, graph: Graph, path: Path | None = None) -> None:
        """Take another workflow; what could be undone is forgotten."""
        self.undo_stack.clear()
        self.proposal = self.comparison = None
        self.path, self.states, self.findings = path, {}, ()
        self.put(graph)
        self.select(())
        self.findings_changed.emit()
        self.states_changed.emit(frozenset(graph.ids()))

    def saved(self, path: Path) -> None:
        """Note that the workflow lies in a file as it is."""
        self.path = path
        self.undo_stack.setClean()
        self.was_saved.emit()

    def put(self, graph: Graph) -> None:
        """Show a graph; only undo and loading call this."""
        old, self._graph = self._graph, graph
        if not self._still_fits():  # undo went back to before what it changes
            self.proposal = None
            self.proposal_changed.emit()
        gone = set(self.states) - set(graph.ids())
        for key in gone:
            del self.states[key]
        kept = self.selection & set(graph.ids())
        if self.comparison is not None:
            self.comparison = self.comparison.with_after(graph)
        self.changed.emit(old, graph)
        if kept != self.selection:
            self.select(kept)

    def mend(self, mend: Mend) -> None:
        """Make the change that mends a finding."""
        self.edit(
            self.tr("Mend: {}").replace("{}", mend.label), lambda graph: applied(graph, mend.change)
        )

    def select(self, keys: Iterable[str]) -> None:
        """Select steps."""
        found = frozenset(keys)
        if found != self.selection:
            self.selection = found
            self.selection_changed.emit(found)

    def ports(self, vertex: Vertex) -> dict[str, Port]:
        """Return the parameters of a step at which links may end, those of its algorithm too."""
        given = (vertex.parameters or {}).get(ALGORITHM)
        identity = given if isinstance(given, str) else ""
        spot = (vertex.kind.value, vertex.tool, identity)
        if spot not in self._ports:
            inner = self.shelf.schema(identity) if identity else None
            self._ports[spot] = ports(vertex, self.tools.get(vertex.tool), inner)
        return self._ports[spot]

    # -- what is known

    def know(
        self, tools: Iterable[ToolDefinition], layers: Iterable[LayerProfile], roles: Roles
    ) -> None:
        """Take the tools, the project's layers and the agents."""
        self.tools = {one.name: one for one in tools}
        self.layers, self.roles = tuple(layers), roles
        self._ports = {}
        self.known_changed.emit()

    def set_findings(self, findings: Iterable[Finding]) -> None:
        """Take what the checks found."""
        self.findings = tuple(findings)
        self.findings_changed.emit()

    def findings_of(self, key: str) -> tuple[Finding, ...]:
        """Return what was found in a step, the worst first."""
        found = [one for one in self.findings if one.vertex == key]
        return tuple(sorted(found, key=lambda one: _ORDER.index(one.severity)))

    @property
    def has_errors(self) -> bool:
        """Whether something keeps the workflow from running."""
        return any(one.severity is Severity.ERROR for one in self.findings)

    # -- a run

    def state(self, key: str) -> StepState:
        """Return where a step stands."""
        return self.states.get(key, StepState())

    def set_running(self, running: bool) -> None:
        """Tell that a run begins or has ended; what had not ended then is pending again."""
        if running == self.running:
            return
        self.running = running
        if not running:
            left = {
                key: replace(one, status=Status.PENDING, percent=-1.0)
                for key, one in self.states.items()
                if one.status in (Status.RUNNING, Status.WAITING)
            }
            self.states.update(left)
            self.states_changed.emit(frozenset(left))
        self.running_changed.emit(running)

    def take(self, event: Any) -> None:
        """Take an event of a run of this workflow."""
        if isinstance(event, GraphStarted):
            for key in event.steps:
                self.states[key] = StepState()
            self.states_changed.emit(frozenset(event.steps))
        elif isinstance(event, StepChanged):
            self.states[event.step] = StepState(
                event.status, event.text, event.seconds, result=event.result
            )
            self.states_changed.emit(frozenset((event.step,)))
        elif isinstance(event, StepProgress):
            self.states[event.step] = replace(self.state(event.step), percent=event.percent)
            self.states_changed.emit(frozenset((event.step,)))
        elif isinstance(event, GraphChanged):
            text = self.tr("Mend: {}").replace("{}", event.reason)
            self.edit(text, lambda graph: applied(graph, event.change))

    def clear_states(self) -> None:
        """Forget what the last run told."""
        keys = frozenset(self.states)
        self.states.clear()
        self.states_changed.emit(keys)


class _Step(QUndoCommand):  # type: ignore[misc, valid-type]
    """One edit: the graph before and after it."""

    def __init__(
        self, document: GraphDocument, text: str, old: Graph, new: Graph, merge: str
    ) -> None:
        super().__init__(text)
        self._document, self._old, self.new = document, old, new
        self.merge, self.made = merge, time.monotonic()

    def id(self) -> int:
        """Edits with a mark to merge by may be merged by Qt."""
        return 1 if self.merge else -1

    def mergeWith(self, other: Any) -> bool:
        """Take a later edit of the same kind in."""
        if other.merge != self.merge or other.made - self.made > _TYPING_S:
            return False
        self.new, self.made = other.new, other.made
        return True

    def redo(self) -> None:
        """Show the graph after the edit."""
        self._document.put(self.new)

    def undo(self) -> None:
        """Show the graph before the edit."""
        self._document.put(self._old)
