# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers under an answer say that they are temporary, can be kept, and say where they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QFileDialog, QWidget

from geo_olm.plugin.agent.event import LayerReference, RunFinished, RunStarted, Status
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.keep_dialog import ask_target, ask_workflow
from geo_olm.ui.layer_list import LayerList

LARGE = LayerReference("L1", "Large ones", "memory", "polygon", "EPSG:4326", 33)
SMALL = LayerReference("L2", "Small ones", "memory", "polygon", "EPSG:4326", 7)
SAVED = LayerReference("L3", "saved", "/out/a.gpkg|layername=a", "point", "EPSG:4326", 7)
Child = Callable[[str], Any]


def answered(dock: ChatDock, *layers: LayerReference, files: tuple[str, ...] = ()) -> LayerList:
    dock.handle(RunStarted("Which?", "Test model", "embedded", ("Init", "Answer"), 12))
    dock.handle(RunFinished(Status.OK, "These.", layers=layers, files=files))
    dock.set_running(False)
    return dock.findChildren(LayerList)[-1]


def keep_action(chip: Any) -> Any:
    actions = {each.objectName(): each for each in chip.menu().actions()}
    return actions.get("GeoOlm_keep_requested")


def test_temporary_layers_say_so_and_are_kept_by_one_click_b38(
    dock: ChatDock, child: Child
) -> None:
    asked = QSignalSpy(dock.keep_requested)
    answered(dock, LARGE, SMALL)
    assert child("GeoOlmResultsCaption").text() == "Temporary until you keep them"
    assert child("GeoOlmKeep").text() == "Keep…"
    QTest.mouseClick(child("GeoOlmKeep"), Qt.MouseButton.LeftButton)
    assert list(asked[0]) == [("L1", "L2")]


def test_kept_layers_say_in_which_file_they_are(dock: ChatDock, child: Child) -> None:
    shown = QSignalSpy(dock.kept_shown)
    made = answered(dock, LARGE, SMALL)
    dock.mark_kept(("L1", "L2"), "/maps/results.gpkg")
    assert child("GeoOlmResultsCaption").text() == "Kept in results.gpkg"
    assert made.keep.isHidden()
    QTest.mouseClick(child("GeoOlmShowKept"), Qt.MouseButton.LeftButton)
    assert list(shown[0]) == ["/maps/results.gpkg"]


def test_one_layer_is_kept_from_its_menu_and_the_rest_stays_temporary(
    dock: ChatDock, child: Child
) -> None:
    asked = QSignalSpy(dock.keep_requested)
    made = answered(dock, LARGE, SMALL)
    first, second = made.findChildren(QWidget, "GeoOlmResultChip")
    keep_action(first).trigger()
    assert list(asked[0]) == [("L1",)]
    dock.mark_kept(("L1",), "/maps/results.gpkg")
    caption = child("GeoOlmResultsCaption").text()
    assert caption == "Kept in results.gpkg · Temporary until you keep them"
    assert keep_action(first) is None
    assert keep_action(second) is not None
    QTest.mouseClick(child("GeoOlmKeep"), Qt.MouseButton.LeftButton)
    assert list(asked[1]) == [("L2",)]


def test_a_layer_in_a_file_that_was_written_is_not_temporary(dock: ChatDock, child: Child) -> None:
    made = answered(dock, SAVED, files=("/out/a.gpkg",))
    assert child("GeoOlmResultsCaption").text() == "Layers made"
    assert made.keep.isHidden()


def test_a_removed_layer_is_not_asked_for(dock: ChatDock, child: Child) -> None:
    asked = QSignalSpy(dock.keep_requested)
    answered(dock, LARGE, SMALL)
    dock.mark_layer_removed("L1")
    QTest.mouseClick(child("GeoOlmKeep"), Qt.MouseButton.LeftButton)
    assert list(asked[0]) == [("L2",)]


def test_a_turn_that_slept_still_says_where_its_layers_are(dock: ChatDock, child: Child) -> None:
    answered(dock, LARGE)
    dock.mark_kept(("L1",), "/maps/results.gpkg")
    turn = dock.transcript.last
    assert turn is not None
    turn.sleep()
    assert not dock.findChildren(LayerList) or turn.content is None
    turn.wake()
    assert child("GeoOlmResultsCaption").text() == "Kept in results.gpkg"


def test_the_dialog_asks_for_a_geopackage_and_never_to_overwrite(
    dock: ChatDock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def chosen(_parent: Any, _title: str, start: str, *_: Any, **more: Any) -> tuple[str, str]:
        asked.append((start, more["options"]))
        return "/maps/mine", ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", chosen)
    assert ask_target(dock, "/maps") == Path("/maps/mine.gpkg")
    assert asked == [("/maps/results.gpkg", QFileDialog.Option.DontConfirmOverwrite)]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: ("", ""))
    assert ask_target(dock, "") is None


def test_a_name_that_was_made_longer_is_not_written_over(
    dock: ChatDock, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[str] = []
    names = ["/maps/mine", "/maps/mine.geoflow.json", ""]

    def chosen(_parent: Any, _title: str, start: str, *_: Any) -> tuple[str, str]:
        starts.append(start)
        return names.pop(0), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", chosen)
    path = Path("/maps/mine.geoflow.json")
    assert ask_workflow(dock, "/maps", "How many towns?") == (path, False)
    assert ask_workflow(dock, "/maps", "How many towns?") == (path, True)
    assert ask_workflow(dock, "/maps", "How many towns?") is None
    assert starts == ["/maps/How_many_towns.geoflow.json"] * 3
