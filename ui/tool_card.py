# SPDX-License-Identifier: GPL-2.0-or-later
"""One tool call as a card: what, on which layer, how it went, and how to do it by hand."""

from __future__ import annotations

import json
from time import monotonic
from typing import Any

from qgis.PyQt.QtCore import Qt, QTimer
from qgis.PyQt.QtGui import QGuiApplication
from qgis.PyQt.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout

from ..plugin.agent.event import CallFinished, CallStarted
from .card import Card
from .card_header import CardHeader
from .flow_layout import FlowLayout
from .icon import theme_icon, tool_icon
from .number import SPACE, count, duration, label, number, value_text
from .outlet import Outlet
from .panel import Label, LinkButton, Panel
from .state_shape import Shape, StateMark
from .thin_bar import ThinBar


class ToolCard(Card):
    """A call from its start to its end; it opens while it runs or fails and folds when done."""

    def __init__(self, outlet: Outlet, event: CallStarted) -> None:
        super().__init__()
        self.setObjectName("GeoOlmToolCard")
        self._outlet, self.call_id, self.step = outlet, event.call_id, event.step
        self._name, self._layer = event.label or label(event.tool), event.layer
        self._finished: CallFinished | None = None
        self._arguments = event.arguments
        self.mended = self.user_opened = False
        self._since = monotonic()
        self.header = CardHeader(outlet, "GeoOlmToolCardHeader", Shape.RUNNING)
        self.header.title.setText(self._name)
        self.header.set_extra(event.layer)
        self.header.toggled.connect(self._toggle_by_user)
        self._icon = tool_icon(event.tool)
        self.bar = ThinBar(outlet)
        self.bar.setObjectName("GeoOlmToolCardBar")
        self.bar.setAccessibleName(self.tr("Progress of {0}").format(self._name))
        self.bar.setVisible(False)
        self.body = Panel()
        self.body.setObjectName("GeoOlmToolCardBody")
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._bar_row = QHBoxLayout()
        self._bar_row.addWidget(self.bar)
        self._column.addWidget(self.header)
        self._column.addLayout(self._bar_row)
        self._column.addWidget(self.body)
        self._lines = QVBoxLayout(self.body)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._lines.addLayout(self._grid)
        self._show_arguments(event.arguments)
        self._ticker = QTimer(self)
        self._ticker.setInterval(1000)
        self._ticker.timeout.connect(self._show_time)
        self._ticker.start()
        self.set_tone(Shape.RUNNING.tone, filled=False)
        self.set_opened(False)
        self._read()

    @property
    def shape(self) -> Shape:
        """Return the state shown."""
        return self.header.mark.shape

    @property
    def opened(self) -> bool:
        """Tell whether the body can be seen."""
        return self.header.fold.opened

    def restyle(self) -> None:
        """Set margins and icon size."""
        unit = self.em
        self._column.setContentsMargins(round(unit * 0.3), 0, 0, 0)
        side = round(unit * 1.25)
        self.header.picture.setPixmap(self._icon.pixmap(side, side))
        left = round(unit * 2.0)
        self._bar_row.setContentsMargins(left, 0, round(unit * 0.7), 0)
        self._lines.setContentsMargins(left, 0, round(unit * 0.7), round(unit * 0.6))
        self._lines.setSpacing(round(unit * 0.4))
        self._grid.setHorizontalSpacing(round(unit * 0.75))
        self._grid.setVerticalSpacing(round(unit * 0.25))
        self.body.restyle_all()

    def set_opened(self, opened: bool) -> None:
        """Open or fold the card."""
        self.header.set_opened(opened)
        self.body.setVisible(opened)

    def set_progress(self, percent: float) -> None:
        """Show the share done; it never goes backwards."""
        if self._finished is not None:
            return
        self.bar.setVisible(True)
        self.bar.setRange(0, 100)
        self.bar.setValue(max(self.bar.value(), min(100, int(percent))))
        self._show_time()

    def finish(self, event: CallFinished) -> None:
        """Show how the call ended."""
        self._ticker.stop()
        self._finished, self._arguments = event, event.arguments
        self.bar.setVisible(False)
        failed = Shape.STOPPED if event.stopped else Shape.FAILED
        self.header.mark.set_shape(Shape.DONE if event.ok else failed)
        self.set_tone(None if event.ok else failed.tone)
        if event.result is not None and event.result.algorithm:
            self._icon = tool_icon(event.tool, event.result.algorithm)
        seconds = duration(event.seconds)
        summary = self._summary()
        self.header.set_note(f"{summary} · {seconds}" if summary else seconds, summary)
        self._show_arguments(event.arguments)
        self._show_result(event)
        self.restyle_all()
        if not self.user_opened:
            self.set_opened(not event.ok)
        self._read()

    def reflect(self, text: str) -> None:
        """Tell how the failed call was corrected, or why not.

        `text` is the corrected arguments as a JSON object, or a sentence when there are none.
        """
        corrected = _object(text)
        if corrected is None:
            self._add_line(Shape.NOTE, text)
            return
        self.mended = True
        self.header.set_note(self.tr("first try"))
        changes = [
            f"{label(name)}: {value_text(value)}"
            for name, value in corrected.items()
            if self._arguments.get(name) != value
        ]
        mended = self.tr("Mended: {0}, then tried again.")
        again = self.tr("Mended: tried again in another way.")
        self._add_line(Shape.DONE, mended.format("; ".join(changes)) if changes else again)

    def _add_line(self, shape: Shape, text: str) -> None:
        row = QHBoxLayout()
        mark = StateMark(self._outlet.clock, shape, 1.0)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        line = Label(text, wrap=True)
        line.setObjectName("GeoOlmToolCardReflection")
        row.addWidget(line, 1)
        self._lines.insertLayout(2, row)
        self.body.restyle_all()
        self._read()

    def stop(self) -> None:
        """Show that the run was stopped while this call ran."""
        if self._finished is None:
            self._ticker.stop()
            self.bar.setVisible(False)
            self.header.mark.set_shape(Shape.STOPPED)
            self.set_tone(None)
            seconds = duration(monotonic() - self._since)
            self.header.set_note(self.tr("stopped after {0}").format(seconds))
            self._read()

    def _toggle_by_user(self, opened: bool) -> None:
        self.user_opened = opened
        self.set_opened(opened)

    def _show_time(self) -> None:
        seconds = monotonic() - self._since
        if self.bar.isHidden() and seconds >= 1:
            self.bar.setRange(0, 0)
            self.bar.setVisible(True)
        done = f"{self.bar.value()}{SPACE}% · " if self.bar.maximum() else ""
        self.header.set_note(done + duration(seconds))

    def _show_arguments(self, arguments: dict[str, Any]) -> None:
        while self._grid.count():
            widget = self._grid.takeAt(0).widget()
            widget.setParent(None)
            widget.deleteLater()
        for row, (name, value) in enumerate(arguments.items()):
            caption = Label(label(name), faint=True)
            text = Label(value_text(value), wrap=True, mono="expression" in name.lower())
            text.setObjectName(f"GeoOlmArgument_{name}")
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(text, row, 1)

    def _show_result(self, event: CallFinished) -> None:
        text = self._outcome(event)
        if text:
            line = Label(text, wrap=True)
            line.setObjectName("GeoOlmToolCardText")
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._lines.insertWidget(1, line)
        buttons = FlowLayout()
        if event.result is not None and event.result.algorithm:
            button = LinkButton("GeoOlmOpenInProcessing", self.tr("Open in Processing…"))
            button.setIcon(theme_icon("processingAlgorithm"))
            algorithm, parameters = event.result.algorithm, dict(event.result.parameters)
            emit = self._outlet.open_in_processing.emit
            button.clicked.connect(lambda: emit(algorithm, parameters))
            buttons.addWidget(button)
        copy = LinkButton("GeoOlmCopyCall", self.tr("Copy"))
        copy.setIcon(theme_icon("mActionEditCopy"))
        copy.clicked.connect(self._copy)
        buttons.addWidget(copy)
        self._lines.addLayout(buttons)

    def _copy(self) -> None:
        """Put the call and what came of it on the clipboard, as text."""
        done = self._finished
        lines = [self._name, json.dumps(self._arguments, ensure_ascii=False, default=str)]
        if done is not None:
            lines.append(self._outcome(done))
        QGuiApplication.clipboard().setText("\n".join(lines))

    @staticmethod
    def _outcome(event: CallFinished) -> str:
        """Return what came of the call, with the notes that are not part of its text."""
        if not event.ok or event.result is None:
            return event.error
        result = event.result
        return "\n".join([result.text, *(note for note in result.notes if note not in result.text)])

    def _summary(self) -> str:
        done = self._finished
        if done is None or not done.ok or done.result is None:
            return ""
        if done.result.layers:
            made = done.result.layers[0]
            return count(made.features, made.geometry)
        if len(done.result.numbers) == 1:
            key, value = next(iter(done.result.numbers.items()))
            unit = done.result.units.get(key, "")
            return f"{number(value)}{SPACE}{unit}" if unit else number(value)
        return ""

    def _read(self) -> None:
        """Set what a screen reader says: "Buffer, cycle_hire, failed: message"."""
        parts = [self._name, self._layer, self.shape.value]
        text = ", ".join(part for part in parts if part)
        if self._finished is not None and self._finished.error:
            text += f": {self._finished.error}"
        self.setAccessibleName(text)
        self.header.setAccessibleName(text)


def _object(text: str) -> dict[str, Any] | None:
    """Return a JSON object, or None where the text is something else."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
