# SPDX-License-Identifier: GPL-2.0-or-later
"""The context menus of the canvas: all that the mouse and the keys can do, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QAction, QMenu

from ...plugin.workflow import grouping
from ...plugin.workflow.start import Way
from ..icon import theme_icon
from .canvas_key import key_of
from .group_item import GroupItem
from .layer_item import LayerItem
from .link_item import LinkItem
from .node_item import NodeItem
from .note_item import NoteItem
from .run_action import ICONS, KEYS, label, meant, why_not
from .tone import tone_names

if TYPE_CHECKING:
    from .view import GraphView

Entry = tuple[str, str, str]
"""The action's name, its text and its icon; "" as the name for a line between."""
_LINE = ("", "", "")


def tr(text: str) -> str:
    """Translate an entry."""
    return QCoreApplication.translate("CanvasMenu", text)


class CanvasMenu(QMenu):
    """The menu for an item of a view, or for the ground (None)."""

    def __init__(self, view: GraphView, item: Any) -> None:
        super().__init__(view)
        self.setObjectName("GeoOlmCanvasMenu")
        self._view = view
        if isinstance(item, NodeItem):
            self._node(item)
        elif isinstance(item, LinkItem):
            self._link(item)
        elif isinstance(item, GroupItem):
            self._group(item)
        elif isinstance(item, NoteItem):
            self._note(item)
        elif isinstance(item, LayerItem):
            self._fill([("remove", tr("Remove from the workflow"), "mActionDeleteSelected")])
        else:
            self._ground()

    def _node(self, item: NodeItem) -> None:
        graph = self._view.document.graph
        held = grouping.group_of(graph, item.key)
        for way in (Way.TO, Way.STEP, Way.RETRY):
            self._run(way)
        self._fill([
            ("preview", tr("Preview"), "mActionIdentify"),
            _LINE,
            ("objective", tr("Edit the objective"), "mActionEditTable"),
            ("title", tr("Rename"), "mActionRename"),
            ("connect", tr("Connect by keys"), "mIconConnect"),
            ("bypass", tr("Use it again") if item.card.is_bypassed else tr("Bypass"),
             "mActionToggleEditing"),
            _LINE,
            ("group", tr("Group"), "mActionGroupItems"),
        ])  # fmt: skip
        if held >= 0:
            self._entry("ungroup", tr("Ungroup"), "mActionUngroupItems")
        self._arranging()
        self._fill([
            _LINE,
            ("duplicate", tr("Duplicate"), "mActionDuplicateFeature"),
            ("copy", tr("Copy"), "mActionEditCopy"),
            ("cut", tr("Cut"), "mActionEditCut"),
            ("remove", tr("Remove"), "mActionDeleteSelected"),
        ])  # fmt: skip

    def _run(self, way: Way) -> None:
        """Offer a way to run, off with its reason while it makes no sense."""
        action = self._entry(KEYS[way], label(way), ICONS[way])
        reason = why_not(self._view.document, way)
        action.setEnabled(not reason)
        action.setToolTip(reason or meant(way))
        self.setToolTipsVisible(True)

    def _arranging(self) -> None:
        menu = self.addMenu(theme_icon("mActionAlignLeft"), tr("Align"))
        menu.setObjectName("GeoOlmCanvas_alignments")
        count = len(self._view.document.selection)
        for name, text, icon, least in (
            ("align_left", tr("Left"), "mActionAlignLeft", 2),
            ("align_centre", tr("Centre across"), "mActionAlignHCenter", 2),
            ("align_right", tr("Right"), "mActionAlignRight", 2),
            ("align_top", tr("Top"), "mActionAlignTop", 2),
            ("align_middle", tr("Centre down"), "mActionAlignVCenter", 2),
            ("align_bottom", tr("Bottom"), "mActionAlignBottom", 2),
            ("distribute_across", tr("Distribute across"), "mActionDistributeHSpace", 3),
            ("distribute_down", tr("Distribute down"), "mActionDistributeVSpace", 3),
            ("arrange_selected", tr("Arrange the selected"), "mActionDistributeHCenter", 2),
        ):
            action = self._entry(name, text, icon, menu)
            action.setEnabled(count >= least)
            if count < least:
                action.setToolTip(tr("Select at least {} steps first.").replace("{}", str(least)))
        menu.setToolTipsVisible(True)

    def _link(self, item: LinkItem) -> None:
        if item.key.port:
            self._entry("insert", tr("Insert a step…"), "symbologyAdd")
        self._entry("remove", tr("Disconnect"), "mActionDeleteSelected")

    def _group(self, item: GroupItem) -> None:
        commands, at = self._view.commands.frames, item.at
        text = tr("Open") if item.is_collapsed else tr("Collapse")
        self._do("fold_group", text, "mActionCollapseTree", lambda: commands.fold(at))
        self._do("rename_group", tr("Rename"), "mActionRename",
                 lambda: commands.writing.emit("group", at))  # fmt: skip
        self._colours(item.card.group.color, lambda tone: commands.colour_group(at, tone))
        self._fill([
            ("ungroup", tr("Ungroup"), "mActionUngroupItems"),
            _LINE,
            ("duplicate", tr("Duplicate"), "mActionDuplicateFeature"),
            ("copy", tr("Copy"), "mActionEditCopy"),
            ("remove", tr("Remove"), "mActionDeleteSelected"),
        ])  # fmt: skip

    def _note(self, item: NoteItem) -> None:
        commands, at = self._view.commands.frames, item.at
        self._do("write_note", tr("Edit the note"), "mActionTextAnnotation",
                 lambda: commands.writing.emit("note", at))  # fmt: skip
        self._colours(item.note.color, lambda tone: commands.colour_note(at, tone))
        self._fill([
            ("duplicate", tr("Duplicate"), "mActionDuplicateFeature"),
            ("copy", tr("Copy"), "mActionEditCopy"),
            ("remove", tr("Remove"), "mActionDeleteSelected"),
        ])  # fmt: skip

    def _ground(self) -> None:
        for way in (Way.RUN, Way.REHEARSE, Way.RETRY, Way.AGAIN, Way.STOP, Way.CLEAR):
            self._run(way)
        self._fill([
            _LINE,
            ("add", tr("Add a step…"), "symbologyAdd"),
            ("note", tr("Add a note"), "mActionTextAnnotation"),
            ("paste", tr("Paste"), "mActionEditPaste"),
            _LINE,
            ("find", tr("Find…"), "search"),
            ("arrange", tr("Arrange"), "mActionDistributeHSpace"),
            ("fit", tr("Show all"), "mActionZoomFullExtent"),
        ])  # fmt: skip
        snap = self._entry("snap", tr("Snap to the grid"), "")
        snap.setCheckable(True)
        snap.setChecked(self._view.snaps)

    # -- parts

    def _colours(self, present: str, take: Callable[[str], None]) -> None:
        menu = self.addMenu(tr("Colour"))
        menu.setObjectName("GeoOlmCanvas_colours")
        for name, text in tone_names().items():
            action = self._do(f"colour_{name}", text, "", lambda tone=name: take(tone), menu)
            action.setCheckable(True)
            action.setChecked(name == present)

    def _fill(self, entries: list[Entry]) -> None:
        for name, text, icon in entries:
            if name:
                self._entry(name, text, icon)
            else:
                self.addSeparator()

    def _entry(self, name: str, text: str, icon: str, menu: QMenu | None = None) -> QAction:
        key = key_of(name)
        shown = f"{text}\t{key}" if key else text
        return self._do(name, shown, icon, lambda: self._view.do(name), menu)

    def _do(
        self, name: str, text: str, icon: str, slot: Callable[[], Any], menu: QMenu | None = None
    ) -> QAction:
        action = (menu or self).addAction(text)
        if icon:
            action.setIcon(theme_icon(icon))
        action.setObjectName(f"GeoOlmCanvas_{name}")
        action.triggered.connect(lambda _on=False: slot())
        return action
