# SPDX-License-Identifier: GPL-2.0-or-later
"""The card with the doctor's verdict: a state, one line, one paragraph."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QHBoxLayout, QVBoxLayout

from .card import Card
from .doctor_view import CheckGrade
from .outlet import Outlet
from .panel import Label
from .state_shape import Shape, StateMark

SHAPES = {
    CheckGrade.FINE: Shape.DONE,
    CheckGrade.NOTE: Shape.NOTE,
    CheckGrade.WARNING: Shape.WARNING,
    CheckGrade.ERROR: Shape.ERROR,
}


class VerdictCard(Card):
    """Shows what to expect of the model, or what is examined now."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmDoctorVerdict")
        self.mark = StateMark(outlet.clock, Shape.IDLE)
        self.title = Label(scale=1.3, bold=True, wrap=True)
        self.title.setObjectName("GeoOlmDoctorTitle")
        self.text = Label(wrap=True)
        self.text.setObjectName("GeoOlmDoctorText")
        flags = Qt.TextInteractionFlag
        self.text.setTextInteractionFlags(
            flags.TextSelectableByMouse | flags.TextSelectableByKeyboard
        )
        self._row = QHBoxLayout(self)
        self._column = QVBoxLayout()
        self._row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(self._column, 1)
        self._column.addWidget(self.title)
        self._column.addWidget(self.text)

    def show_text(
        self, grade: CheckGrade | None, title: str, text: str, running: bool = False
    ) -> None:
        """Show a verdict; without a grade none was reached."""
        shape = SHAPES[grade] if grade else Shape.RUNNING if running else Shape.IDLE
        self.mark.set_shape(shape)
        self.set_tone(shape.tone if grade or running else None)
        self.title.setText(title)
        self.text.setText(text)
        self.setAccessibleName(f"{title}. {text}")

    def restyle(self) -> None:
        """Set the margins."""
        unit = self.em
        self._row.setContentsMargins(
            round(unit * 1.0), round(unit * 0.75), round(unit * 0.75), round(unit * 0.75)
        )
        self._row.setSpacing(round(unit * 0.6))
        self._column.setSpacing(round(unit * 0.25))
