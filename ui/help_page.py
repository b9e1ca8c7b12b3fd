# SPDX-License-Identifier: GPL-2.0-or-later
"""The help in a window: a Markdown page that the plugin carries, readable without network."""

from __future__ import annotations

from pathlib import Path

from qgis.PyQt.QtCore import QSize, QUrl
from qgis.PyQt.QtGui import QTextDocument
from qgis.PyQt.QtWidgets import QDialog, QTextBrowser, QVBoxLayout, QWidget

from .palette import em


class HelpPage(QDialog):
    """Shows one page with its pictures; links to the web open in the browser."""

    def __init__(self, page: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmHelpPage")
        self.setWindowTitle(self.tr("Geo-OLM help"))
        self.text = QTextBrowser()
        self.text.setObjectName("GeoOlmHelpText")
        self.text.setAccessibleName(self.tr("Help"))
        self.text.setOpenExternalLinks(True)
        source = QUrl.fromLocalFile(str(page))
        self.text.setSource(source, QTextDocument.ResourceType.MarkdownResource)
        column = QVBoxLayout(self)
        column.addWidget(self.text)

    def sizeHint(self) -> QSize:
        """Return the largest size that a dialog has here."""
        return QSize(em(self) * 56, em(self) * 44)
