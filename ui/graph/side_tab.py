# SPDX-License-Identifier: GPL-2.0-or-later
"""The tabs beside the canvas: what can be added, and the outline of what is there."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPoint, Qt
from qgis.PyQt.QtWidgets import QTabWidget, QWidget

from .outline import LAYER, NOTE, Outline
from .step_palette import StepPalette
from .view import GraphView


class SideTabs(QTabWidget):
    """Holds the palette, and the outline that is the canvas's twin."""

    def __init__(self, steps: StepPalette, view: GraphView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmSideTabs")
        self.setDocumentMode(True)
        self._steps, self._view = steps, view
        self.outline = Outline(view.document)
        self.addTab(steps, self.tr("Steps"))
        self.addTab(self.outline, self.tr("Outline"))
        self.setTabToolTip(0, self.tr("What can be added"))
        self.setTabToolTip(1, self.tr("The workflow in lines, in the order in which it runs"))
        self.outline.done.connect(view.do)
        self.outline.shown.connect(self._show)
        self.outline.menu_requested.connect(self._menu)

    def show_steps(self) -> None:
        """Show the palette with the cursor in its search."""
        self.setVisible(True)
        self.setCurrentWidget(self._steps)
        self._steps.search.setFocus(Qt.FocusReason.OtherFocusReason)
        self._steps.search.selectAll()

    def _show(self, key: str) -> None:
        scene = self._view.graph_scene
        if key.startswith(NOTE) and int(key[len(NOTE) :]) in scene.frames.notes:
            self._view.walk.select(scene.frames.notes[int(key[len(NOTE) :])])
        elif key.startswith(LAYER) and key[len(LAYER) :] in scene.pills:
            self._view.walk.select(scene.pills[key[len(LAYER) :]])
        elif key in scene.nodes:
            self._view.show_step(key)

    def _menu(self, key: str, place: QPoint) -> None:
        item = self._view.graph_scene.nodes.get(key)
        self._view.menu(item).popup(place)
