# SPDX-License-Identifier: GPL-2.0-or-later
"""Model files: found by name or path, checked before use, and refused when they are not whole."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path

import pytest

from geo_olm.plugin.llm.base import BrokenModelFile, ModelMissing, NoModel
from geo_olm.plugin.llm.gguf import read_model_file
from geo_olm.plugin.llm.store import Store, is_verified


def gguf(weights: int = 64) -> bytes:
    """Return a small model file: one tensor of 32-bit numbers, and two values."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 3)
    head += text("general.architecture") + struct.pack("<I", 8) + text("tiny")
    head += text("tiny.context_length") + struct.pack("<II", 4, 4096)
    head += text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    head += text("weights") + struct.pack("<IQIQ", 1, weights, 0, 0)
    return head + b"\0" * (-len(head) % 32) + b"\1" * (4 * weights)


def stored(folder: Path, content: bytes = b"", digest: str = "") -> Store:
    """Return a store whose manifest knows one model, with this file if there is content."""
    manifest = folder / "models.json"
    entry = {"name": "Small", "file": "small.gguf", "bytes": len(gguf()), "context": 4096}
    manifest.write_text(json.dumps([entry]))
    wanted = digest or hashlib.sha256(gguf()).hexdigest()
    manifest.with_suffix(".sha256").write_text(f"{wanted}  small.gguf\n")
    (folder / "store" / "models").mkdir(parents=True)
    if content:
        (folder / "store" / "models" / "small.gguf").write_bytes(content)
    return Store(folder / "store", manifest)


def test_a_whole_file_tells_its_context(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(gguf())
    found = read_model_file(path)
    assert (found.architecture, found.context, found.bytes) == ("tiny", 4096, len(gguf()))


@pytest.mark.parametrize("length", range(0, len(gguf()), 7))
def test_a_file_cut_anywhere_is_broken(tmp_path: Path, length: int) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(gguf()[:length])
    with pytest.raises(BrokenModelFile) as caught:
        read_model_file(path)
    assert caught.value.message == (
        "cut.gguf is not a complete model file. Download it again or choose another."
    )


@pytest.mark.parametrize(
    "content",
    [
        b"<html>not found</html>" * 9,
        b"GGUF" + b"\xff" * 60,
        b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60),
        b"GGUF" + struct.pack("<IQQ", 9, 1, 1) + b"\0" * 99,
    ],
)
def test_what_is_no_model_is_broken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page.gguf"
    path.write_bytes(content)
    with pytest.raises(BrokenModelFile):
        read_model_file(path)


def test_a_missing_file_is_broken(tmp_path: Path) -> None:
    with pytest.raises(BrokenModelFile):
        read_model_file(tmp_path / "none.gguf")


def test_a_model_is_found_by_name_file_and_path(tmp_path: Path) -> None:
    store = stored(tmp_path, gguf())
    path = store.models_folder / "small.gguf"
    for name in ("", "Small", "small", "small.gguf", str(path)):
        found, known = store.find_model(name)
        assert (found, known and known.name) == (path, "Small")


def test_any_file_can_be_named_by_its_path(tmp_path: Path) -> None:
    other = tmp_path / "my own.gguf"
    other.write_bytes(gguf())
    assert stored(tmp_path).find_model(str(other)) == (other, None)


def test_a_file_that_is_not_the_known_one_is_not_used(tmp_path: Path) -> None:
    store = stored(tmp_path, gguf(), digest="0" * 64)
    with pytest.raises(BrokenModelFile, match=r"small\.gguf"):
        store.find_model("Small")
    (store.models_folder / "small.gguf").write_bytes(gguf()[:-1])
    with pytest.raises(BrokenModelFile):
        store.find_model("")


def test_missing_models_are_told_apart(tmp_path: Path) -> None:
    store = stored(tmp_path)
    with pytest.raises(NoModel):
        store.find_model("")
    with pytest.raises(ModelMissing, match="not downloaded yet"):
        store.find_model("Small")
    with pytest.raises(ModelMissing, match="no model named other"):
        store.find_model("other")
    with pytest.raises(BrokenModelFile, match=r"no model file gone\.gguf"):
        store.find_model(str(tmp_path / "gone.gguf"))


def test_a_changed_file_loses_its_stamp(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"right")
    digest = hashlib.sha256(b"right").hexdigest()
    assert is_verified(path, digest)
    assert (tmp_path / "a.gguf.ok").read_text().split()[2] == digest
    os.utime(path, ns=(1, 1))
    path.write_bytes(b"wrong")
    assert not is_verified(path, digest)


def test_a_stamp_spares_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"right")
    status = path.stat()
    stamp = tmp_path / "a.gguf.ok"
    stamp.write_text(f"{status.st_size} {status.st_mtime_ns} {'0' * 64}\n")
    assert is_verified(path, "0" * 64)


def test_the_server_is_the_one_set_else_the_stores(tmp_path: Path) -> None:
    store = stored(tmp_path)
    own = store.server_folder / "llama-server"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert store.find_server() == own
    other = tmp_path / "other server"
    other.write_text("")
    assert store.find_server(str(other)) == other
    assert store.find_server(str(tmp_path / "gone")) is None


def test_the_environment_names_the_store(tmp_path: Path) -> None:
    manifest = tmp_path / "models.json"
    named = Store.at(tmp_path, {"GEO_OLM_STORE": str(tmp_path / "s")}, manifest)
    assert named.folder == tmp_path / "s"
    assert Store.at(tmp_path, {}, manifest).folder == tmp_path / "geo_olm"
    assert named.known() == ()


def test_the_projects_own_manifest_has_a_hash_for_every_model(tmp_path: Path) -> None:
    manifest = Path(__file__).parents[2] / "resources" / "models.json"
    known = Store(tmp_path, manifest).known()
    assert known
    assert all(len(item.sha256) == 64 and item.bytes and item.licence for item in known)


def test_the_names_are_those_of_the_files_that_are_here(tmp_path: Path) -> None:
    assert Store(tmp_path / "empty").names() == ()
    store = stored(tmp_path, gguf())
    (store.models_folder / "another.gguf").write_bytes(gguf())
    assert store.names() == ("Small", "another.gguf")
