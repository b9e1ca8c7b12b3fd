# SPDX-License-Identifier: GPL-2.0-or-later
"""Naming layers and fields with "@", and dropping layers into the question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qgis.PyQt.QtCore import QMimeData, Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest

from geo_olm.tools.base import LayerProfile
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.mention import MentionDelegate, matching, mentions

Child = Callable[[str], Any]


@pytest.fixture
def field(dock: ChatDock, child: Child) -> Any:
    found = child("GeoOlmQuestion")
    found.setFocus()
    QTest.qWaitForWindowActive(dock)
    QTest.qWait(10)
    return found


def offered(field: Any) -> list[str]:
    popup = field.completer.popup()
    model = popup.model()
    if not popup.isVisible():
        return []
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_at_lists_the_layers_and_then_fields_that_fit(field: Any) -> None:
    QTest.keyClicks(field, "Colour @")
    assert offered(field) == ["cycle_hire", "states", "elevation"]
    QTest.keyClicks(field, "cyc")
    assert offered(field)[0] == "cycle_hire"
    assert "cycle_hire.area" in offered(field)


def test_a_row_of_the_list_shows_count_and_crs_at_its_end(field: Any) -> None:
    QTest.keyClicks(field, "@cyc")
    popup = field.completer.popup()
    assert isinstance(popup.itemDelegate(), MentionDelegate)
    index = popup.model().index(0, 0)
    detail = index.data(Qt.ItemDataRole.UserRole).replace("\u00a0", " ").replace("\u2060", "")
    assert detail == "742 points · EPSG:4326"
    box = popup.visualRect(index)
    row = popup.viewport().grab(box).toImage()
    ground = row.pixelColor(row.width() // 2, 1)
    right = range(row.width() - row.width() // 4, row.width() - 4)
    inked = [x for x in right for y in range(row.height()) if row.pixelColor(x, y) != ground]
    assert len(inked) > 20


def test_enter_in_the_list_inserts_the_name_and_does_not_send(dock: ChatDock, field: Any) -> None:
    asked = QSignalSpy(dock.asked)
    QTest.keyClicks(field, "Colour @cyc")
    QTest.keyClick(field.completer.popup(), Qt.Key.Key_Return)
    assert field.toPlainText() == "Colour @cycle_hire "
    assert len(asked) == 0
    assert offered(field) == []


def test_escape_closes_the_list_and_keeps_what_was_typed(field: Any) -> None:
    QTest.keyClicks(field, "@cyc")
    QTest.keyClick(field.completer.popup(), Qt.Key.Key_Escape)
    assert offered(field) == []
    assert field.toPlainText() == "@cyc"


def test_the_list_goes_when_nothing_fits(field: Any) -> None:
    QTest.keyClicks(field, "@zzz")
    assert offered(field) == []


def test_the_at_button_opens_the_list(field: Any, child: Child) -> None:
    QTest.mouseClick(child("GeoOlmMention"), Qt.MouseButton.LeftButton)
    QTest.qWait(10)
    assert field.toPlainText() == "@"
    assert offered(field) == ["cycle_hire", "states", "elevation"]


def test_dropped_layers_become_mentions(field: Any) -> None:
    data = QMimeData()
    tree = (
        '<layer_tree_model_data><layer-tree-layer id="L1" name="other"/>'
        '<layer-tree-layer id="gone" name="Not &lt;known&gt;"/></layer_tree_model_data>'
    )
    data.setData("application/qgis.layertreemodeldata", tree.encode())
    assert field.canInsertFromMimeData(data)
    field.insertFromMimeData(data)
    assert field.toPlainText() == "@cycle_hire @Not <known> "


def test_pasted_rich_text_comes_as_plain_text(field: Any) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("bold")
    field.insertFromMimeData(data)
    assert field.toPlainText() == "bold"


def test_the_field_grows_to_eight_lines_and_no_further(field: Any) -> None:
    least = field.sizeHint().height()
    field.setPlainText("\n".join("12345"))
    five = field.sizeHint().height()
    field.setPlainText("\n" * 7)
    eight = field.sizeHint().height()
    field.setPlainText("\n" * 30)
    assert least < five < eight == field.sizeHint().height()


def test_a_field_matches_by_its_own_name_too(layers: tuple[LayerProfile, ...]) -> None:
    found = [mention.text for mention in matching(mentions(layers), "nbi")]
    assert found == ["cycle_hire.nbikes"]
