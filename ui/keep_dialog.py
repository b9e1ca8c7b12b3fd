# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks where results are to be kept."""

from __future__ import annotations

from pathlib import Path

from qgis.PyQt.QtCore import QCoreApplication, QStandardPaths
from qgis.PyQt.QtWidgets import QFileDialog, QWidget

NAME = "results.gpkg"


def tr(text: str) -> str:
    """Translate a text of the dialog."""
    return QCoreApplication.translate("KeepDialog", text)


def ask_target(parent: QWidget, folder: str) -> Path | None:
    """Return the GeoPackage that the user chose, None when the dialog was cancelled.

    It starts in `folder`, in the user's documents where that is "". A file that is there is no
    question: what is in it stays.
    """
    places = QStandardPaths.StandardLocation.DocumentsLocation
    start = Path(folder or QStandardPaths.writableLocation(places)) / NAME
    found, _ = QFileDialog.getSaveFileName(
        parent,
        tr("Keep layers: a new GeoPackage, or one to add them to"),
        str(start),
        tr("GeoPackage (*.gpkg)"),
        options=QFileDialog.Option.DontConfirmOverwrite,
    )
    if not found:
        return None
    path = Path(found)
    return path if path.suffix.lower() == ".gpkg" else path.with_name(f"{path.name}.gpkg")
