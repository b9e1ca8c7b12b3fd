# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the page of the model doctor to the examination, which runs in the background."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qgis.PyQt.QtCore import QDateTime, QLocale, QObject, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import QWidget

from ..ui.doctor_page import DoctorPage
from ..ui.doctor_view import CheckGrade, CheckRow, DoctorResult, DoctorSettings
from .check import examine_model
from .llm.base import ModelError
from .llm.doctor_note import note_of
from .llm.doctor_report import Began, Check, Finding, Report, Step
from .model_note import NoteStore
from .runner import RunTask, finish, start
from .settings import Settings

_STOP_S = 5.0
_LOG = logging.getLogger(__name__)


class DoctorDesk(QObject):
    """At most one page and one examination. Main thread only.

    `used` says that settings for a model were kept, `log_requested` that its log is wanted.
    """

    used = pyqtSignal()
    log_requested = pyqtSignal()

    def __init__(self, load: Callable[[], Settings], models: Callable[[], tuple[str, ...]]) -> None:
        super().__init__()
        self._load = load
        self._models = models
        self._page: DoctorPage | None = None
        self._task: RunTask | None = None
        self._report: Report | None = None

    def open(self, parent: QWidget | None, settings: Settings | None = None) -> DoctorPage:
        """Show the page for the model of these settings, or of the stored ones."""
        self.close()
        page = DoctorPage(parent)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chosen = settings or self._load()
        page.set_models(self._models(), chosen.model)
        page.check_requested.connect(lambda name: self._examine(replace(chosen, model=name)))
        page.cancel_requested.connect(self._cancel)
        page.settings_chosen.connect(self._use)
        page.log_requested.connect(self.log_requested)
        page.destroyed.connect(lambda *_: self._forget(page))
        self._page = page
        page.show()
        return page

    def close(self) -> None:
        """End the examination and close the page."""
        task, page = self._task, self._page
        self._task = self._page = None
        if task is not None and not finish(task, _STOP_S):
            _LOG.warning("the examination of a model did not end within %s s", _STOP_S)
        if page is not None:
            page.close()

    def _examine(self, settings: Settings) -> None:
        if self._task is not None or self._page is None:
            return
        self._report = None
        self._page.begin()
        task = RunTask(
            self.tr("Geo-OLM: examining the model"),
            lambda emit, cancelled: examine_model(settings, emit, cancelled),
        )
        task.told.connect(self._show)
        task.ended.connect(self._end)
        self._task = task
        start(task)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _show(self, step: Step) -> None:
        page = self._page
        if page is None:
            return
        if isinstance(step, Began):
            page.show_running(self._name(step.check), step.detail)
        elif isinstance(step, Finding):
            page.show_row(self._row(step))
        else:
            self._report = step
            page.finish(self._result(step))

    def _end(self, error: BaseException | None) -> None:
        self._task = None
        if self._page is None or self._report is not None:
            return
        known = isinstance(error, ModelError)
        self._page.fail(str(error) if known else self.tr("The check ended early. See the log."))

    def _use(self, mode: str, context: int, exposure: str) -> None:
        note = note_of(self._report) if self._report is not None else None
        if note is None or self._report is None or self._page is None:
            return
        kept = replace(note, mode=mode, context=context, exposure=exposure)
        NoteStore().keep(self._report.key, kept)
        self._page.show_used()
        self.used.emit()

    def _forget(self, page: DoctorPage) -> None:
        if self._page is page:
            self._page = None
            self._cancel()

    # -- what the page shows

    def _name(self, check: Check) -> str:
        return {
            Check.SERVER: self.tr("Server"),
            Check.CONTEXT: self.tr("Context in force"),
            Check.CALLS: self.tr("Tool calls"),
            Check.THINKING: self.tr("Thinking"),
            Check.SPEED: self.tr("Speed"),
            Check.LOADING: self.tr("Loading"),
            Check.MEMORY: self.tr("Memory"),
            Check.CHOICES: self.tr("Right choices"),
        }[check]

    def _row(self, found: Finding) -> CheckRow:
        grade = CheckGrade(found.grade.value)
        return CheckRow(self._name(found.check), grade, found.found, found.meaning)

    def _result(self, report: Report) -> DoctorResult:
        moment = QDateTime.fromString(report.date, Qt.DateFormat.ISODate).toLocalTime()
        when = self.tr("Checked {0}, took {1} s").format(
            QLocale().toString(moment, QLocale.FormatType.ShortFormat), round(report.seconds)
        )
        return DoctorResult(
            CheckGrade(report.grade.value),
            report.verdict,
            report.paragraph,
            when,
            report.text(),
            self._settings(report),
        )

    def _settings(self, report: Report) -> DoctorSettings | None:
        if note_of(report) is None:
            return None
        chosen = report.settings
        measured: dict[str, Any] = {
            name: self.tr("measured: {0}").format(reason) if reason else self.tr("measured")
            for name, reason in chosen.reasons.items()
        }
        return DoctorSettings(chosen.mode, chosen.context, chosen.exposure, measured)
