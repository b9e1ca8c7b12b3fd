# SPDX-License-Identifier: GPL-2.0-or-later
"""The card at which a run waits for the user's word before something lasting is done."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from ..plugin.agent.event import ApprovalAsked, ApprovalGiven, Deed, Reach
from .card import Card
from .check_box import CheckBox
from .flow_layout import FlowLayout
from .number import label, value_text
from .outlet import Outlet
from .panel import Label
from .state_shape import Shape, StateMark

_MOST = 8
"""Deeds and arguments that are listed; what is more is counted."""


class ApprovalCard(Card):
    """Shows what would be done and takes the word once; it stays as "Allowed" or "Refused"."""

    def __init__(self, outlet: Outlet, asked: ApprovalAsked) -> None:
        super().__init__()
        self.setObjectName("GeoOlmApproval")
        self._outlet, self.asked = outlet, asked
        self.settled = False
        self.set_tone(Shape.WAITING.tone)
        title = self._title(asked.deeds)
        self.mark = StateMark(outlet.clock, Shape.WAITING)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout()
        self._row.addLayout(self._column, 1)
        self._column.addWidget(Label(title, bold=True, wrap=True))
        lines = self._lines(asked.deeds)
        self.text = Label("\n".join(lines), wrap=True)
        self.text.setObjectName("GeoOlmApprovalText")
        self._column.addWidget(self.text)
        self._column.addWidget(Label(self._undo(asked.deeds), faint=True, wrap=True))
        self.ever = CheckBox(
            "GeoOlmApprovalEver", self.tr("Don't ask again for this tool in this chat")
        )
        self._break()
        self.ever.setVisible(len(asked.deeds) == 1)
        self._column.addWidget(self.ever)
        self.allow = self._button("Allow", self.tr("Allow"), "Alt+A", True)
        self.refuse = self._button("Refuse", self.tr("Refuse"), "Alt+R", False)
        self._buttons = FlowLayout()
        self._buttons.addWidget(self.allow)
        self._buttons.addWidget(self.refuse)
        self._column.addLayout(self._buttons)
        self.end = Label(bold=True)
        self.end.setObjectName("GeoOlmApprovalEnd")
        self.end.hide()
        self._column.addWidget(self.end)
        self.setAccessibleName(". ".join((title, *lines)))

    @property
    def can_undo(self) -> bool:
        """Tell whether all of it can be taken back."""
        return all(one.undoable for one in self.asked.deeds)

    def restyle(self) -> None:
        """Set the margins."""
        unit = self.em
        self._row.setContentsMargins(
            round(unit * 0.9), round(unit * 0.55), round(unit * 0.7), round(unit * 0.55)
        )
        self._row.setSpacing(round(unit * 0.5))
        self._column.setSpacing(round(unit * 0.4))
        self._buttons.setSpacing(round(unit * 0.4))

    def say(self, allowed: bool) -> None:
        """Tell the word, once."""
        if not self.settled:
            ever = allowed and self.ever.isChecked()
            given = ApprovalGiven(self.asked.identity, allowed, ever)
            self.settle(given)
            self._outlet.approved.emit(given)

    def settle(self, given: ApprovalGiven) -> None:
        """Show what was said, and ask no more."""
        self.settled = True
        for one in (self.allow, self.refuse, self.ever):
            one.hide()
        shape = Shape.DONE if given.allowed else Shape.IDLE
        self.mark.set_shape(shape)
        self.set_tone(shape.tone, filled=False)
        text = self.tr("Allowed") if given.allowed else self.tr("Refused")
        self.end.setText(text)
        self.end.show()
        self.setAccessibleName(f"{self.accessibleName()}. {text}")

    def _button(self, name: str, text: str, keys: str, allowed: bool) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmApproval{name}")
        button.setAccessibleName(text)
        button.setToolTip(f"{text} ({keys})")
        button.setAutoDefault(True)
        button.clicked.connect(lambda: self.say(allowed))
        return button

    def _title(self, deeds: tuple[Deed, ...]) -> str:
        if len(deeds) > 1:
            return self.tr("The plan leaves {0} things behind. Allow them?").format(len(deeds))
        titles = {
            Reach.FILE: self.tr("Write a file?"),
            Reach.EDIT: self.tr("Change a layer that exists?"),
            Reach.PROJECT: self.tr("Change the project?"),
            Reach.NETWORK: self.tr("Send data to {0}?").format(deeds[0].target),
            Reach.REMOVE: self.tr("Take back what was made before?"),
        }
        return titles.get(deeds[0].reach, self.tr("Make a temporary layer?"))

    def _lines(self, deeds: tuple[Deed, ...]) -> list[str]:
        if len(deeds) == 1:
            return self._one(deeds[0])
        shown = [self._head(one) for one in deeds[:_MOST]]
        more = len(deeds) - len(shown)
        return [*shown, self.tr("and {0} more").format(more)] if more else shown

    def _head(self, deed: Deed) -> str:
        text = value_text(f"{deed.label}: {deed.target}" if deed.target else deed.label)
        return f"{text} ({value_text(deed.where)})" if deed.where else text

    def _one(self, deed: Deed) -> list[str]:
        """Return the tool, what it is about, and its arguments."""
        rest = [
            f"{label(name)}: {value_text(text)}"
            for name, text in deed.details
            if text != deed.target
        ]
        return [self._head(deed), *rest[:_MOST]]

    def _undo(self, deeds: tuple[Deed, ...]) -> str:
        if self.can_undo:
            return self.tr("Undo takes it back.")
        if all(one.reach is Reach.FILE for one in deeds):
            return self.tr("Undo does not remove files. A file that is there is kept.")
        if any(one.undoable for one in deeds):
            return self.tr("Undo takes back only a part of it.")
        return self.tr("This cannot be undone here.")

    def _break(self) -> None:
        """Put the words beside the box on two lines, which a check box does not do by itself."""
        text = self.ever.text()
        middle = text.find(" ", len(text) // 2)
        if middle > 0:
            self.ever.setText(f"{text[:middle]}\n{text[middle + 1 :]}")
