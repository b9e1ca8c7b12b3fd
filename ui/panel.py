# SPDX-License-Identifier: GPL-2.0-or-later
"""A widget that takes its measures and colours anew when the font or the palette changes."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QSize, Qt
from qgis.PyQt.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from qgis.PyQt.QtWidgets import QLabel, QSizePolicy, QToolButton, QWidget

from .number import plain_tip, soften
from .palette import em, muted

RESTYLING = (
    QEvent.Type.FontChange,
    QEvent.Type.PaletteChange,
    QEvent.Type.StyleChange,
)


class Panel(QWidget):
    """The base of all containers here: its font is the dock's, its labels follow it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._restyling = self._polished = False

    @property
    def em(self) -> int:
        """Return 1 em in pixels."""
        return em(self)

    def restyle(self) -> None:
        """Set margins, sizes and colours; called once when polished and on every change."""

    def event(self, event: QEvent) -> bool:
        """Restyle this widget and the labels in it when their looks change."""
        done = bool(super().event(event))
        if event.type() == QEvent.Type.Polish:
            self._polished = True
            self.restyle_all()
        elif self._polished and event.type() in RESTYLING:
            self.restyle_all()
        return done

    def restyle_all(self) -> None:
        """Restyle now, labels and buttons of this panel first."""
        if self._restyling:
            return
        self._restyling = True
        for kind in (Label, LinkButton):
            for child in self.findChildren(kind, options=Qt.FindChildOption.FindDirectChildrenOnly):
                child.restyle(self.font())
        self.restyle()
        self._restyling = False


class Label(QLabel):
    """Plain text in a size and weight relative to the panel; never interprets its text as HTML."""

    def __init__(
        self,
        text: str = "",
        *,
        scale: float = 1.0,
        bold: bool = False,
        faint: bool = False,
        wrap: bool = False,
        rich: bool = False,
        mono: bool = False,
    ) -> None:
        super().__init__()
        self._scale, self._bold, self._faint, self._mono = scale, bold, faint, mono
        kind = Qt.TextFormat.RichText if rich else Qt.TextFormat.PlainText
        self.setTextFormat(kind)
        self.setText(soften(text) if wrap else text)
        self.setWordWrap(wrap)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)

    def restyle(self, font: QFont) -> None:
        """Take size, weight and colour from the panel's font and the palette."""
        own = QFont(font)
        if font.pointSizeF() > 0:
            own.setPointSizeF(font.pointSizeF() * self._scale)
        else:
            own.setPixelSize(max(1, round(font.pixelSize() * self._scale)))
        if self._bold:
            own.setWeight(QFont.Weight.DemiBold)
        if self._mono:
            own.setFamily("monospace")
            own.setStyleHint(QFont.StyleHint.Monospace)
        self.setFont(own)
        self._recolour()

    def minimumSizeHint(self) -> QSize:
        """Return a narrow width for a text that wraps, so that it never widens its panel."""
        hint = super().minimumSizeHint()
        least = QFontMetrics(self.font()).horizontalAdvance("Mmmm")
        return QSize(min(hint.width(), least), hint.height()) if self.wordWrap() else hint

    def _recolour(self) -> None:
        parent = self.parentWidget()
        palette = QPalette(parent.palette() if parent is not None else self.palette())
        if self._faint:
            colour = muted(palette)
            palette.setColor(QPalette.ColorRole.WindowText, colour)
            palette.setColor(QPalette.ColorRole.Text, colour)
        self.setPalette(palette)


class ElidedLabel(Label):
    """One line that is cut where the space ends; the whole text stands in the tooltip."""

    def __init__(
        self,
        text: str = "",
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        scale: float = 1.0,
        bold: bool = False,
        faint: bool = False,
    ) -> None:
        super().__init__(text, scale=scale, bold=bold, faint=faint)
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        """Return room for a few letters."""
        metrics = QFontMetrics(self.font())
        least = min(metrics.horizontalAdvance("Mmm…"), super().sizeHint().width())
        return QSize(least, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as much of the text as fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        metrics = QFontMetrics(self.font())
        flat = " ".join(self.text().split("\n"))
        shown = metrics.elidedText(flat, self._mode, self.contentsRect().width())
        tip = plain_tip(self.text()) if shown != flat else ""
        if tip != self.toolTip():
            self.setToolTip(tip)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(self.contentsRect(), flags, shown)


class LinkButton(QToolButton):
    """A flat button with icon and text, as used in rows under cards and answers."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setText(text)
        self.setAccessibleName(text.replace("&", ""))
        self.setAutoRaise(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def restyle(self, font: QFont) -> None:
        """Take the icon's size from the panel's font."""
        side = round(em(self) * 1.25)
        self.setIconSize(QSize(side, side))
