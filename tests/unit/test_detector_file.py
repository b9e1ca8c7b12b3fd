# SPDX-License-Identifier: GPL-2.0-or-later
"""The description of a detector is read as it was written, and every fault names its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geo_olm.tools.base import MendableError
from geo_olm.tools.detector import Detector, DetectorClass, Normalisation, Task
from geo_olm.tools.detector_file import detectors_of, written
from geo_olm.tools.detector_store import RESOURCES, DetectorStore, hash_of, sums

SHIPS: dict[str, Any] = {
    "format": 1, "name": "Ships", "file": "ships.onnx", "task": "objects", "sensor": "SAR",
    "bands": ["VV", "VH"], "resolution": 10, "classes": ["ship", {"name": "oil rig"}],
}  # fmt: skip


def test_what_is_written_is_read_back() -> None:
    one = Detector(
        "Cover", "cover.onnx", Task.SEGMENTS, "optical", ("red", "nir"), (5.0, 10.0),
        (DetectorClass("water", "#0000ff"), DetectorClass("land")), 256,
        Normalisation(255.0, (0.1, 0.2), (1.0, 2.0)), 0.3, 32, "MIT",
    )  # fmt: skip
    assert detectors_of(written(one), "cover.json") == [one]


def test_one_cell_size_stands_for_both_and_colours_are_given() -> None:
    (one,) = detectors_of(json.dumps(SHIPS), "ships.json", Path("/models"))
    assert one.resolution == (10.0, 10.0)
    assert one.path == Path("/models/ships.onnx")
    assert one.class_name(1) == "oil rig"
    assert one.class_name(7) == "class 7"
    assert one.colour(0) != one.colour(1)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("format", 2, '"format": 1'),
        ("task", "cars", '"task" of Ships .* objects, segments, pixels'),
        ("sensor", "lidar", '"sensor" of Ships in ships.json must be one of optical, SAR'),
        ("file", "../ships.onnx", "name of a file in the same folder"),
        ("name", "", '"name" of a detector'),
        ("bands", "VV", '"bands" .* a list'),
        ("resolution", [20, 10], "two that rise"),
        ("resolution", ["10 m"], "list of numbers"),
        ("classes", [1], '"classes"'),
        ("size", -1, "whole number from 0"),
        ("score", 2, "between 0 and 1"),
        ("normalisation", {"divide": 0}, "divide by 0"),
        ("normalisation", {"mean": [1, 2, 3]}, "for each band"),
        ("normalisation", {"gain": 1}, "must hold divide"),
        ("weights", 1, '"weights" of Ships .* is none of'),
    ],
)
def test_a_fault_names_file_detector_and_key(key: str, value: Any, words: str) -> None:
    with pytest.raises(MendableError, match=words):
        detectors_of(json.dumps({**SHIPS, key: value}), "ships.json")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1, "detectors": {}}'])
def test_what_is_no_description_is_told(text: str) -> None:
    with pytest.raises(MendableError, match=r"ships\.json"):
        detectors_of(text, "ships.json")


def test_the_manifest_of_the_resources_is_right_and_its_files_have_hashes() -> None:
    listed = detectors_of((RESOURCES / "detectors.json").read_text(), "detectors.json")
    known = sums(RESOURCES / "detectors.sha256")
    assert {one.file for one in listed} == set(known)
    for one in listed:
        assert one.sensor
        assert one.bands
        assert any(one.resolution)
        assert one.classes
        assert one.licence


def test_models_of_a_manifest_are_found_in_the_folder_with_their_hashes(tmp_path: Path) -> None:
    data = {"format": 1, "detectors": [{k: v for k, v in SHIPS.items() if k != "format"}]}
    manifest = tmp_path / "shipped" / "detectors.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps(data))
    folder = tmp_path / "own"
    assert DetectorStore((folder,), manifest).all() == []
    folder.mkdir()
    (folder / "ships.onnx").write_bytes(b"a model")
    digest = hash_of(folder / "ships.onnx")
    manifest.with_name("detectors.sha256").write_text(f"{digest}  ships.onnx\n")
    (found,) = DetectorStore((folder,), manifest).all()
    assert (found.name, found.sha256, found.path) == ("Ships", digest, folder / "ships.onnx")


def test_a_wrong_file_among_the_users_own_does_not_hide_the_others(tmp_path: Path) -> None:
    for name, text in (("ships", json.dumps(SHIPS)), ("cars", "{"), ("gone", json.dumps(SHIPS))):
        (tmp_path / f"{name}.json").write_text(text)
    for name in ("ships", "cars"):
        (tmp_path / f"{name}.onnx").write_bytes(b"a model")
    assert [one.name for one in DetectorStore((tmp_path,)).all()] == ["Ships"]
