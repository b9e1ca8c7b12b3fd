# SPDX-License-Identifier: GPL-2.0-or-later
"""The model doctor's page shows checks as they come, and gives back what the user decides."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtGui import QPalette
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox, QWidget

from geo_olm.ui.doctor_page import DoctorPage
from geo_olm.ui.doctor_view import CheckGrade, CheckRow, DoctorResult, DoctorSettings
from geo_olm.ui.palette import contrast, em
from geo_olm.ui.state_shape import Shape

SERVER = CheckRow("Server", CheckGrade.FINE, "llama.cpp server, on this machine", "Answers in 2 ms")
CALLS = CheckRow("Tool calls", CheckGrade.NOTE, "As text: yes. Native: no", "Uses the schema")
MEMORY = CheckRow(
    "Memory", CheckGrade.WARNING, "1.6 GB, on the processor", "Longer chats slow down"
)
CHOICES = CheckRow("Right choices", CheckGrade.ERROR, "5 of 12", "Missed: " + "ranking, " * 30)
FOUND = DoctorSettings("schema", 8192, "filter", {"mode": "measured", "exposure": "measured: x"})
GOOD = DoctorResult(
    CheckGrade.FINE, "Good for daily work", "Expect much.", "Checked today", "the report", FOUND
)


@pytest.fixture
def page(show: Callable[[QWidget], QWidget]) -> DoctorPage:
    made = DoctorPage()
    made.set_models(("small", "large"), "small")
    show(made)
    return made


def button(page: DoctorPage, name: str) -> QPushButton:
    return page.findChild(QPushButton, f"GeoOlmDoctor{name}")


def text(page: DoctorPage, name: str) -> str:
    return page.findChild(QLabel, f"GeoOlmDoctor{name}").text()


def press(page: DoctorPage, name: str) -> None:
    QTest.mouseClick(button(page, name), Qt.MouseButton.LeftButton)


def test_before_a_check_there_is_nothing_to_use_or_to_copy(page: DoctorPage) -> None:
    assert text(page, "Title") == "Not checked yet"
    assert not button(page, "Use").isEnabled()
    assert not button(page, "Copy").isEnabled()
    assert page.objectName() == "GeoOlmDoctor"


def test_the_button_asks_for_a_check_of_the_chosen_model(page: DoctorPage) -> None:
    asked = QSignalSpy(page.check_requested)
    box = page.findChild(QComboBox, "GeoOlmDoctorModel")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Down)
    press(page, "Check")
    assert list(asked) == [["large"]]


def test_rows_appear_in_order_and_the_present_one_turns(page: DoctorPage) -> None:
    page.begin()
    page.show_running("Server", "")
    assert page.table.shapes() == [Shape.RUNNING]
    page.show_row(SERVER)
    page.show_running("Tool calls", "question 3 of 12")
    page.show_running("Tool calls", "question 4 of 12")
    assert page.table.shapes() == [Shape.DONE, Shape.RUNNING]
    assert text(page, "Text") == "Tool calls: question 4 of 12"
    page.show_row(CALLS)
    page.show_row(MEMORY)
    page.show_row(CHOICES)
    assert page.table.shapes() == [Shape.DONE, Shape.NOTE, Shape.WARNING, Shape.ERROR]
    assert page.table.texts()[1] == ("Tool calls", "As text: yes. Native: no", "Uses the schema")


def test_a_running_check_can_be_cancelled_and_keeps_what_is_known(page: DoctorPage) -> None:
    cancelled = QSignalSpy(page.cancel_requested)
    page.begin()
    page.show_running("Server", "")
    page.show_row(SERVER)
    page.show_running("Context in force", "")
    assert button(page, "Check").text() == "Cancel"
    press(page, "Check")
    assert len(cancelled) == 1
    assert not button(page, "Check").isEnabled()
    page.finish(DoctorResult(CheckGrade.NOTE, "Stopped before the end", "Kept.", "", "part"))
    assert page.table.shapes() == [Shape.DONE, Shape.STOPPED]
    assert not button(page, "Use").isEnabled()
    assert (button(page, "Check").text(), button(page, "Check").isEnabled()) == (
        "Check again",
        True,
    )


def test_the_end_shows_the_verdict_and_what_was_measured(page: DoctorPage) -> None:
    page.begin()
    page.finish(GOOD)
    assert text(page, "Title") == "Good for daily work"
    assert text(page, "When") == "Checked today"
    assert text(page, "Note_mode") == "measured"
    assert text(page, "Note_exposure") == "measured: x"
    assert page.verdict.mark.shape is Shape.DONE


def test_the_settings_can_be_changed_before_they_are_used(page: DoctorPage) -> None:
    chosen = QSignalSpy(page.settings_chosen)
    page.begin()
    page.finish(GOOD)
    QTest.keyClick(page.findChild(QSpinBox, "GeoOlmDoctor_context"), Qt.Key.Key_Up)
    QTest.keyClick(page.findChild(QComboBox, "GeoOlmDoctor_exposure"), Qt.Key.Key_Down)
    press(page, "Use")
    assert list(chosen) == [["schema", 9216, "hint"]]


def test_the_report_goes_to_the_clipboard(page: DoctorPage) -> None:
    page.begin()
    page.finish(GOOD)
    press(page, "Copy")
    assert QApplication.clipboard().text() == "the report"


def test_a_new_check_forgets_the_last_one(page: DoctorPage) -> None:
    page.begin()
    page.show_row(SERVER)
    page.finish(GOOD)
    page.begin()
    assert page.table.texts() == []
    assert not button(page, "Use").isEnabled()
    assert page.form.chosen() == (None, 0, None)


def test_no_model_is_one_sentence(page: DoctorPage) -> None:
    page.begin()
    page.fail("Ollama does not answer. Start it.")
    assert text(page, "Text") == "Ollama does not answer. Start it."
    assert page.verdict.mark.shape is Shape.ERROR


def test_closing_a_running_check_stops_it(page: DoctorPage) -> None:
    cancelled = QSignalSpy(page.cancel_requested)
    page.begin()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert len(cancelled) == 1
    assert not page.isVisible()


def test_long_findings_wrap_and_nothing_widens_the_page(page: DoctorPage) -> None:
    page.resize(em(page) * 40, em(page) * 40)
    page.begin()
    page.show_row(SERVER)
    page.show_row(CHOICES)
    page.finish(GOOD)
    QApplication.processEvents()
    assert page.width() <= em(page) * 56
    assert page.table.rowHeight(1) > page.table.rowHeight(0)


def test_the_page_is_never_larger_than_a_small_screen(page: DoctorPage) -> None:
    assert page.sizeHint().width() <= em(page) * 56
    assert page.sizeHint().height() <= em(page) * 44


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_verdict_can_be_read(
    page: DoctorPage, colours: str, request: pytest.FixtureRequest
) -> None:
    page.setPalette(request.getfixturevalue(colours))
    page.begin()
    page.finish(GOOD)
    QApplication.processEvents()
    card = page.verdict.palette()
    base = card.color(QPalette.ColorRole.Base)
    assert contrast(base, card.color(QPalette.ColorRole.WindowText)) >= 4.5


def test_rows_are_read_out_with_their_state(page: DoctorPage) -> None:
    page.begin()
    page.show_row(SERVER)
    said = page.table.item(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Server, fine: llama.cpp server, on this machine. Answers in 2 ms"
