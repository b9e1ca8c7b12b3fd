# SPDX-License-Identifier: GPL-2.0-or-later
"""The library of workflows as hands drive it: search, pictures, names, versions, keeping."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from qgis.PyQt.QtCore import QSize, Qt
from qgis.PyQt.QtGui import QColor, QPalette
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication, QLineEdit, QWidget

from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.graph_dock import GraphDock
from geo_olm.ui.graph.library_dialog import LibraryDialog
from geo_olm.ui.graph.library_entry import EarlierVersion, Entry, Place
from geo_olm.ui.palette import agent_colour

BUFFER = Vertex("v1", "vector", "Draw 500 m around the stations", "buffer",
                {"layer": Layer("cycle_hire"), "distance": 500}, title="Near stations")  # fmt: skip
COUNT = Vertex("v2", "table", "Count them", "count", {"layer": Output("v1")}, title="How many")
GRAPH = Graph("How many stations?", (BUFFER, COUNT), title="Stations")
SLOTS = Graph("Mean of a raster?", (COUNT,), (Variable("zones", Type.LAYER, "The zones"),),
              description="Computes a mean for each zone.")  # fmt: skip
COVERAGE = Entry(Place.PROFILE, "Coverage", "Coverage", GRAPH, changed="2024-05-31 14:10",
                 versions=2)  # fmt: skip
BROKEN = Entry(Place.PROFILE, "Broken", "Broken", fault="Broken is broken: line 3.")
SHARED = Entry(Place.PROJECT, "Mean", "Mean", SLOTS)
NEWER = Entry(Place.FILE, "/data/plan.geoflow.json", "plan", GRAPH,
              remark="plan is from a newer version (2.1).")  # fmt: skip
ZONES = Entry(Place.TEMPLATE, "zonal", "Zonal statistics", SLOTS)
ENTRIES = (COVERAGE, BROKEN, SHARED, NEWER, ZONES)


@pytest.fixture
def dialog(show: Callable[[QWidget], QWidget]) -> LibraryDialog:
    made = LibraryDialog(GraphDocument())
    made.set_entries(ENTRIES)
    show(made)
    return made


def shown(dialog: LibraryDialog) -> list[str]:
    return [dialog.model.index(at, 0).data() for at in range(dialog.model.rowCount())]


def until(done: Callable[[], bool]) -> None:
    started = time.monotonic()
    while not done():
        assert time.monotonic() - started < 5, "it did not happen in time"
        QApplication.processEvents()


def click(dialog: QWidget, name: str) -> None:
    button = dialog.findChild(QWidget, name)
    assert button is not None, name
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def tabs(dialog: LibraryDialog) -> list[str]:
    return [dialog.places.tabText(at) for at in range(dialog.places.count())]


# -- finding


def test_everything_is_listed_by_place_a_broken_one_with_its_reason(dialog: LibraryDialog) -> None:
    assert shown(dialog) == ["Coverage", "Broken", "Mean", "plan", "Zonal statistics"]
    assert tabs(dialog) == [
        "All (5)", "Templates (1)", "This profile (2)", "This project (1)", "Files (1)",
    ]  # fmt: skip
    said = dialog.model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Broken, This profile, Broken is broken: line 3."
    dialog.choose(Place.PROFILE, "Broken")
    assert dialog.detail.about.text() == "Broken is broken: line 3."
    assert not dialog.open.isEnabled()
    assert dialog.delete.isEnabled()
    opened = QSignalSpy(dialog.opened)
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert len(opened) == 0
    assert dialog.said.text() == "Broken is broken: line 3."


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("cov", ["Coverage"]),
        ("STATIONS 500", ["Coverage", "plan"]),
        ("raster", ["Mean", "Zonal statistics"]),
        ("the zones", ["Mean", "Zonal statistics"]),
        ("line 3", ["Broken"]),
        ("nothing of it", []),
    ],
)
def test_words_are_found_in_names_questions_and_steps(
    dialog: LibraryDialog, phrase: str, found: list[str]
) -> None:
    assert dialog.search.hasFocus()
    QTest.keyClicks(dialog.search, phrase)
    assert shown(dialog) == found
    if not found:
        assert dialog.none.isVisible()
        assert dialog.none.text() == 'No workflow has "nothing of it".'


def test_a_place_shows_only_what_is_kept_there(dialog: LibraryDialog) -> None:
    QTest.mouseClick(
        dialog.places, Qt.MouseButton.LeftButton, pos=dialog.places.tabRect(1).center()
    )
    assert shown(dialog) == ["Zonal statistics"]
    assert not dialog.rename.isEnabled()
    assert not dialog.delete.isEnabled()
    assert dialog.duplicate.isEnabled()
    assert dialog.detail.variables.text() == "You set: The zones (zones)"
    assert dialog.detail.steps.text() == "1. How many"


def test_the_list_is_driven_by_keys(dialog: LibraryDialog) -> None:
    opened, deleted, copied = (
        QSignalSpy(one) for one in (dialog.opened, dialog.deleted, dialog.duplicated)
    )
    QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.list.hasFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    QTest.keyClick(dialog.list, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert [one[0][0].name for one in (opened, deleted, copied)] == ["Mean"] * 3
    QTest.keyClick(dialog.list, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert dialog.search.hasFocus()


def test_a_name_is_edited_in_its_row(dialog: LibraryDialog) -> None:
    renamed = QSignalSpy(dialog.renamed)
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_F2)
    field: Any = dialog.findChild(QLineEdit, "GeoOlmLibraryName")
    assert field.text() == "Coverage"
    assert field.accessibleName() == "Name of the workflow"
    field.selectAll()
    QTest.keyClicks(field, "Cover")
    QTest.keyClick(field, Qt.Key.Key_Return)
    until(lambda: len(renamed) == 1)
    assert [(one[0].key, one[1]) for one in renamed] == [("Coverage", "Cover")]
    dialog.choose(Place.TEMPLATE, "zonal")
    QTest.keyClick(dialog.list, Qt.Key.Key_F2)
    assert len(renamed) == 1


# -- pictures


def test_a_picture_shows_the_agents_of_the_steps(dialog: LibraryDialog) -> None:
    size = QSize(120, 60)
    assert dialog.thumbnails.picture(COVERAGE, size, 1.0) is None
    until(lambda: dialog.thumbnails.picture(COVERAGE, size, 1.0) is not None)
    image = dialog.thumbnails.picture(COVERAGE, size, 1.0).toImage()
    seen = {QColor(image.pixel(x, y)).name() for x in range(120) for y in range(60)}
    palette = dialog.palette()
    assert {agent_colour(palette, one).name() for one in ("vector", "table")} <= seen


def test_a_picture_is_as_sharp_as_the_screen_and_follows_the_theme(
    dialog: LibraryDialog, dark: QPalette
) -> None:
    size = QSize(100, 50)
    dialog.thumbnails.picture(COVERAGE, size, 2.0)
    until(lambda: dialog.thumbnails.picture(COVERAGE, size, 2.0) is not None)
    picture = dialog.thumbnails.picture(COVERAGE, size, 2.0)
    assert (picture.width(), picture.devicePixelRatio()) == (200, 2.0)
    dialog.setPalette(dark)
    assert dialog.thumbnails.picture(COVERAGE, size, 2.0) is None


def test_two_hundred_workflows_open_at_once_and_only_the_seen_ones_are_drawn(
    show: Callable[[QWidget], QWidget],
) -> None:
    steps = tuple(
        replace(COUNT, id=f"v{at}", parameters={"layer": Output(f"v{at - 1}")})
        for at in range(2, 14)
    )
    many = [
        Entry(Place.PROFILE, f"w{at}", f"w{at}",
              Graph(f"Question {at}?", (replace(BUFFER, objective=f"Near {at}"), *steps)))
        for at in range(200)
    ]  # fmt: skip
    made = LibraryDialog(GraphDocument())
    started = time.monotonic()
    made.set_entries(many)
    show(made)
    QApplication.processEvents()
    assert time.monotonic() - started < 2
    until(lambda: made.thumbnails.waiting == 0)
    assert 0 < len(made.thumbnails._kept) < 30
    started = time.monotonic()
    QTest.keyClicks(made.search, "19")
    assert shown(made) == [f"w{at}" for at in (19, 119, *range(190, 200))]
    assert time.monotonic() - started < 1


# -- versions, undo, keeping


def test_versions_are_revealed_opened_and_compared(dialog: LibraryDialog) -> None:
    versions = (
        EarlierVersion("b", "2024-05-30 10:00", "Then: Near stations: distance 250 → 500", GRAPH),
        EarlierVersion("a", "2024-05-29 10:00", "It cannot be read."),
    )
    assert dialog.detail.versions.isHidden()
    dialog.show_versions(versions)
    listed = dialog.detail.versions
    assert not listed.isHidden()
    opened, restored, compared = (
        QSignalSpy(one) for one in (dialog.detail.version_opened, dialog.detail.version_restored,
                                    dialog.detail.compared)
    )  # fmt: skip
    assert not dialog.detail.compare.isEnabled()
    listed.setCurrentRow(0)
    click(dialog, "GeoOlmVersionOpen")
    click(dialog, "GeoOlmVersionRestore")
    click(dialog, "GeoOlmVersionCompare")
    assert [one[0][0] for one in (opened, restored)] == [versions[0]] * 2
    assert compared[0][0] == (versions[0],)
    listed.setCurrentRow(1)
    assert not dialog.detail.compare.isEnabled()
    readable = (versions[0], replace(versions[1], graph=SLOTS))
    dialog.show_versions(readable)
    listed.selectAll()
    assert dialog.detail.compare.text() == "Compare the two"
    click(dialog, "GeoOlmVersionCompare")
    assert compared[1][0] == (readable[1], readable[0])
    dialog.choose(Place.PROJECT, "Mean")
    assert dialog.detail.versions.isHidden()


def test_what_was_done_can_be_taken_back(dialog: LibraryDialog) -> None:
    undone = QSignalSpy(dialog.undone)
    QTest.keyClick(dialog.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert len(undone) == 0
    dialog.say('Deleted "Mean".', True)
    click(dialog, "GeoOlmLibraryUndoButton")
    QTest.keyClick(dialog.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert len(undone) == 2
    dialog.say("It is as before.")
    assert dialog.undo.isHidden()


def test_the_canvas_is_kept_under_a_name_where_one_wants(dialog: LibraryDialog) -> None:
    kept = QSignalSpy(dialog.kept)
    dialog.suggest("", False)
    assert not dialog.keep.isEnabled()
    dialog.suggest("How many stations?", True)
    dialog.name.setFocus()
    dialog.name.selectAll()
    QTest.keyClicks(dialog.name, "My plan")
    dialog.suggest("Something else", True)
    dialog.where.setFocus()
    QTest.keyClick(dialog.where, Qt.Key.Key_Down)
    click(dialog, "GeoOlmLibraryKeepButton")
    assert list(kept[0]) == ["My plan", Place.PROJECT]


def test_it_fits_a_small_screen_and_every_part_has_a_name(dialog: LibraryDialog) -> None:
    assert dialog.sizeHint().height() <= 768
    for kind in ("Search", "Places", "List", "KeepName", "KeepPlace"):
        part = dialog.findChild(QWidget, f"GeoOlmLibrary{kind}")
        assert part.accessibleName()
        assert part.focusPolicy() != Qt.FocusPolicy.NoFocus


def test_an_empty_canvas_leads_to_the_templates(show: Callable[[QWidget], QWidget]) -> None:
    dock = GraphDock()
    dock.resize(1000, 600)
    show(dock)
    asked = QSignalSpy(dock.templates_requested)
    empty = dock.view.empty
    assert empty.isVisible()
    middle = empty.mapTo(dock.view.viewport(), empty.rect().center())
    away = middle - dock.view.viewport().rect().center()
    assert abs(away.x()) + abs(away.y()) < 4
    click(empty, "GeoOlmOpenTemplate")
    assert len(asked) == 1
    dock.document.load(GRAPH)
    assert empty.isHidden()
    dock.document.load(Graph())
    assert empty.isVisible()
