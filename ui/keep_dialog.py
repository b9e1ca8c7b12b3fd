# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks where results are to be kept."""

from __future__ import annotations

import re
from pathlib import Path

from qgis.PyQt.QtCore import QCoreApplication, QStandardPaths
from qgis.PyQt.QtWidgets import QFileDialog, QWidget

WORKFLOW = ".geoflow.json"
_WORDS = 6
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


def ask_workflow(parent: QWidget, folder: str, title: str) -> tuple[Path, bool] | None:
    """Return the workflow file that the user chose and whether it may be written over, None when
    the dialog was cancelled: it asks only for the very name that was typed.

    It starts in `folder`, in the user's documents where that is "", with a name made of `title`.
    """
    places = QStandardPaths.StandardLocation.DocumentsLocation
    words = re.findall(r"[^\W_]+", title)[:_WORDS]
    start = Path(folder or QStandardPaths.writableLocation(places)) / f"{'_'.join(words)}{WORKFLOW}"
    found, _ = QFileDialog.getSaveFileName(
        parent, tr("Save as workflow"), str(start), tr("Workflows (*.geoflow.json)")
    )
    if not found:
        return None
    path = Path(found)
    if path.name.lower().endswith(WORKFLOW):
        return path, True
    return path.with_name(f"{path.name}{WORKFLOW}"), False
