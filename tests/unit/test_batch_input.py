# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a batch: JSON, tables, folders, patterns and tiles, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.batch.input import read_inputs
from geo_olm.plugin.batch.job import BatchError, Job, key_of, names
from geo_olm.plugin.batch.tile import tiles
from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Asked, Layer

NEAR = Graph(
    "How many towns lie near?",
    (
        Vertex("near", "vector", tool="buffer",
               parameters={"layer": Asked("towns"), "distance": Asked("distance")}),
        Vertex("count", "table", tool="count", parameters={"layer": Asked("towns")}),
    ),
    variables=(
        Variable("towns", Type.LAYER),
        Variable("distance", Type.NUMBER, default=50, unit="m"),
    ),
)  # fmt: skip
CORNERS = Graph(
    vertices=(Vertex("c", tool="count", parameters={"layer": Layer("towns")}),),
    variables=tuple(Variable(one, Type.NUMBER) for one in ("xmin", "ymin", "xmax", "ymax")),
)


def made(folder: Path, *files: str) -> None:
    for one in files:
        (folder / one).parent.mkdir(parents=True, exist_ok=True)
        (folder / one).touch()


def told(jobs: list[Job]) -> list[tuple[str, dict[str, Any]]]:
    return [(one.id, dict(one.variables)) for one in jobs]


def test_a_list_in_json_gives_a_job_for_each_object_named_by_id_or_file(tmp_path: Path) -> None:
    made(tmp_path, "a.gpkg")
    form = [
        {"towns": str(tmp_path / "a.gpkg"), "distance": 5},
        {"id": "far/away", "towns": "x.gpkg|layername=y", "distance": 9},
        {"id": "w", "variables": {"towns": "x.gpkg"}},
    ]
    jobs = read_inputs(json.dumps(form), NEAR)
    assert told(jobs) == [
        ("a", {"towns": str(tmp_path / "a.gpkg"), "distance": 5}),
        ("far_away", {"towns": "x.gpkg|layername=y", "distance": 9}),
        ("w", {"towns": "x.gpkg"}),
    ]


def test_paths_in_a_file_count_from_the_file_and_lines_may_hold_an_object_each(
    tmp_path: Path,
) -> None:
    made(tmp_path, "data/a b.gpkg")
    (tmp_path / "in.jsonl").write_text('{"towns": "data/a b.gpkg|layername=x"}\n\n{"towns": "q"}\n')
    jobs = read_inputs(str(tmp_path / "in.jsonl"), NEAR)
    assert jobs[0].variables["towns"] == f"{tmp_path / 'data' / 'a b.gpkg'}|layername=x"
    assert [one.place for one in jobs] == ["in.jsonl, line 1", "in.jsonl, line 3"]


@pytest.mark.parametrize("text", ['id;towns;distance\n1;"a;b";5 m\n\n2;c;\n',
                                  "\ufeffid,towns,distance\r\n1,a;b,5 m\r\n2,c,\r\n"])  # fmt: skip
def test_rows_of_a_table_are_jobs_and_a_blank_cell_takes_the_default(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "rows.csv").write_bytes(text.encode("utf-8"))
    assert told(read_inputs(str(tmp_path / "rows.csv"), NEAR)) == [
        ("1", {"towns": "a;b", "distance": "5 m"}),
        ("2", {"towns": "c"}),
    ]


def test_files_of_a_folder_or_pattern_fill_the_one_layer_that_is_asked_for(tmp_path: Path) -> None:
    made(tmp_path, "b.gpkg", "a.shp", "a.dbf", "a.shx", "a.prj", "note.txt", "t.tif",
         "t.tif.aux.xml")  # fmt: skip
    ids = [one.id for one in read_inputs(str(tmp_path), NEAR)]
    assert ids == ["a", "b", "t"]
    pattern = read_inputs(str(tmp_path / "*"), NEAR)
    assert [one.id for one in pattern] == ["a", "b", "note", "t"]
    form = json.dumps({"files": str(tmp_path / "*.gpkg"), "variables": {"distance": 3}})
    assert told(read_inputs(form, NEAR)) == [
        ("b", {"towns": str(tmp_path / "b.gpkg"), "distance": 3})
    ]


def test_tiles_cover_an_extent_and_the_last_ones_are_cut_at_its_edge() -> None:
    found = list(tiles((0, 0, 25, 10), (10, 10)))
    assert [one.box for one in found] == [(0, 0, 10, 10), (10, 0, 20, 10), (20, 0, 25, 10)]
    assert [one.closed for one in found] == [(False, True), (False, True), (True, True)]
    assert len(list(tiles((0, 0, 0.3, 0.3), (0.1, 0.1)))) == 9


def test_tiles_cut_a_layer_or_fill_four_variables() -> None:
    form = {"extent": "0,20,0,10 [EPSG:32632]", "tile_size": 10, "source": "/d/t.gpkg"}
    jobs = read_inputs(json.dumps(form), NEAR)
    assert [one.id for one in jobs] == ["tile_1_1", "tile_1_2"]
    assert jobs[1].variables["towns"] == {
        "source": "/d/t.gpkg", "extent": [10, 0, 20, 10], "crs": "EPSG:32632",
        "closed": [True, True],
    }  # fmt: skip
    corners = read_inputs(json.dumps({"extent": [0, 0, 20, 10], "tile_size": [20, 10]}), CORNERS)
    assert told(corners) == [("tile_1_1", {"xmin": 0, "ymin": 0, "xmax": 20, "ymax": 10})]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "No inputs are named"),
        ("[]", "holds no input"),
        ('[{"towns": "a"},\n {"towns" "b"}]', "broken in line 2, column 11"),
        ('[{"towns": "a"}\n{"towns": "b"}]', 'line 2: "," or "]" is missing'),
        ('[{"towns": "a"},\n3]', "line 2: an input is an object"),
        ('[{"towns": "a"},\n\n{"towns": "b", "distance": "far"}]',
         'line 3: distance is a number in m, not "far"'),
        ('[{"distance": 4}]', "line 1: The variable towns has no value"),
        ('[{"towns": "a", "dist": 4}]', "has no variable dist; it takes distance, towns"),
        ("/nowhere/*.gpkg", "There is no file /nowhere/"),
        ('{"extent": [0, 0, 9, 9], "tile_size": 0, "crs": "EPSG:4326", "source": "a"}',
         '"tile_size" is a number above 0'),
        ('{"extent": [9, 0, 0, 9], "tile_size": 1, "crs": "EPSG:4326", "source": "a"}',
         '"extent" is empty'),
        ('{"extent": [0, 0, 9, 9], "tile_size": 1, "source": "a"}', "the tiles have no CRS"),
        ('{"extent": [0, 0, 9, 9], "tile_size": 1, "crs": "EPSG:4326"}', "towns has no source"),
        ('{"extent": [0, 0, 9e9, 9], "tile_size": 1, "crs": "EPSG:4326", "source": "a"}',
         "tiles are too many"),
    ],
)  # fmt: skip
def test_wrong_inputs_are_refused_with_their_place(text: str, said: str) -> None:
    with pytest.raises(BatchError) as refused:
        read_inputs(text, NEAR)
    assert said in str(refused.value)


def test_a_table_with_a_value_too_many_or_a_column_twice_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text('towns,distance\n"a\nb",4\nc,1,5\n')
    with pytest.raises(BatchError, match=r"rows\.csv, line 4 has 3 values"):
        read_inputs(str(table), NEAR)
    table.write_text("towns,towns\na,b\n")
    with pytest.raises(BatchError, match='line 1: there are two columns "towns"'):
        read_inputs(str(table), NEAR)
    table.write_bytes(b"towns\n\xff\n")
    with pytest.raises(BatchError, match="not in UTF-8"):
        read_inputs(str(table), NEAR)


def test_a_workflow_of_several_layers_wants_to_know_which_one_the_files_are(tmp_path: Path) -> None:
    made(tmp_path, "a.gpkg")
    two = Graph(variables=(Variable("a", Type.LAYER), Variable("b", Type.LAYER)))
    with pytest.raises(BatchError, match="takes a, b: say which one the files are"):
        read_inputs(str(tmp_path), two)


def test_names_of_jobs_are_names_of_folders_on_every_system() -> None:
    given = ["a/b", "A/B", "CON", "nul.txt", "..", "", "x" * 200, "Zürich 1", ".hidden"]
    found = list(names(given))
    assert found[:6] == ["a_b", "A_B_2", "_CON", "_nul.txt", "job_5", "job_6"]
    assert len(found[6]) == 60
    assert found[7:] == ["Zürich_1", "hidden"]


def test_the_key_of_a_job_follows_its_steps_variables_and_files(tmp_path: Path) -> None:
    file = tmp_path / "a.gpkg"
    file.write_text("1")
    job = Job("a", {"towns": str(file), "distance": 5})
    key = key_of(NEAR, job)
    moved = NEAR.with_vertex(NEAR.vertices[0].__class__(
        "near", "vector", tool="buffer", position=(3.0, 4.0), comment="mine",
        parameters={"layer": Asked("towns"), "distance": Asked("distance")}))  # fmt: skip
    assert key_of(moved, job) == key
    assert key_of(NEAR, Job("a", {"towns": str(file), "distance": 6})) != key
    assert key_of(Graph(NEAR.question, NEAR.vertices[:1], NEAR.variables), job) != key
    file.write_text("12")
    assert key_of(NEAR, job) != key
