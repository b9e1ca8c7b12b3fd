# SPDX-License-Identifier: GPL-2.0-or-later
"""Workflows kept as files, in the library with versions, and in a project."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from qgis.core import QgsProject

from geo_olm.plugin import library
from geo_olm.plugin.library import KeepError, Library, ProjectWorkflows, read, save
from geo_olm.plugin.workflow.change import between
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Layer
from geo_olm.plugin.workflow.wording import words

ROADS = {"layer": Layer("roads"), "distance": 500}
ONE = Graph("How far?", (Vertex("v1", "vector", tool="buffer", parameters=ROADS),))
TWO = replace(ONE, title="Wider", vertices=(
    replace(ONE.vertices[0], parameters={"layer": Layer("roads"), "distance": 250}),
))  # fmt: skip


def test_a_file_is_written_whole_and_never_over_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(ONE, tmp_path / "plan.json")
    assert path.name == "plan.geoflow.json"
    assert read(path).graph == ONE
    beside = tmp_path / "beside"
    beside.touch()
    assert path.stat().st_mode == beside.stat().st_mode
    beside.unlink()
    with pytest.raises(KeepError, match="is there already"):
        save(TWO, path)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(KeepError, match="cannot be written: No space"):
        save(TWO, path, over=True)
    assert read(path).graph == ONE
    assert [one.name for one in tmp_path.iterdir()] == ["plan.geoflow.json"]


def test_each_save_keeps_what_it_replaces_and_a_version_can_come_back(tmp_path: Path) -> None:
    shelf = Library(tmp_path / "new folder")
    assert shelf.names() == ()
    shelf.keep("Far", ONE)
    shelf.keep("Far", TWO)
    assert shelf.load("Far").graph == TWO
    versions = shelf.versions("Far")
    assert [read(one.path).graph for one in versions] == [ONE]
    assert words(ONE, between(ONE, TWO)) == ("buffer (v1): distance 500 → 250",)
    shelf.restore(versions[0])
    assert shelf.load("Far").graph == ONE
    assert [read(one.path).graph for one in shelf.versions("Far")] == [TWO, ONE]


def test_only_the_last_versions_are_kept(tmp_path: Path) -> None:
    shelf = Library(tmp_path)
    for _ in range(25):
        shelf.keep("Far", ONE)
    assert len(shelf.versions("Far")) == 20


@pytest.mark.parametrize(
    "name", ["a/b: c?", "CON", "com1.x", "Städte & Flüsse", "50 % more", "..x", "日本"]
)
def test_a_name_of_any_kind_comes_back(tmp_path: Path, name: str) -> None:
    shelf = Library(tmp_path)
    shelf.keep(name, ONE)
    assert [one.strip(".") for one in shelf.names()] == [name.strip(".")]
    assert shelf.load(name).graph == ONE


@pytest.mark.parametrize("name", ["", "  ", "...", "x" * 201])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(KeepError, match="name"):
        Library(tmp_path).keep(name, ONE)


def test_a_workflow_is_renamed_and_deleted_with_its_versions(tmp_path: Path) -> None:
    shelf = Library(tmp_path)
    for graph in (ONE, TWO):
        shelf.keep("Far", graph)
    shelf.keep("Near", ONE)
    with pytest.raises(KeepError, match='"Near" already'):
        shelf.rename("Far", "Near")
    shelf.rename("Far", "Wide")
    assert shelf.names() == ("Near", "Wide")
    assert len(shelf.versions("Wide")) == 1
    shelf.delete("Wide")
    assert (shelf.names(), shelf.versions("Wide")) == (("Near",), ())
    with pytest.raises(KeepError, match='no workflow "Wide"'):
        shelf.load("Wide")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(KeepError, match="cannot be written"):
        Library(tmp_path / "x").keep("Far", ONE)


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("", encoding="utf-8")
    with pytest.raises(KeepError, match="cannot be written"):
        Library(tmp_path / "x").keep("Far", ONE)


def test_workflows_travel_with_a_project(tmp_path: Path) -> None:
    project = QgsProject()
    kept = ProjectWorkflows(project)
    kept.keep("Far / wide", ONE)
    kept.keep("Near", ONE)
    kept.keep("Near", TWO)
    assert project.isDirty()
    assert project.write(str(tmp_path / "p.qgz"))
    again = QgsProject()
    assert again.read(str(tmp_path / "p.qgz"))
    found = ProjectWorkflows(again)
    assert found.names() == ("Far / wide", "Near")
    assert found.load("Far / wide").graph == ONE
    assert found.load("Near").graph == TWO
    found.delete("Near")
    assert found.names() == ("Far / wide",)
    with pytest.raises(KeepError, match='no workflow "Near"'):
        found.load("Near")


def test_a_broken_workflow_in_a_project_is_told() -> None:
    project = QgsProject()
    project.writeEntry("geo_olm", "/workflows/w1/name", "Far")
    project.writeEntry("geo_olm", "/workflows/w1/graph", "{")
    with pytest.raises(KeepError, match="Far is broken in line 1"):
        ProjectWorkflows(project).load("Far")
    assert library.library_folder().name == "workflows"
