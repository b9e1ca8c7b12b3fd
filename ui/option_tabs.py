# SPDX-License-Identifier: GPL-2.0-or-later
"""Tabs whose pages scroll, so that many settings fit a small screen."""

from __future__ import annotations

from qgis.PyQt.QtWidgets import QFrame, QScrollArea, QTabWidget, QVBoxLayout, QWidget


class OptionTabs(QTabWidget):
    """Pages that are filled from top to bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmOptionsTabs")
        self.setDocumentMode(True)

    def open(self, name: str, title: str) -> QVBoxLayout:
        """Add a page, and return the layout for its groups; a stretch stands below them."""
        page = QWidget()
        groups = QVBoxLayout()
        below = QVBoxLayout(page)
        below.addLayout(groups)
        below.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName(f"GeoOlmOptionsTab{name}")
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(page)
        self.addTab(scroll, title)
        return groups

    def bring(self, widget: QWidget) -> None:
        """Show the page that holds a widget, scrolled to it."""
        for place in range(self.count()):
            page = self.widget(place)
            if page.isAncestorOf(widget):
                self.setCurrentIndex(place)
                page.ensureWidgetVisible(widget)
