# SPDX-License-Identifier: GPL-2.0-or-later
"""The button whose menu takes workflows in from other forms, and gives them out in others."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import QAction, QMenu, QToolButton, QWidget

from ..icon import theme_icon


class ExchangeMenu(QToolButton):
    """Import and export; the signals carry the kind: workflow, paper, model, script, team,
    picture (SVG) or image (PNG)."""

    import_requested = pyqtSignal(str)
    export_requested = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmExport")
        self.setText(self.tr("Export"))
        self.setAccessibleName(self.tr("Import and export"))
        self.setToolTip(self.tr("Take in a workflow of another form, or give this one out"))
        self.setIcon(theme_icon("mActionSharingExport"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.exports: dict[str, QAction] = {}
        menu = QMenu(self)
        for kind, text in (
            ("model", self.tr("Import a QGIS model…")),
            ("paper", self.tr("Import a graph in the papers' form…")),
        ):
            action = menu.addAction(theme_icon("mActionSharingImport"), text)
            action.setObjectName(f"GeoOlmImport_{kind}")
            action.triggered.connect(lambda _on=False, one=kind: self.import_requested.emit(one))
        menu.addSeparator()
        for kind, text, icon in (
            ("workflow", self.tr("Export a copy of the workflow…"), "mActionFileSaveAs"),
            ("model", self.tr("Export as a QGIS model…"), "processingModel"),
            ("script", self.tr("Export as a PyQGIS script…"), "mActionSaveAsPython"),
            ("team", self.tr("Export as an AutoGen team…"), "mIconFile"),
            ("paper", self.tr("Export in the papers' form…"), "mIconFile"),
            ("picture", self.tr("Export as a drawing (SVG)…"), "mActionSaveAsSVG"),
            ("image", self.tr("Export as a picture (PNG)…"), "mActionSaveMapAsImage"),
        ):
            action = menu.addAction(theme_icon(icon), text)
            action.setObjectName(f"GeoOlmExport_{kind}")
            action.triggered.connect(lambda _on=False, one=kind: self.export_requested.emit(one))
            self.exports[kind] = action
        self.setMenu(menu)

    def set_filled(self, filled: bool) -> None:
        """Offer exports only of a workflow that has steps."""
        for action in self.exports.values():
            action.setEnabled(filled)
