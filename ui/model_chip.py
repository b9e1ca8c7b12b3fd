# SPDX-License-Identifier: GPL-2.0-or-later
"""The model's name and state as a button with a menu, and the gauge of the context used."""

from __future__ import annotations

from qgis.PyQt.QtCore import QRectF, QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from qgis.PyQt.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from ..plugin.agent.event import TokensUsed
from .icon import theme_icon
from .model_view import Action, ModelCondition, ModelView
from .number import SPACE, number, plain_button, plain_tip, tr
from .outlet import Outlet
from .palette import Tone, em, face, line, mix, muted, tone_colour
from .spent import Spent
from .state_shape import Shape, StateMark

SHAPES = {
    ModelCondition.NONE: Shape.FAILED,
    ModelCondition.UNREACHABLE: Shape.FAILED,
    ModelCondition.LOADING: Shape.RUNNING,
    ModelCondition.READY: Shape.DONE,
    ModelCondition.READING: Shape.RUNNING,
    ModelCondition.WRITING: Shape.RUNNING,
    ModelCondition.WORKING: Shape.RUNNING,
    ModelCondition.WAITING: Shape.WAITING,
}
HIGH, FULL = 75, 92


class ModelChip(QAbstractButton):
    """State shape, name, state word; the name is cut in the middle, the word never."""

    model_chosen = pyqtSignal(str)

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmModelChip")
        self._outlet, self._view = outlet, ModelView()
        self._condition, self._seconds = ModelCondition.NONE, 0.0
        self.mark = StateMark(outlet.clock, Shape.FAILED)
        self.mark.setParent(self)
        self.mark.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.open_menu)
        self.set_view(ModelView())

    @property
    def word(self) -> str:
        """Return the state word as shown."""
        if self._condition is ModelCondition.LOADING and self._seconds >= 1:
            return tr("Loading, {0} s").format(int(self._seconds)).replace(" s", f"{SPACE}s")
        return tr(self._condition.value)

    @property
    def condition(self) -> ModelCondition:
        """Return the state shown, which during a run is the run's."""
        return self._condition

    def set_view(self, view: ModelView) -> None:
        """Show a model."""
        self._view = view
        self.setToolTip(plain_tip(view.detail))
        self.set_condition(view.condition, view.seconds)

    def set_condition(self, condition: ModelCondition, seconds: float = 0.0) -> None:
        """Show another state of the same model."""
        self._condition, self._seconds = condition, seconds
        self.mark.set_shape(SHAPES[condition])
        self.setAccessibleName(
            tr("Model: {0}, {1}").format(self._view.name, self.word)
            if self._view.name
            else self.word
        )
        self.updateGeometry()
        self.update()

    def menu(self) -> QMenu:
        """Return the menu: models found, what can be done with them, options."""
        menu = QMenu(self)
        menu.setObjectName("GeoOlmModelMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in self._view.models:
            action = menu.addAction(plain_button(name))
            action.setCheckable(True)
            action.setChecked(name == self._view.name)
            action.triggered.connect(lambda _=False, name=name: self.model_chosen.emit(name))
        if self._view.models:
            menu.addSeparator()
        emit = self._outlet.action_chosen.emit
        own = (
            (self._view.can_pull, "downloading_svg", tr("Pull a model…"), Action.PULL),
            (self._view.can_unload, "mActionStop", tr("Unload"), Action.UNLOAD),
        )
        for icon, text, key in (
            *(entry[1:] for entry in own if entry[0]),
            ("mActionWhatsThis", tr("Model doctor…"), Action.DOCTOR),
            ("mActionRefresh", tr("Look again"), Action.LOOK_AGAIN),
            ("mIconConnect", tr("What was sent…"), Action.SENT),
            ("mActionOptions", tr("Options…"), Action.OPTIONS),
        ):
            action = menu.addAction(theme_icon(icon), text)
            action.triggered.connect(lambda _=False, key=key: emit(key.value))
        return menu

    def open_menu(self) -> None:
        """Open the menu under the chip."""
        self.menu().popup(self.mapToGlobal(self.rect().bottomLeft()))

    def sizeHint(self) -> QSize:
        """Return the width that name and word need."""
        name = QFontMetrics(self._bold()).horizontalAdvance(self._view.name)
        word = QFontMetrics(self.font()).horizontalAdvance(self.word)
        gap = em(self) * 0.5 if name else 0
        return QSize(round(name + gap + word + em(self) * 4.1), round(em(self) * 2.15))

    def minimumSizeHint(self) -> QSize:
        """Return room for the word and a few letters of the name."""
        word = QFontMetrics(self.font()).horizontalAdvance(self.word)
        least = word + em(self) * (6.0 if self._view.name else 4.1)
        return QSize(min(round(least), self.sizeHint().width()), self.sizeHint().height())

    def resizeEvent(self, event: object) -> None:
        """Put the state shape at the start."""
        super().resizeEvent(event)
        side, unit = self.mark.sizeHint().width(), em(self)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = self.width() - round(unit * 0.65) - side if mirrored else round(unit * 0.65)
        self.mark.setGeometry(left, (self.height() - side) // 2, side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chip."""
        painter, palette, unit = QPainter(self), self.palette(), em(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        roles = QPalette.ColorRole
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        focus = self.hasFocus()
        edge = palette.color(roles.Highlight) if focus else line(palette)
        painter.setPen(QPen(edge, unit * 0.12 if focus else 1))
        held = self.isDown() or self.underMouse()
        painter.setBrush(face(palette, held))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        word_width = QFontMetrics(self.font()).horizontalAdvance(self.word)
        bold = QFontMetrics(self._bold())
        room = self.width() - unit * 4.0 - word_width - (unit * 0.5 if self._view.name else 0)
        name = bold.elidedText(self._view.name, Qt.TextElideMode.ElideMiddle, int(room) + 1)
        row = QRectF(unit * 2.15, 0, self.width() - unit * 3.9, self.height())
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        if mirrored:
            row.moveLeft(unit * 1.75)
        middle = Qt.AlignmentFlag.AlignVCenter
        start = Qt.AlignmentFlag.AlignLeading
        painter.setFont(self._bold())
        painter.setPen(palette.color(roles.Text))
        painter.drawText(row, middle | start, name)
        painter.setFont(self.font())
        painter.setPen(muted(palette) if name else palette.color(roles.Text))
        shift = bold.horizontalAdvance(name) + unit * 0.5 if name else 0
        row.translate(-shift if mirrored else shift, 0)
        painter.drawText(row, middle | start, self.word)
        self._paint_arrow(painter, unit * 1.0 if mirrored else self.width() - unit * 1.0)

    def _paint_arrow(self, painter: QPainter, x: float) -> None:
        unit, y = em(self), self.height() / 2
        painter.setPen(QPen(muted(self.palette()), max(1.2, unit * 0.12)))
        painter.drawLine(
            round(x - unit * 0.28), round(y - unit * 0.12), round(x), round(y + unit * 0.16)
        )
        painter.drawLine(
            round(x), round(y + unit * 0.16), round(x + unit * 0.28), round(y - unit * 0.12)
        )

    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font


class ContextGauge(QWidget):
    """Ring and percent of the context in force; hidden until a model has told its tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmGauge")
        self.setAccessibleName(tr("Context used"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.percent, self.worded = 0, True
        self._turn, self._chat = Spent(), Spent()
        self.setVisible(False)

    def set_worded(self, worded: bool) -> None:
        """Show the percent beside the ring, or in a narrow dock the ring alone."""
        self.worded = worded
        self.updateGeometry()
        self.update()

    def show_tokens(self, event: TokensUsed) -> None:
        """Show how full the context was at the last call."""
        used = event.usage.prompt + event.usage.generated
        if event.context <= 0:
            return
        self.percent = min(100, round(100 * used / event.context))
        self._turn, self._chat = self._turn.plus(event), self._chat.plus(event)
        lines = (
            tr("{0} of {1} tokens of the context used").format(number(used), number(event.context)),
            *self._turn.lines(tr("This turn")),
            *self._chat.lines(tr("This chat")),
        )
        self.setToolTip(plain_tip("\n".join(lines)))
        self.setAccessibleName(lines[0])
        self.setVisible(True)
        self.updateGeometry()
        self.update()

    def reset(self) -> None:
        """Forget the chat's tokens."""
        self.percent = 0
        self._turn, self._chat = Spent(), Spent()
        self.setVisible(False)

    def begin_turn(self) -> None:
        """Count the tokens of the next turn from nothing."""
        self._turn = Spent()

    @property
    def tone(self) -> Tone:
        """Return the ring's colour: a warning from 75 %, an error from 92 %."""
        if self.percent >= FULL:
            return Tone.FAILED
        return Tone.WARNING if self.percent >= HIGH else Tone.RUNNING

    def sizeHint(self) -> QSize:
        """Return room for ring and percent."""
        text = QFontMetrics(self.font()).horizontalAdvance(f"{self.percent}{SPACE}%")
        room = text + round(em(self) * 0.4) if self.worded else 0
        return QSize(round(em(self) * 1.9) + room, round(em(self) * 2.15))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring and the percent."""
        painter, palette, unit = QPainter(self), self.palette(), em(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side, width = unit * 1.35, unit * 0.26
        ring = QRectF(width, (self.height() - side) / 2, side, side)
        text = QRectF(side + unit * 0.75, 0, self.width() - side - unit * 0.75, self.height())
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            ring.moveRight(self.width() - width)
            text.moveLeft(0)
        painter.setPen(QPen(mix(line(palette), muted(palette), 0.15), width))
        painter.drawEllipse(ring)
        pen = QPen(tone_colour(palette, self.tone), width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawArc(ring, 90 * 16, -round(self.percent * 3.6 * 16))
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        if self.worded:
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, f"{self.percent}{SPACE}%")
        if self.hasFocus():
            highlight = palette.color(QPalette.ColorRole.Highlight)
            painter.setPen(QPen(highlight, max(1.0, unit * 0.12)))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
