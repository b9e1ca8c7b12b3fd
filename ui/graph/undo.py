# SPDX-License-Identifier: GPL-2.0-or-later
"""Qt's undo classes, which stand in QtWidgets in Qt 5 and in QtGui in Qt 6."""

from __future__ import annotations

from qgis.PyQt import QtGui, QtWidgets

QUndoCommand = getattr(QtGui, "QUndoCommand", None) or QtWidgets.QUndoCommand
QUndoStack = getattr(QtGui, "QUndoStack", None) or QtWidgets.QUndoStack
