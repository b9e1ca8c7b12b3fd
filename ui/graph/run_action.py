# SPDX-License-Identifier: GPL-2.0-or-later
"""The actions that run a workflow in its ways, each off with a reason while it makes no sense."""

from __future__ import annotations

from qgis.PyQt.QtCore import QCoreApplication, QObject, pyqtSignal
from qgis.PyQt.QtWidgets import QAction, QMenu, QToolBar, QToolButton

from ...plugin.workflow.graph import Status
from ...plugin.workflow.start import Way
from ..icon import theme_icon
from .canvas_key import key_of
from .document import GraphDocument

_AGAIN = (Status.COMPLETED, Status.CACHED, Status.FAILED)
NAMES = {
    Way.RUN: "Run", Way.REHEARSE: "Rehearse", Way.TO: "RunTo", Way.STEP: "RunStep",
    Way.RETRY: "Retry", Way.AGAIN: "RunAgain", Way.STOP: "Stop", Way.CLEAR: "ClearResults",
}  # fmt: skip
"""The names of the actions, by their ways."""
KEYS = {
    Way.RUN: "run", Way.REHEARSE: "rehearse", Way.TO: "run_to", Way.STEP: "run_step",
    Way.RETRY: "retry", Way.AGAIN: "run_again", Way.STOP: "stop", Way.CLEAR: "clear_results",
}  # fmt: skip
"""What stands for the ways in the table of keys and in the menus of the canvas."""
ICONS = {
    Way.RUN: "mActionStart", Way.REHEARSE: "mActionProcessSelected",
    Way.TO: "mActionRunSelected", Way.STEP: "mActionReload", Way.RETRY: "mActionStart",
    Way.AGAIN: "mActionRefresh", Way.STOP: "mActionStop", Way.CLEAR: "mActionDeleteSelected",
}  # fmt: skip
_IN_MENU = (Way.STEP, Way.RETRY, Way.AGAIN, Way.CLEAR)


def tr(text: str) -> str:
    """Translate a text of the actions."""
    return QCoreApplication.translate("RunActions", text)


def label(way: Way) -> str:
    """Return what a way is called in menus."""
    return {
        Way.RUN: tr("Run"), Way.REHEARSE: tr("Rehearse"), Way.TO: tr("Run to here"),
        Way.STEP: tr("Run this step again"), Way.RETRY: tr("Try again from the failed step"),
        Way.AGAIN: tr("Run all again"), Way.STOP: tr("Stop"), Way.CLEAR: tr("Clear the results"),
    }[way]  # fmt: skip


def meant(way: Way) -> str:
    """Return what a way does, in a sentence."""
    return {
        Way.RUN: tr("Run the workflow; what has not changed since the last run is kept"),
        Way.REHEARSE: tr("Try the workflow on samples of its layers"),
        Way.TO: tr("Run the selected step and what leads to it"),
        Way.STEP: tr("Run the selected step anew; what leads to it is kept"),
        Way.RETRY: tr("Run what failed and what comes after it; all that is done is kept"),
        Way.AGAIN: tr("Run every step anew, whatever the last run kept"),
        Way.STOP: tr("Stop the run; what is done is kept"),
        Way.CLEAR: tr("Forget what the steps gave; layers in the project stay"),
    }[way]  # fmt: skip


def why_not(document: GraphDocument, way: Way) -> str:
    """Return why a way makes no sense now, "" where it does."""
    if way is Way.STOP:
        return "" if document.running else tr("Nothing runs.")
    if document.running:
        return tr("A run goes on. Stop it, or wait until it has ended.")
    if way is Way.CLEAR:
        return "" if document.states else tr("There are no results yet.")
    return _unready(document) or _unfit(document, way)


def _unready(document: GraphDocument) -> str:
    """Return why the workflow cannot run at all."""
    if not document.graph.vertices:
        return tr("There are no steps yet.")
    if document.proposal is not None:
        return tr("Accept or reject the proposed change first.")
    if document.comparison is not None:
        return tr("End the comparison of versions first.")
    return tr("Mend the errors in Problems first.") if document.has_errors else ""


def _unfit(document: GraphDocument, way: Way) -> str:
    """Return why one way is not possible in a workflow that can run."""
    states = {key: document.state(key).status for key in document.graph.ids()}
    if way in (Way.TO, Way.STEP) and len(document.selection) != 1:
        return tr("Select one step first.")
    if way is Way.STEP and not all(states.get(key) in _AGAIN for key in document.selection):
        return tr("This step has not run yet.")
    if way is Way.RETRY and Status.FAILED not in states.values():
        return tr("No step has failed.")
    if way is Way.AGAIN and not any(one in _AGAIN for one in states.values()):
        return tr("Nothing has run yet.")
    return ""


class RunActions(QObject):
    """The actions over one document; `requested` carries the way that is wanted."""

    requested = pyqtSignal(object)

    def __init__(self, document: GraphDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self.by_way: dict[Way, QAction] = {way: self._action(way) for way in Way}
        for told in (document.findings_changed, document.proposal_changed):
            told.connect(self.refresh)
        for told in (document.selection_changed, document.running_changed,
                     document.states_changed):  # fmt: skip
            told.connect(lambda _what: self.refresh())
        document.changed.connect(lambda old, new: self.refresh())
        self.refresh()

    def fill(self, toolbar: QToolBar) -> None:
        """Put the actions into a toolbar: the rarer ones into the menu of Run."""
        menu = QMenu(toolbar)
        menu.setObjectName("GeoOlmRunMenu")
        menu.setToolTipsVisible(True)
        for way in (Way.TO, *_IN_MENU):
            menu.addAction(self.by_way[way])
        toolbar.addAction(self.by_way[Way.RUN])
        button = toolbar.widgetForAction(self.by_way[Way.RUN])
        button.setObjectName("GeoOlmRun")
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        for way in (Way.TO, Way.REHEARSE, Way.STOP):
            toolbar.addAction(self.by_way[way])

    def ask(self, way: Way) -> str:
        """Ask for a way where it makes sense; returns why it does not."""
        reason = why_not(self._document, way)
        if not reason:
            self.requested.emit(way)
        return reason

    def refresh(self) -> None:
        """Say of each action whether it makes sense now, and else why not."""
        for way, action in self.by_way.items():
            reason = why_not(self._document, way)
            action.setEnabled(not reason)
            key = key_of(KEYS[way])
            said = f"{meant(way)} ({key})" if key else meant(way)
            action.setToolTip(f"{said}\n{reason}" if reason else said)

    def _action(self, way: Way) -> QAction:
        action = QAction(theme_icon(ICONS[way]), label(way), self)
        action.setObjectName(f"GeoOlmGraph{NAMES[way]}")
        action.triggered.connect(lambda _on=False: self.ask(way))
        return action
