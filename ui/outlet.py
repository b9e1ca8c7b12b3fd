# SPDX-License-Identifier: GPL-2.0-or-later
"""The one place where the parts of the dock say what the user did; the dock passes it on."""

from __future__ import annotations

from qgis.PyQt.QtCore import QObject, pyqtSignal

from .state_shape import ArcClock


class Outlet(QObject):
    """Signals of the parts of one dock, and the clock that their arcs share."""

    question_chosen = pyqtSignal(str)
    action_chosen = pyqtSignal(str)
    open_in_processing = pyqtSignal(str, dict)
    layer_activated = pyqtSignal(str)
    layer_zoom_requested = pyqtSignal(str)
    layer_table_requested = pyqtSignal(str)
    layer_removal_requested = pyqtSignal(str)
    approved = pyqtSignal(object)
    undo_requested = pyqtSignal()
    keep_requested = pyqtSignal(object)
    kept_shown = pyqtSignal(str)
    workflow_keep_requested = pyqtSignal(object)
    workflow_open_requested = pyqtSignal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.clock = ArcClock()
