# SPDX-License-Identifier: GPL-2.0-or-later
"""The field in which a question is typed: Enter sends, "@" names layers and fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QEvent, QMimeData, QModelIndex, QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QFontMetrics, QKeyEvent, QPalette, QTextCursor
from qgis.PyQt.QtWidgets import QCompleter, QPlainTextEdit
from qgis.PyQt.QtXml import QDomDocument

from .mention import Mention, MentionDelegate, MentionModel, matching, mentions
from .palette import em, muted

if TYPE_CHECKING:
    from ..tools.base import LayerProfile

LEAST, MOST = 3, 8
LAYER_TREE = "application/qgis.layertreemodeldata"
TYPED = re.compile(r"@([^@\n]{0,80})$")
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
TO_POPUP = (*ENTER, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Escape)


class QuestionField(QPlainTextEdit):
    """Three lines that grow to eight; Up in an empty field brings back the last question."""

    sent = pyqtSignal()
    left = pyqtSignal()
    files_dropped = pyqtSignal(list)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmQuestion")
        self.setAccessibleName(self.tr("Your question"))
        self.setPlaceholderText(self.tr("Ask about your layers. Type @ to name one."))
        self.setTabChangesFocus(True)
        self.setAcceptDrops(True)
        self._known: tuple[Mention, ...] = ()
        self._names: dict[str, str] = {}
        self._asked: list[str] = []
        self._recalled = 0
        self._rows = MentionModel(self)
        self.completer = QCompleter(self._rows, self)
        self.completer.setWidget(self)
        self.completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.completer.activated[QModelIndex].connect(self._insert)
        self._popup = self.completer.popup()
        self._popup.setObjectName("GeoOlmMentions")
        self._popup.setAccessibleName(self.tr("Layers and fields"))
        self._popup.setItemDelegate(MentionDelegate(self))
        self.textChanged.connect(self._changed)
        self._restyle()

    def set_layers(self, layers: tuple[LayerProfile, ...]) -> None:
        """Offer these layers and their fields after "@"."""
        self._known = mentions(layers)
        self._names = {layer.id: layer.key for layer in layers}

    def remember(self, text: str) -> None:
        """Keep an asked question for Up; the same one twice in a row counts once."""
        if self._asked[-1:] != [text]:
            self._asked.append(text)
        self._recalled = len(self._asked)

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions asked in this session, the oldest first."""
        return tuple(self._asked)

    def name_layers(self, layers: Iterable[tuple[str, str]]) -> None:
        """Name layers, pairs of id and name, where the cursor stands, and take the focus."""
        before = self.toPlainText()[: self.textCursor().position()]
        gap = " " if before and not before[-1].isspace() else ""
        named = "".join(f"@{self._names.get(key, name)} " for key, name in layers)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        if named:
            self.insertPlainText(gap + named)

    def start_mention(self) -> None:
        """Type "@" for the user and open the list."""
        before = self.toPlainText()[: self.textCursor().position()]
        gap = " " if before and not before[-1].isspace() else ""
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.insertPlainText(f"{gap}@")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send, recall, or leave; the open list takes its keys first."""
        if self._popup.isVisible() and event.key() in TO_POPUP:
            event.ignore()
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in ENTER and not shift:
            self.sent.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self._may_recall():
            self._recall(-1 if event.key() == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take layers and files beside text."""
        return (
            source.hasFormat(LAYER_TREE)
            or bool(_files(source))
            or bool(super().canInsertFromMimeData(source))
        )

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert dropped layers as mentions, tell of files, and take anything else as text."""
        if not source.hasFormat(LAYER_TREE):
            files = _files(source)
            if files:
                self.files_dropped.emit(files)
                return
            self.insertPlainText(source.text())
            return
        document = QDomDocument()
        document.setContent(source.data(LAYER_TREE))
        nodes = document.elementsByTagName("layer-tree-layer")
        elements = [nodes.at(at).toElement() for at in range(nodes.count())]
        self.name_layers((one.attribute("id"), one.attribute("name")) for one in elements)

    def sizeHint(self) -> QSize:
        """Return the height of the lines typed, from three to eight."""
        lines = min(MOST, max(LEAST, int(self.document().size().height())))
        room = QFontMetrics(self.font()).lineSpacing() * lines + 2 * self.frameWidth()
        return QSize(em(self) * 20, room + round(2 * self.document().documentMargin()))

    def minimumSizeHint(self) -> QSize:
        """Return the size hint's height: the field never gets smaller than its lines."""
        return QSize(em(self) * 10, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Take new measures and colours."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self._restyle()

    def _restyle(self) -> None:
        palette = self.palette()
        colour = muted(palette)
        if palette.color(QPalette.ColorRole.PlaceholderText) != colour:
            palette.setColor(QPalette.ColorRole.PlaceholderText, colour)
            self.setPalette(palette)
        self.document().setDocumentMargin(round(em(self) * 0.4))
        self.updateGeometry()

    def _may_recall(self) -> bool:
        text = self.toPlainText()
        recalled = self._recalled < len(self._asked) and text == self._asked[self._recalled]
        return bool(self._asked) and (not text or recalled)

    def _recall(self, step: int) -> None:
        self._recalled = max(0, min(len(self._asked), self._recalled + step))
        inside = self._recalled < len(self._asked)
        self.setPlainText(self._asked[self._recalled] if inside else "")
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _changed(self) -> None:
        self.updateGeometry()
        before = self.toPlainText()[: self.textCursor().position()]
        typed = TYPED.search(before)
        rows = matching(self._known, typed.group(1)) if typed and self.hasFocus() else ()
        if not rows or rows[0].text == typed.group(1):
            self._popup.hide()
            return
        self._rows.show_rows(rows)
        box = self.rect()
        box.setHeight(0)
        self.completer.complete(box)
        self._popup.setFont(self.font())
        self._popup.setCurrentIndex(self._rows.index(0, 0))

    def _insert(self, index: QModelIndex) -> None:
        """Replace the typed part of the mention by the chosen name."""
        cursor = self.textCursor()
        typed = TYPED.search(self.toPlainText()[: cursor.position()])
        if typed is None:
            return
        move, keep = QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor
        cursor.movePosition(move, keep, len(typed.group(1)))
        cursor.insertText(f"{index.data()} ")
        self.setTextCursor(cursor)
        self._popup.hide()


def _files(source: QMimeData) -> list[str]:
    """Return the paths of files on this machine that are dropped or pasted."""
    return [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
