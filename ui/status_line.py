# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs now, at which step, for how long, and the question that waits."""

from __future__ import annotations

from time import monotonic

from qgis.PyQt.QtCore import QTimer
from qgis.PyQt.QtWidgets import QHBoxLayout, QVBoxLayout

from .number import clock
from .outlet import Outlet
from .panel import ElidedLabel, Label, Panel
from .state_shape import Shape, StateMark


class StatusLine(Panel):
    """State and text at the left, step and time at the right; a queued question below."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmStatus")
        self._step = self._most = 0
        self._since = 0.0
        self.mark = StateMark(outlet.clock, Shape.IDLE, 1.0)
        self.text = ElidedLabel()
        self.text.setObjectName("GeoOlmStatusText")
        self.progress = Label(faint=True, scale=0.92)
        self.progress.setObjectName("GeoOlmStatusProgress")
        self.queue = ElidedLabel(faint=True, scale=0.92)
        self.queue.setObjectName("GeoOlmStatusQueue")
        self.queue.setVisible(False)
        self._row = QHBoxLayout()
        self._row.addWidget(self.mark)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.progress)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._row)
        self._column.addWidget(self.queue)
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._show_progress)

    def restyle(self) -> None:
        """Set the margins."""
        unit = self.em
        self._column.setContentsMargins(0, 0, 0, round(unit * 0.4))
        self._column.setSpacing(round(unit * 0.25))
        self._row.setSpacing(round(unit * 0.45))

    def show_state(self, shape: Shape, text: str) -> None:
        """Show what happens now."""
        self.mark.set_shape(shape)
        self.text.setText(text)
        self.text.setAccessibleName(text)

    def start(self, most: int) -> None:
        """Start the clock of a run of at most `most` steps."""
        self._step, self._most, self._since = 0, most, monotonic()
        self._timer.start()
        self._show_progress()

    def set_step(self, step: int) -> None:
        """Show the step that runs."""
        self._step = step
        self._show_progress()

    def stop(self) -> None:
        """Stop the clock."""
        self._timer.stop()
        self.progress.setText("")

    def show_queue(self, text: str) -> None:
        """Show the question that waits, or none."""
        self.queue.setText(self.tr("Your next question waits: {0}").format(text) if text else "")
        self.queue.setVisible(bool(text))

    def _show_progress(self) -> None:
        elapsed = clock(monotonic() - self._since)
        if self._step and self._most:
            steps = self.tr("Step {0} of at most {1}").format(self._step, self._most)
            self.progress.setText(f"{steps} · {elapsed}")
        else:
            self.progress.setText(elapsed)
