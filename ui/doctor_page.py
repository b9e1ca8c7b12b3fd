# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the model doctor: the verdict, the checks as they come, and the settings that fit."""

from __future__ import annotations

from qgis.PyQt.QtCore import QSize, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from .doctor_setting import SettingForm
from .doctor_table import CheckTable
from .doctor_verdict import VerdictCard
from .doctor_view import CheckGrade, CheckRow, DoctorResult
from .icon import theme_icon
from .outlet import Outlet
from .palette import em
from .panel import Label, Panel


class DoctorPage(QDialog):
    """Shows one examination at a time. `begin`, `show_running`, `show_row` and `finish` follow
    each other; the signals say what the user wants."""

    check_requested = pyqtSignal(str)
    cancel_requested = pyqtSignal()
    settings_chosen = pyqtSignal(str, int, str)
    log_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmDoctor")
        self.setWindowTitle(self.tr("Model doctor"))
        self.setSizeGripEnabled(True)
        self._outlet = Outlet(self)
        self._running = False
        self._report = ""
        self.model = QComboBox()
        self.model.setObjectName("GeoOlmDoctorModel")
        self.model.setAccessibleName(self.tr("Model"))
        self.model.setEditable(True)
        self.model.lineEdit().setPlaceholderText(self.tr("The first one found"))
        self.when = Label(faint=True)
        self.when.setObjectName("GeoOlmDoctorWhen")
        self.check = self._button("Check", self.tr("Check"), "mActionRefresh")
        self.check.clicked.connect(self._press)
        self.verdict = VerdictCard(self._outlet)
        self.table = CheckTable(self._outlet)
        self.form = SettingForm()
        self.copy = self._button("Copy", self.tr("Copy report"), "mActionEditCopy")
        self.copy.clicked.connect(self._copy)
        self.log = self._button("Log", self.tr("Show log"), "mMessageLog")
        self.log.clicked.connect(self.log_requested)
        self.use = self._button("Use", self.tr("Use these settings"))
        self.use.setDefault(True)
        self.use.clicked.connect(lambda: self.settings_chosen.emit(*self.form.chosen()))
        self._lay_out()
        self.verdict.show_text(
            None,
            self.tr("Not checked yet"),
            self.tr("The check measures this model and takes some minutes on a slow machine."),
        )
        self._fit_buttons()

    def sizeHint(self) -> QSize:
        """Return a size that shows all checks, and never more than a small screen has."""
        return QSize(em(self) * 56, em(self) * 44)

    def set_models(self, names: tuple[str, ...], current: str) -> None:
        """Offer these models and choose one."""
        self.model.clear()
        self.model.addItems(names)
        self.model.setCurrentText(current)

    def begin(self) -> None:
        """Show that an examination has begun."""
        self._running, self._report = True, ""
        self.table.clear_rows()
        self.form.set_settings(None)
        self.when.setText("")
        self.verdict.show_text(None, self.tr("Checking"), self.tr("Looking for the model"), True)
        self._fit_buttons()

    def show_running(self, name: str, detail: str) -> None:
        """Show the check that runs now."""
        self.table.show_running(name)
        text = f"{name}: {detail}" if detail else name
        self.verdict.show_text(None, self.tr("Checking"), text, True)

    def show_row(self, row: CheckRow) -> None:
        """Show what a check found."""
        self.table.show_row(row)

    def finish(self, result: DoctorResult) -> None:
        """Show the verdict and the settings; a check that still ran has no finding."""
        self._running, self._report = False, result.report
        self.table.end()
        self.when.setText(result.when)
        self.verdict.show_text(result.grade, result.title, result.paragraph)
        self.form.set_settings(result.settings)
        self._fit_buttons()
        if result.settings is not None:
            self.use.setFocus()

    def fail(self, text: str) -> None:
        """Show why there is nothing to examine."""
        title = self.tr("No model to check")
        self.finish(DoctorResult(CheckGrade.ERROR, title, text, "", f"{title}: {text}"))

    def show_used(self) -> None:
        """Say that the settings are kept."""
        self.when.setText(self.tr("These settings are used from the next question on."))

    def reject(self) -> None:
        """Stop a running examination before the page closes."""
        if self._running:
            self.cancel_requested.emit()
        super().reject()

    def _press(self) -> None:
        if self._running:
            self.check.setEnabled(False)
            self.cancel_requested.emit()
        else:
            self.check_requested.emit(self.model.currentText().strip())

    def _copy(self) -> None:
        QApplication.clipboard().setText(self._report)

    def _fit_buttons(self) -> None:
        running = self._running
        done = self.tr("Check again") if self._report else self.tr("Check")
        self.check.setText(self.tr("Cancel") if running else done)
        self.check.setIcon(theme_icon("mActionStop" if running else "mActionRefresh"))
        self.check.setAccessibleName(self.check.text())
        self.check.setEnabled(True)
        self.model.setEnabled(not running)
        self.copy.setEnabled(bool(self._report))
        self.use.setEnabled(not running and self.form.is_filled)

    def _button(self, name: str, text: str, icon: str = "") -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmDoctor{name}")
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        if icon:
            button.setIcon(theme_icon(icon))
        return button

    def _lay_out(self) -> None:
        head = Panel()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(Label(self.tr("Model")))
        row.addWidget(self.model, 1)
        row.addStretch(1)
        row.addWidget(self.when)
        row.addWidget(self.check)
        close = self._button("Close", self.tr("Close"))
        close.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addWidget(self.copy)
        foot.addWidget(self.log)
        foot.addStretch(1)
        foot.addWidget(self.use)
        foot.addWidget(close)
        outer = QVBoxLayout(self)
        outer.addWidget(head)
        outer.addWidget(self.verdict)
        outer.addWidget(self.table, 1)
        outer.addWidget(self.form)
        outer.addLayout(foot)
