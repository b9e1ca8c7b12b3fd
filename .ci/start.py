# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside QGIS at its start: opens the demo and shows the chat.

With GEO_OLM_PICTURE set it also asks the demo question, prints the answer, keeps a picture of the
window under that path, and ends QGIS with the exit code that the answer's status stands for.
"""

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import qgis.utils
from qgis.core import QgsProject
from qgis.PyQt.QtCore import QCoreApplication, QEventLoop, QTimer
from qgis.PyQt.QtWidgets import QApplication, QDockWidget

LIMIT_S = 1500.0
SETTLE_MS = 2500
RETRY_MS = 500
CODES = {"ok": 0, "rejected": 0, "cancelled": 130}


def start() -> None:
    """Open the demo; where a picture is wanted, ask its question and end."""
    picture = os.environ.get("GEO_OLM_PICTURE")
    plugin = qgis.utils.plugins.get("geo_olm")
    if plugin is None:
        print("QGIS did not load the plugin geo_olm; its Python error stands above.")
        if picture:
            finish(1)
        return
    plugin.open_demo()
    window = qgis.utils.iface.mainWindow()
    dock = window.findChild(QDockWidget, "GeoOlmChatDock")
    if dock is not None:
        dock.show()
        dock.raise_()
    window.showMaximized()
    if picture:
        finish(ask(plugin, Path(picture)))


def ask(plugin: Any, picture: Path) -> int:
    """Ask the demo question, print the answer and the picture's path, and return the exit code."""
    settle()
    record = plugin.ask_and_wait(plugin.demo_question, LIMIT_S)
    settle()
    picture.parent.mkdir(parents=True, exist_ok=True)
    QApplication.primaryScreen().grabWindow(0).save(str(picture))
    print(plugin.demo_question)
    print(record["answer"] if record["status"] == "ok" else record["reason"])
    print(picture)
    return CODES.get(record["status"], 1)


def settle() -> None:
    """Let the window lay itself out and draw its map."""
    loop = QEventLoop()
    QTimer.singleShot(SETTLE_MS, loop.quit)
    loop.exec()
    qgis.utils.iface.mapCanvas().waitWhileRendering()


def finish(code: int) -> None:
    """End QGIS without asking whether to save; layers go first, while the window still lives."""
    sys.stdout.flush()
    QgsProject.instance().clear()
    QgsProject.instance().setDirty(False)
    QCoreApplication.exit(code)
    QTimer.singleShot(RETRY_MS, lambda: finish(code))  # exit() is lost before the loop runs


def guarded() -> None:
    """Start; an error is printed, and ends QGIS where nobody sits before it."""
    try:
        start()
    except Exception:
        traceback.print_exc()
        if os.environ.get("GEO_OLM_PICTURE"):
            finish(1)


QTimer.singleShot(RETRY_MS, guarded)
