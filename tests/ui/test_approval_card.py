# SPDX-License-Identifier: GPL-2.0-or-later
"""The card that asks before something lasting is done, by mouse and keyboard, and the modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QLabel, QMenu, QWidget

from geo_olm.plugin.agent.event import (
    ApprovalAsked,
    ApprovalGiven,
    Deed,
    Reach,
    RunFinished,
    RunStarted,
    Status,
)
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.model_view import ModelCondition
from geo_olm.ui.options_page import OptionsPage

Child = Callable[[str], Any]
FILE = Deed(
    Reach.FILE, "save_layer", "Write a file", "near.gpkg", "/data/out",
    details=(("file", "near.gpkg"), ("layer", "towns")),
)  # fmt: skip
STYLE = Deed(Reach.PROJECT, "style_graduated", "Graduated colours", "towns", undoable=True)


def ask(dock: ChatDock, *deeds: Deed) -> None:
    dock.handle(RunStarted("Save the towns.", "m", "embedded", ("Init", "End"), 12))
    dock.handle(ApprovalAsked("approval1", deeds))


def words(card: QWidget) -> str:
    return "\n".join(one.text() for one in card.findChildren(QLabel) if one.isVisible())


@pytest.mark.parametrize(("button", "allowed", "said"), [
    ("GeoOlmApprovalAllow", True, "Allowed"), ("GeoOlmApprovalRefuse", False, "Refused"),
])  # fmt: skip
def test_the_card_says_what_would_be_written_and_takes_one_word_by_mouse(
    dock: ChatDock, child: Child, button: str, allowed: bool, said: str
) -> None:
    given = QSignalSpy(dock.approved)
    ask(dock, FILE)
    text = words(child("GeoOlmApproval"))
    for part in ("Write a file?", "near.gpkg", "/data/out", "towns", "does not remove files"):
        assert part in text
    QTest.mouseClick(child(button), Qt.MouseButton.LeftButton)
    assert [one[0] for one in given] == [ApprovalGiven("approval1", allowed)]
    assert said in words(child("GeoOlmApproval"))
    assert not dock.findChild(QWidget, button).isVisible()


@pytest.mark.parametrize(("key", "allowed"), [(Qt.Key.Key_A, True), (Qt.Key.Key_R, False)])
def test_alt_and_a_letter_allow_and_refuse_from_the_composer(
    dock: ChatDock, child: Child, key: Qt.Key, allowed: bool
) -> None:
    given = QSignalSpy(dock.approved)
    field = child("GeoOlmQuestion")
    QTest.keyClick(field, key, Qt.KeyboardModifier.AltModifier)
    assert len(given) == 0, "nothing waits yet"
    ask(dock, FILE)
    QTest.keyClick(field, key, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(field, key, Qt.KeyboardModifier.AltModifier)
    assert [one[0].allowed for one in given] == [allowed]


def test_only_what_can_be_undone_has_a_default_and_only_while_nothing_is_typed(
    dock: ChatDock, child: Child
) -> None:
    child("GeoOlmQuestion").setFocus()
    ask(dock, FILE)
    assert not child("GeoOlmApprovalAllow").hasFocus()
    dock.handle(RunFinished(Status.CANCELLED, "Stopped."))
    dock.clear()
    child("GeoOlmQuestion").setPlainText("next")
    ask(dock, STYLE)
    assert not child("GeoOlmApprovalAllow").hasFocus()
    dock.clear()
    child("GeoOlmQuestion").clear()
    ask(dock, STYLE)
    assert child("GeoOlmApprovalAllow").hasFocus()
    given = QSignalSpy(dock.approved)
    QTest.keyClick(child("GeoOlmApprovalAllow"), Qt.Key.Key_Space)
    assert [one[0].allowed for one in given] == [True]


def test_not_again_for_this_tool_goes_with_the_word(dock: ChatDock, child: Child) -> None:
    given = QSignalSpy(dock.approved)
    ask(dock, FILE)
    child("GeoOlmApprovalEver").setChecked(True)
    QTest.mouseClick(child("GeoOlmApprovalAllow"), Qt.MouseButton.LeftButton)
    assert [one[0] for one in given] == [ApprovalGiven("approval1", True, True)]


def test_a_plan_has_one_card_for_all_that_it_leaves(dock: ChatDock, child: Child) -> None:
    ask(dock, FILE, STYLE)
    text = words(child("GeoOlmApproval"))
    assert "The plan leaves 2 things behind" in text
    assert "near.gpkg" in text
    assert "Graduated colours: towns" in text
    assert not dock.findChild(QWidget, "GeoOlmApprovalEver").isVisible()


def test_while_the_card_waits_the_dock_says_so_and_the_end_settles_it(
    dock: ChatDock, child: Child
) -> None:
    ask(dock, FILE)
    assert dock.header.chip.condition is ModelCondition.WAITING
    assert child("GeoOlmStatusText").text() == "Waiting for you"
    dock.handle(RunFinished(Status.CANCELLED, "Stopped."))
    assert "Refused" in words(child("GeoOlmApproval"))
    assert not dock.body.waits


def test_names_from_the_data_are_shown_as_they_are_and_cut(dock: ChatDock, child: Child) -> None:
    name = "<b>ok</b>" + "x" * 900
    ask(dock, Deed(Reach.FILE, "save_layer", "Write a file", name))
    text = words(child("GeoOlmApproval"))
    assert "<b>ok</b>" in text
    assert text.count("x") < 400


@pytest.mark.parametrize("mode", ["each", "lasting", "free"])
def test_the_mode_is_chosen_in_the_composer_and_in_the_options(
    dock: ChatDock, child: Child, mode: str
) -> None:
    from geo_olm.plugin.settings import Settings

    chosen = QSignalSpy(dock.mode_chosen)
    menu = dock.findChild(QMenu, "GeoOlmModeMenu")
    action = next(one for one in menu.actions() if one.objectName() == f"GeoOlmMode_{mode}")
    action.trigger()
    assert [one[0] for one in chosen] == [mode]
    assert child("GeoOlmMode").toolTip() == action.text()
    page = OptionsPage(Settings(approval=mode))
    assert page.settings().approval == mode
    page.deleteLater()
