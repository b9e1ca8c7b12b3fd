# SPDX-License-Identifier: GPL-2.0-or-later
"""What the keys and menus of the canvas do that is not a change of the workflow by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QPoint

from ...plugin.workflow.alignment import Edge

if TYPE_CHECKING:
    from .view import GraphView

ZOOM = 1.25


class CanvasActions:
    """The actions of one view, by their names in the table of keys and in the menus."""

    def __init__(self, view: GraphView) -> None:
        self._view = view

    # -- asking for panels

    def add(self) -> None:
        """Ask for the palette in the middle of the view."""
        self._view.add_requested.emit(self.middle())

    def objective(self) -> None:
        """Edit the objective of the selected step, or write in the selected note or group."""
        view = self._view
        notes, groups = view.graph_scene.selected_notes(), view.graph_scene.selected_groups()
        if notes:
            view.commands.frames.writing.emit("note", notes[0])
        elif groups and not view.document.selection:
            view.commands.frames.writing.emit("group", groups[0])
        else:
            view.inspect_requested.emit("objective")

    def title(self) -> None:
        """Edit the title of the selected group or step."""
        groups = self._view.graph_scene.selected_groups()
        if groups:
            self._view.commands.frames.writing.emit("group", groups[0])
        else:
            self._view.inspect_requested.emit("title")

    def preview(self) -> None:
        """Show what the selected step has made."""
        chosen = self._view.document.selection
        key = next(iter(chosen)) if len(chosen) == 1 else ""
        if key and self._view.document.state(key).result is not None:
            self._view.previews.aim(key, at_once=True)
        else:
            self._view.say(self._view.tr("Select a step that has run first."))

    def find(self) -> None:
        """Open the search."""
        self._view.finder.open()

    def menu(self) -> None:
        """Open the menu of what is selected."""
        view = self._view
        item = next(iter(view.graph_scene.selectedItems()), None)
        place = QPoint(view.viewport().rect().center())
        if item is not None:
            place = view.mapFromScene(item.sceneBoundingRect().center())
        view.menu(item).popup(view.viewport().mapToGlobal(place))

    def run(self) -> None:
        """Run."""
        self._view.run_requested.emit("run")

    def rehearse(self) -> None:
        """Try on samples."""
        self._view.run_requested.emit("rehearse")

    def run_to(self) -> None:
        """Run to the selected step."""
        self._view.run_requested.emit("to")

    def run_step(self) -> None:
        """Run the selected step anew."""
        self._view.run_requested.emit("step")

    def retry(self) -> None:
        """Run what failed and what comes after it."""
        self._view.run_requested.emit("retry")

    def run_again(self) -> None:
        """Run every step anew."""
        self._view.run_requested.emit("again")

    def stop(self) -> None:
        """Stop the run."""
        self._view.run_requested.emit("stop")

    def clear_results(self) -> None:
        """Forget what the steps gave."""
        self._view.run_requested.emit("clear")

    # -- looking

    def fit(self) -> None:
        """Show all."""
        self._view.fit()

    def full(self) -> None:
        """Show at 100 %."""
        self._view.set_zoom(1.0)

    def nearer(self) -> None:
        """Zoom in."""
        self._view.set_zoom(self._view.zoom * ZOOM)

    def farther(self) -> None:
        """Zoom out."""
        self._view.set_zoom(self._view.zoom / ZOOM)

    def snap(self) -> None:
        """Let what is moved stand on the grid, or anywhere."""
        self._view.snaps = not self._view.snaps

    # -- going

    def right(self) -> None:
        """Go on along a link."""
        if not self._view.walk.across(1):
            self._view.commands.right()

    def left(self) -> None:
        """Go back along a link."""
        if not self._view.walk.across(-1):
            self._view.commands.left()

    def next_port(self) -> None:
        """Go to the next input of the selected step."""
        self._view.walk.ports(1)

    def last_port(self) -> None:
        """Go to the input before."""
        self._view.walk.ports(-1)

    def next_link(self) -> None:
        """Go to the next link out of what is selected."""
        self._view.walk.links(1)

    def last_link(self) -> None:
        """Go to the next link into what is selected."""
        self._view.walk.links(-1)

    def connect(self) -> None:
        """Draw a link by keys."""
        self._view.walk.connect()

    def leave(self) -> None:
        """Let go of what is held, else of the selection."""
        if not self._view.let_go():
            self._view.graph_scene.clearSelection()

    # -- places

    def insert(self) -> None:
        """Put a step into the selected link."""
        links = [key for key in self._view.graph_scene.selected_links() if key.port]
        if links:
            self._view.commands.joins.offer_in(links[0])
        else:
            self._view.say(self._view.tr("Select the link first into which a step is put."))

    def note(self) -> None:
        """Put a note in the middle of the view."""
        self._view.commands.frames.add_note(self.middle())

    def fold(self) -> None:
        """Collapse or open the group of what is selected."""
        self._view.commands.frames.fold_selected()

    def nudge_right(self) -> None:
        """Move by 1 em."""
        self._view.commands.frames.nudge(1, 0)

    def nudge_left(self) -> None:
        """Move by 1 em."""
        self._view.commands.frames.nudge(-1, 0)

    def nudge_down(self) -> None:
        """Move by 1 em."""
        self._view.commands.frames.nudge(0, 1)

    def nudge_up(self) -> None:
        """Move by 1 em."""
        self._view.commands.frames.nudge(0, -1)

    def align_left(self) -> None:
        """Bring into line."""
        self._view.commands.frames.align(Edge.LEFT)

    def align_right(self) -> None:
        """Bring into line."""
        self._view.commands.frames.align(Edge.RIGHT)

    def align_top(self) -> None:
        """Bring into line."""
        self._view.commands.frames.align(Edge.TOP)

    def align_bottom(self) -> None:
        """Bring into line."""
        self._view.commands.frames.align(Edge.BOTTOM)

    def align_centre(self) -> None:
        """Bring into line."""
        self._view.commands.frames.align(Edge.CENTRE)

    def align_middle(self) -> None:
        """Bring into line."""
        self._view.commands.frames.align(Edge.MIDDLE)

    def distribute_across(self) -> None:
        """Set apart evenly."""
        self._view.commands.frames.distribute(True)

    def distribute_down(self) -> None:
        """Set apart evenly."""
        self._view.commands.frames.distribute(False)

    def middle(self) -> tuple[float, float]:
        """Return the place in the middle of the view, in em."""
        view = self._view
        place = view.mapToScene(view.viewport().rect().center()) / view.unit
        return (place.x(), place.y())
