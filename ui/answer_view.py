# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer as streamed Markdown, as high as its text; it loads nothing and asks before links."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QSize, Qt, QTimer, QUrl
from qgis.PyQt.QtGui import (
    QColor,
    QCursor,
    QDesktopServices,
    QFont,
    QGuiApplication,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextLength,
    QTextTable,
)
from qgis.PyQt.QtWidgets import QFrame, QMenu, QSizePolicy, QTextBrowser

from .number import plain_button
from .outlet import Outlet
from .palette import Tone, em, face, line, tone_colour

INTERVAL_MS = 100
CARET = "\u258c"
LAYER = "layer"
PLAIN = "AnswerView { background: transparent; border: none; padding: 0px; }"
# Qt 5 has a type of its own for several flags, Qt 6 has not.
FEATURES = getattr(QTextDocument, "MarkdownFeatures", QTextDocument.MarkdownFeature)(
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class AnswerView(QTextBrowser):
    """Read-only Markdown without a frame; HTML in it is shown as text."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmAnswer")
        self.setAccessibleName(self.tr("Answer"))
        self._outlet, self._markdown, self._streaming = outlet, "", False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(PLAIN)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.anchorClicked.connect(self._follow)
        self.document().documentLayout().documentSizeChanged.connect(self._take_height)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._render)

    @property
    def markdown(self) -> str:
        """Return the text as it came."""
        return self._markdown

    def add(self, text: str) -> None:
        """Add a piece of the streamed answer; the view follows at most ten times a second."""
        self._markdown += text
        self._streaming = True
        if not self._timer.isActive():
            self._timer.start()

    def finish(self, text: str) -> None:
        """Show the whole answer, without the caret."""
        self._markdown, self._streaming = text, False
        self._timer.stop()
        self._render()

    def loadResource(self, kind: int, name: QUrl) -> object:
        """Load nothing: an answer cannot fetch a picture or a style sheet."""
        return None

    def sizeHint(self) -> QSize:
        """Return the height of the document at the present width."""
        return QSize(em(self) * 20, self._height())

    def minimumSizeHint(self) -> QSize:
        """Return the least size: the height is fixed by the text."""
        return QSize(em(self) * 8, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that the text needs at this width."""
        super().resizeEvent(event)
        self._take_height()

    def changeEvent(self, event: QEvent) -> None:
        """Render anew for another font or palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange) and self._markdown:
            self._render()

    def _height(self) -> int:
        return int(self.document().size().height()) + 2

    def _take_height(self) -> None:
        height = self._height()
        if height != self.height():
            self.setFixedHeight(height)

    def _render(self) -> None:
        palette, document = self.palette(), self.document()
        document.setDefaultFont(self.font())
        document.setMarkdown(self._markdown + (CARET if self._streaming else ""), FEATURES)
        self._space_blocks()
        self._colour_links(tone_colour(palette, Tone.RUNNING))
        self._style_tables(line(palette))
        if self._streaming:
            self._colour_caret(tone_colour(palette, Tone.RUNNING))
        self._take_height()

    def _space_blocks(self) -> None:
        """Put half an em between paragraphs; Qt's Markdown puts nothing there."""
        block, gap = self.document().begin().next(), em(self) * 0.5
        while block.isValid():
            cursor = QTextCursor(block)
            if cursor.currentTable() is None and cursor.currentList() is None:
                look = block.blockFormat()
                look.setTopMargin(gap)
                cursor.setBlockFormat(look)
            block = block.next()

    def _colour_links(self, colour: QColor) -> None:
        """Give links the palette's colour, also where the default link colour is too dark."""
        spans = []
        block = self.document().begin()
        while block.isValid():
            part = block.begin()
            while not part.atEnd():
                if part.fragment().charFormat().isAnchor():
                    spans.append((part.fragment().position(), part.fragment().length()))
                part += 1
            block = block.next()
        look = QTextCharFormat()
        look.setForeground(colour)
        for start, length in spans:
            self._merge(start, start + length, look)

    def _style_tables(self, colour: QColor) -> None:
        for frame in self.document().rootFrame().childFrames():
            if not isinstance(frame, QTextTable):
                continue
            look = frame.format()
            look.setBorder(0)
            look.setCellSpacing(0)
            look.setTopMargin(em(self) * 0.4)
            look.setBottomMargin(0)
            look.setCellPadding(em(self) * 0.3)
            look.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
            frame.setFormat(look)
            for row in range(frame.rows()):
                self._style_row(frame, row)

    def _style_row(self, table: QTextTable, row: int) -> None:
        stripe = face(self.palette(), held=True)
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            look = cell.format()
            if row == 0:
                look.setFontWeight(QFont.Weight.DemiBold)
            elif row % 2 == 0:
                look.setBackground(stripe)
            cell.setFormat(look)
            cursor = cell.firstCursorPosition()
            text = cursor.block().text()
            if (row and _is_number(text)) or (not row and self._numeric(table, column)):
                block = cursor.blockFormat()
                block.setAlignment(Qt.AlignmentFlag.AlignRight)
                cursor.setBlockFormat(block)

    @staticmethod
    def _numeric(table: QTextTable, column: int) -> bool:
        rows = range(1, table.rows())
        texts = [table.cellAt(row, column).firstCursorPosition().block().text() for row in rows]
        return bool(texts) and all(_is_number(text) for text in texts)

    def _colour_caret(self, colour: QColor) -> None:
        end = self.document().characterCount() - 1
        look = QTextCharFormat()
        look.setForeground(colour)
        self._merge(max(0, end - 1), end, look)

    def _merge(self, start: int, end: int, look: QTextCharFormat) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)

    def _follow(self, url: QUrl) -> None:
        """Go to a layer, or ask before leaving for the web; other links do nothing."""
        if url.scheme() == LAYER:
            self._outlet.layer_activated.emit(url.path())
            self._outlet.layer_zoom_requested.emit(url.path())
        elif url.scheme() in ("http", "https"):
            menu = QMenu(self)
            menu.setObjectName("GeoOlmLinkMenu")
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            address = url.toString()
            ask = self.tr("Open {0} in the browser").format(url.host())
            menu.addAction(plain_button(ask), lambda: QDesktopServices.openUrl(url))
            copy = QGuiApplication.clipboard().setText
            menu.addAction(self.tr("Copy the address"), lambda: copy(address))
            menu.popup(QCursor.pos())


def _is_number(text: str) -> bool:
    kept = text.strip().strip("%").replace("\u00a0", "").replace(",", "").replace(" ", "")
    return bool(kept) and kept.lstrip("+-−").replace(".", "", 1).isdigit()
