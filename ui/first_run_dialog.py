# SPDX-License-Identifier: GPL-2.0-or-later
"""The first steps: choose a model, check it, open the demo, ask. Each can be skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QSize, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from .dock_body import Rule
from .empty_page import QuestionCard
from .example_question import example_questions
from .first_run_choice import RadioButton
from .first_run_model import ModelPage
from .icon import mark
from .outlet import Outlet
from .palette import em
from .panel import Label, Panel

if TYPE_CHECKING:
    from ..tools.base import LayerProfile

QUESTIONS = 3


class FirstRunDialog(QDialog):
    """Four pages beside their names. `check_requested` and `demo_requested` are its buttons,
    `question_chosen` carries a question that was clicked, which ends the steps."""

    check_requested = pyqtSignal()
    demo_requested = pyqtSignal()
    question_chosen = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmFirstRun")
        self.setWindowTitle(self.tr("Geo-OLM: first steps"))
        self._outlet = Outlet(self)
        self.model = ModelPage(self._outlet)
        self._questions = _Lines()
        self.pages = QStackedWidget()
        self.pages.setObjectName("GeoOlmFirstPages")
        self.rail = _Rail(
            (
                self.tr("Choose a model"),
                self.tr("Check it"),
                self.tr("Open the demo"),
                self.tr("Ask a question"),
            ),
            self.tr("You can skip this. It stays under Plugins > Geo-OLM > First steps."),
        )
        self._add_pages()
        self.skip = self._button("Skip", self.tr("Skip for now"))
        self.skip.clicked.connect(self.reject)
        self.back = self._button("Back", self.tr("Back"))
        self.back.clicked.connect(lambda: self._go(self.pages.currentIndex() - 1))
        self.next = self._button("Next", self.tr("Next"))
        self.next.setDefault(True)
        self.next.clicked.connect(lambda: self._go(self.pages.currentIndex() + 1))
        self._lay_out()
        self.set_layers(())
        self._go(0)
        self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:
        """Return a size that no screen is too small for."""
        return QSize(em(self) * 56, em(self) * 34)

    def set_layers(self, layers: tuple[LayerProfile, ...]) -> None:
        """Make the questions from the project's layers."""
        self._questions.clear()
        for question in example_questions(layers, self.tr, QUESTIONS):
            card = QuestionCard(question)
            card.clicked.connect(lambda _on=False, text=question.text: self._ask(text))
            self._questions.add(card)
        if not layers:
            text = self.tr("Open the demo or add a layer, and questions stand here.")
            self._questions.add(Label(text, faint=True, wrap=True))

    def _add_pages(self) -> None:
        self._page(
            self.tr("Which model should answer?"),
            self.tr("Choose one way. You can change it later in the options."),
            self.model,
        )
        check = self._button("Check", self.tr("Check the model"))
        check.clicked.connect(lambda: self.check_requested.emit())
        self._page(
            self.tr("Does it follow the tools?"),
            self.tr("The doctor measures the model and sets what fits. Allow some minutes."),
            _Lines(check),
        )
        demo = self._button("Demo", self.tr("Open the demo"))
        demo.clicked.connect(lambda: self.demo_requested.emit())
        self._page(
            self.tr("A map to ask about"),
            self.tr("The demo adds three layers of the world to this project, read only."),
            _Lines(demo),
        )
        self._page(
            self.tr("Ask your layers"),
            self.tr("Click a question. The chat opens and answers it."),
            self._questions,
        )

    def _page(self, title: str, text: str, body: QWidget) -> None:
        page = _Lines(
            Label(title, scale=1.3, bold=True, wrap=True), Label(text, faint=True, wrap=True)
        )
        page.add(body)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        self.pages.addWidget(area)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        middle = QHBoxLayout()
        middle.addWidget(self.rail)
        middle.addWidget(self.pages, 1)
        column.addLayout(middle, 1)
        column.addWidget(Rule())
        row = QHBoxLayout()
        pad = round(em(self) * 0.75)
        row.setContentsMargins(pad, pad, pad, pad)
        row.setSpacing(pad)
        row.addWidget(self.skip)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        column.addLayout(row)

    def _go(self, page: int) -> None:
        """Show a page; after the last one the steps are done."""
        if page >= self.pages.count():
            self.accept()
            return
        self.pages.setCurrentIndex(page)
        self.rail.show_step(page)
        self.back.setEnabled(page > 0)
        last = page == self.pages.count() - 1
        self.next.setText(self.tr("Done") if last else self.tr("Next"))

    def _ask(self, text: str) -> None:
        self.accept()
        self.question_chosen.emit(text)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmFirst{name}")
        button.setAutoDefault(False)
        return button


class _Lines(Panel):
    """Widgets under each other, with room below."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self._widgets: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.addStretch(1)
        for widget in widgets:
            self.add(widget)

    def restyle(self) -> None:
        """Set margins and gaps."""
        pad = round(self.em * 0.75)
        self._column.setContentsMargins(pad, pad, pad, pad)
        self._column.setSpacing(pad)

    def add(self, widget: QWidget) -> None:
        """Put a widget below the others; a button keeps its own width."""
        at = self._column.count() - 1
        kind = isinstance(widget, QPushButton)
        where = Qt.AlignmentFlag.AlignLeft if kind else Qt.AlignmentFlag(0)
        self._column.insertWidget(at, widget, 0, where)
        self._widgets.append(widget)

    def clear(self) -> None:
        """Take all widgets out."""
        for widget in self._widgets:
            self._column.removeWidget(widget)
            widget.setParent(None)
            widget.deleteLater()
        self._widgets.clear()


class _Rail(Panel):
    """The names of the steps, with the present one marked, and how to find them again."""

    def __init__(self, names: tuple[str, ...], note: str) -> None:
        super().__init__()
        self.setAutoFillBackground(True)
        self._picture = QLabel()
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._picture)
        self._marks = []
        for name in names:
            ring = RadioButton(name)
            ring.setAutoExclusive(False)
            ring.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._column.addWidget(ring)
            self._marks.append(ring)
        self._column.addStretch(1)
        self._column.addWidget(Label(note, faint=True, scale=0.92, wrap=True))
        self._names = names

    def restyle(self) -> None:
        """Set the width and the size of the mark."""
        unit = self.em
        self._picture.setPixmap(mark().pixmap(unit * 4, unit * 4))
        self._column.setContentsMargins(unit, unit, unit, unit)
        self._column.setSpacing(unit)
        self.setFixedWidth(unit * 13)

    def show_step(self, present: int) -> None:
        """Mark the present step."""
        for at, ring in enumerate(self._marks):
            font = ring.font()
            font.setBold(at == present)
            ring.setFont(font)
            ring.setChecked(at == present)
        self.setAccessibleName(
            self.tr("Step {0} of {1}: {2}").format(
                present + 1, len(self._names), self._names[present]
            )
        )
