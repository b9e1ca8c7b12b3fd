# SPDX-License-Identifier: GPL-2.0-or-later
"""What the dock shows before the first question: questions to click, or the way to a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QRectF, QSize, Qt
from qgis.PyQt.QtGui import QIcon, QPainter, QPaintEvent, QPalette, QPen
from qgis.PyQt.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
)

from .card import Card
from .example_question import ExampleQuestion, example_questions
from .icon import mark, own_icon, theme_icon, tool_icon
from .model_view import Action, ModelCondition, ModelView
from .number import number, plain_button
from .outlet import Outlet
from .palette import face, line, muted
from .panel import ElidedLabel, Label, LinkButton, Panel

if TYPE_CHECKING:
    from ..tools.base import LayerProfile


class QuestionCard(QAbstractButton):
    """An example question; a click asks it."""

    def __init__(self, question: ExampleQuestion) -> None:
        super().__init__()
        self.setObjectName("GeoOlmExample")
        self.setText(question.text)
        self.setAccessibleName(question.text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.question = question.text
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._inner = _QuestionFace(question)
        self._inner.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row.addWidget(self._inner)

    def sizeHint(self) -> QSize:
        """Return the size of the text in it."""
        return self._inner.sizeHint()

    def hasHeightForWidth(self) -> bool:
        """Tell that the text wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the text at a width."""
        return self._inner.heightForWidth(width)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame; a ring when it has the focus."""
        painter, palette, unit = QPainter(self), self.palette(), self._inner.em
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        roles, focus = QPalette.ColorRole, self.hasFocus()
        edge = palette.color(roles.Highlight) if focus else line(palette)
        painter.setPen(QPen(edge, max(1.0, unit * 0.12) if focus else 1))
        held = self.isDown() or self.underMouse()
        painter.setBrush(face(palette, held))
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(box, unit * 0.4, unit * 0.4)


class _QuestionFace(Panel):
    def __init__(self, question: ExampleQuestion) -> None:
        super().__init__()
        self._icon = tool_icon(question.tool)
        self._picture = QLabel()
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._picture)
        self._column = QVBoxLayout()
        self._column.addWidget(Label(question.text, wrap=True))
        self._column.addWidget(ElidedLabel(question.detail, faint=True, scale=0.92))
        self._row.addLayout(self._column, 1)

    def restyle(self) -> None:
        """Set margins and the icon's size."""
        unit = self.em
        side = round(unit * 1.75)
        self._picture.setPixmap(self._icon.pixmap(side, side))
        self._row.setContentsMargins(
            round(unit * 0.8), round(unit * 0.6), round(unit * 0.8), round(unit * 0.6)
        )
        self._row.setSpacing(round(unit * 0.8))
        self._column.setSpacing(round(unit * 0.15))


class ChoiceCard(Card):
    """One way to a model: icon, what it is, and the button that goes it."""

    def __init__(self, icon: str, title: str, text: str, action: Action, words: str) -> None:
        super().__init__()
        self.setObjectName(f"GeoOlmChoice_{action.value}")
        self.setAccessibleName(f"{title}. {text}")
        self._icon = icon
        self._picture = QLabel()
        self.button = QPushButton(plain_button(words))
        self.button.setObjectName(f"GeoOlmAction_{action.value}")
        self.button.setAccessibleName(f"{words} {title}")
        self.button.setAutoDefault(False)
        self._lines = QVBoxLayout(self)
        self._row, self._foot = QHBoxLayout(), QHBoxLayout()
        self._row.addWidget(self._picture)
        self._column = QVBoxLayout()
        self._column.addWidget(Label(title, bold=True, wrap=True))
        self._column.addWidget(Label(text, faint=True, scale=0.92, wrap=True))
        self.bar = QProgressBar()
        self.bar.setObjectName("GeoOlmDownloadBar")
        self.bar.setVisible(False)
        self.line = Label(faint=True, scale=0.92, wrap=True)
        self.line.setObjectName("GeoOlmDownloadLine")
        self.line.setVisible(False)
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setObjectName(f"GeoOlmAction_{Action.CANCEL_DOWNLOAD.value}")
        self.cancel.setAccessibleName(f"{self.tr('Cancel')} {title}")
        self.cancel.setAutoDefault(False)
        self.cancel.setVisible(False)
        self._row.addLayout(self._column, 1)
        self._row.addWidget(self.button)
        self._foot.addWidget(self.line, 1)
        self._foot.addWidget(self.cancel)
        self._lines.addLayout(self._row)
        self._lines.addWidget(self.bar)
        self._lines.addLayout(self._foot)

    def restyle(self) -> None:
        """Set margins, and the icon in the palette's colour."""
        unit = self.em
        side = round(unit * 1.75)
        self._picture.setPixmap(own_icon(self._icon, muted(self.palette())).pixmap(side, side))
        self._lines.setContentsMargins(
            round(unit * 0.8), round(unit * 0.6), round(unit * 0.8), round(unit * 0.6)
        )
        for row in (self._row, self._foot):
            row.setSpacing(round(unit * 0.8))
        self._lines.setSpacing(round(unit * 0.4))
        self._column.setSpacing(round(unit * 0.15))

    def show_progress(self, percent: float, text: str = "") -> None:
        """Show the share of a download, -1 is none, and its line, or why the last one failed."""
        runs = percent >= 0
        self.bar.setVisible(runs)
        self.bar.setValue(max(0, min(100, int(percent))))
        self.line.setText(text)
        self.line.setVisible(bool(text))
        self.button.setEnabled(not runs)
        self.cancel.setVisible(runs)


class EmptyPage(QScrollArea):
    """The page before the first turn; it is made anew when layers or model change."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmEmpty")
        self.setAccessibleName(self.tr("How to begin"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._outlet = outlet
        self._layers: tuple[LayerProfile, ...] = ()
        self._model = ModelView()
        self._shown: tuple[object, ...] = ()
        self._rebuild()

    def set_layers(self, layers: tuple[LayerProfile, ...]) -> None:
        """Make the questions from these layers."""
        self._layers = layers
        self._rebuild()

    def set_model(self, model: ModelView) -> None:
        """Show the ways to a model while there is none."""
        self._model = model
        self._rebuild()
        for card in self.findChildren(ChoiceCard, f"GeoOlmChoice_{Action.DOWNLOAD.value}"):
            card.show_progress(model.progress, model.progress_text)

    def _rebuild(self) -> None:
        missing = self._model.condition is ModelCondition.NONE
        shown = (missing, self._model.download, self._model.error, self._model.local, self._layers)
        if shown == self._shown:
            return
        self._shown = shown
        page = _Page(self._outlet)
        if missing:
            page.show_ways(self._model)
        elif not self._layers:
            page.show_no_layers()
        else:
            page.show_questions(self._layers, self._model)
        self.setWidget(page)


class _Page(Panel):
    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._outlet = outlet
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._icon: QIcon = mark()
        self._lines = QVBoxLayout(self)
        self._lines.addStretch(1)
        self._lines.addWidget(self._picture)

    def restyle(self) -> None:
        """Set margins and the size of the mark."""
        unit = self.em
        side = unit * 4
        self._picture.setPixmap(self._icon.pixmap(side, side))
        pad = round(unit * 0.75)
        self._lines.setContentsMargins(pad, pad, pad, pad)
        self._lines.setSpacing(round(unit * 0.6))

    def show_questions(self, layers: tuple[LayerProfile, ...], model: ModelView) -> None:
        """Offer questions made from the layers."""
        count = len(layers)
        where = self.tr("1 layer") if count == 1 else self.tr("{0} layers").format(number(count))
        text = self.tr("Answers come from tools that run here, on this project's {0}.")
        stays = self.tr("Nothing leaves this machine.")
        goes = self.tr("Questions and layer details go to {0}.").format(model.server)
        self._head(
            self.tr("Ask your layers"),
            text.format(where) + " " + (stays if model.local else goes),
        )
        for question in example_questions(layers, self.tr):
            card = QuestionCard(question)
            card.clicked.connect(self._asker(question.text))
            self._lines.addWidget(card)
        self._lines.addStretch(2)

    def show_no_layers(self) -> None:
        """Offer to add a layer or to open the demo."""
        self._head(self.tr("No layers yet"), self.tr("Add a layer, or open the demo project."))
        row = QHBoxLayout()
        row.addStretch(1)
        for action, words, icon in (
            (Action.ADD_LAYER, self.tr("Add a layer…"), "mActionDataSourceManager"),
            (Action.DEMO, self.tr("Open the demo"), "mActionFileOpen"),
        ):
            button = QPushButton(theme_icon(icon), words)
            button.setObjectName(f"GeoOlmAction_{action.value}")
            button.setAccessibleName(words)
            button.setAutoDefault(False)
            button.clicked.connect(self._choose(action))
            row.addWidget(button)
        row.addStretch(1)
        self._lines.addLayout(row)
        self._lines.addStretch(2)

    def show_ways(self, model: ModelView) -> None:
        """Offer the three ways to a model."""
        text = self.tr("Geo-OLM needs a language model that runs on this machine.")
        self._head(
            self.tr("No model yet"),
            text + " " + self.tr("Choose one way; you can change it later."),
        )
        ways = [
            (
                "file",
                self.tr("Use a model file"),
                self.tr("Any GGUF file that you have."),
                Action.MODEL_FILE,
                self.tr("Choose…"),
            ),
            (
                "server",
                self.tr("Use a server"),
                self.tr("Ollama, LM Studio, vLLM or llama.cpp."),
                Action.OPTIONS,
                self.tr("Connect…"),
            ),
        ]
        if model.download:
            runs = self.tr("Runs without a graphics card.")
            ways.insert(
                0,
                (
                    "download",
                    self.tr("Download a small model"),
                    f"{model.download}. {runs}",
                    Action.DOWNLOAD,
                    self.tr("Download"),
                ),
            )
        for icon, title, words, action, verb in ways:
            card = ChoiceCard(icon, title, words, action, verb)
            card.button.clicked.connect(self._choose(action))
            card.cancel.clicked.connect(self._choose(Action.CANCEL_DOWNLOAD))
            self._lines.addWidget(card)
        row = QHBoxLayout()
        again = LinkButton(f"GeoOlmAction_{Action.LOOK_AGAIN.value}", self.tr("Look again"))
        again.setIcon(theme_icon("mActionRefresh"))
        again.clicked.connect(self._choose(Action.LOOK_AGAIN))
        row.addStretch(1)
        row.addWidget(again)
        row.addStretch(1)
        self._lines.addLayout(row)
        self._lines.addStretch(2)

    def _asker(self, text: str) -> Callable[[], None]:
        return lambda: self._outlet.question_chosen.emit(text)

    def _choose(self, action: Action) -> Callable[[], None]:
        return lambda: self._outlet.action_chosen.emit(action.value)

    def _head(self, title: str, text: str) -> None:
        head = Label(title, scale=1.3, bold=True, wrap=True)
        head.setObjectName("GeoOlmEmptyTitle")
        body = Label(text, faint=True, wrap=True)
        body.setObjectName("GeoOlmEmptyText")
        for label in (head, body):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            self._lines.addWidget(label)
