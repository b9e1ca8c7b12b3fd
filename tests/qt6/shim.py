# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts `qgis.PyQt` over PyQt 6, and icons of `qgis.core`, for a process without QGIS."""

from __future__ import annotations

import importlib
import sys
import types

from PyQt6 import QtGui, QtWidgets

MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtTest")


class Application:
    """The little of QgsApplication that icons need."""

    @staticmethod
    def getThemeIcon(name: str) -> QtGui.QIcon:
        return QtGui.QIcon()


def install() -> None:
    """Register the modules."""
    QtWidgets.QAction = QtGui.QAction  # as QGIS's own shim does
    qgis, pyqt = types.ModuleType("qgis"), types.ModuleType("qgis.PyQt")
    qgis.__path__, pyqt.__path__ = [], []
    core = types.ModuleType("qgis.core")
    core.QgsApplication = Application
    qgis.PyQt, qgis.core = pyqt, core
    sys.modules.update({"qgis": qgis, "qgis.PyQt": pyqt, "qgis.core": core})
    for name in MODULES:
        module = importlib.import_module(f"PyQt6.{name}")
        setattr(pyqt, name, module)
        sys.modules[f"qgis.PyQt.{name}"] = module
