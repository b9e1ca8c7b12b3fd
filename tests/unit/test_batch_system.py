# SPDX-License-Identifier: GPL-2.0-or-later
"""What a worker does on other systems, and that its module needs nothing of the plugin."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from geo_olm.plugin.batch import launch, worker

ROOT = Path(__file__).resolve().parents[2]


class Program:
    """Stands in for a process that answers each line with the same text."""

    started: dict[str, Any]

    def __init__(self, command: list[str], **named: Any) -> None:
        Program.started = {"command": command, **named}
        self.pid = 1
        self.stdin = self.stdout = None

    def poll(self) -> int | None:
        return None

    def wait(self, _seconds: float | None = None) -> int:
        return 0


def setup(folder: Path, python: str) -> dict[str, Any]:
    return {"command": [python, "launch.py", "child"], "environment": {"PYTHONPATH": "x"},
            "begin": {}, "scratch": str(folder), "batch": "b", "renew": 9, "memory": 9}  # fmt: skip


@pytest.mark.parametrize(
    ("system", "python", "flags"),
    [
        ("linux", "/usr/bin/python3", 0),
        ("darwin", "/Applications/QGIS.app/Contents/MacOS/bin/python3", 0),
        ("win32", r"C:\OSGeo4W\apps\Python312\python.exe", 0x08000000),
    ],
)
def test_a_child_is_started_without_a_shell_or_a_console_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, python: str, flags: int
) -> None:
    monkeypatch.setattr(worker.sys, "platform", system)
    monkeypatch.setattr(worker.subprocess, "Popen", Program)
    worker.Child(setup(tmp_path, python)).clear()
    started = Program.started
    assert started["command"] == [python, "launch.py", "child"]
    assert started["creationflags"] == flags
    assert "shell" not in started
    assert "preexec_fn" not in started
    own = {started["env"][name] for name in ("TMPDIR", "TEMP", "TMP")}
    assert [Path(one).parent for one in own] == [tmp_path]
    assert started["env"]["PYTHONPATH"] == "x"
    assert list(tmp_path.iterdir()) == []


def test_what_is_sent_to_a_worker_imports_only_what_every_worker_has() -> None:
    tree = ast.parse((ROOT / "plugin" / "batch" / "worker.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(str(node.module).partition(".")[0])
    own = {"psutil", "distributed"}  # Dask's scheduler needs both itself
    assert found - own <= set(sys.stdlib_module_names)


def test_no_module_of_a_batch_names_a_signal_a_shell_or_a_path_of_one_system() -> None:
    for path in (ROOT / "plugin" / "batch").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for word in ("import signal", "SIG", "os.fork", "/tmp", "/bin/", "shell=True", "fcntl"):
            assert word not in text, (path.name, word)


def test_a_job_that_is_done_takes_the_place_of_an_older_one_whole(tmp_path: Path) -> None:
    final, part = tmp_path / "a", tmp_path / ".a.1"
    for folder, name in ((final, "old.gpkg"), (part, "new.gpkg")):
        folder.mkdir()
        (folder / name).touch()
    worker._put(part, final)
    assert [one.name for one in tmp_path.iterdir()] == ["a"]
    assert [one.name for one in final.iterdir()] == ["new.gpkg"]


def test_the_package_gets_its_name_whatever_the_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "geo-olm main"
    root.mkdir()
    (root / "__init__.py").write_text("MARK = 7\n")
    monkeypatch.setitem(sys.modules, launch.PACKAGE, None)
    launch.register(root)
    assert sys.modules[launch.PACKAGE].MARK == 7


class Fake:
    """A child that answers at once, or ends where the question says so."""

    made: ClassVar[list[Fake]] = []

    def __init__(self, _setup: dict[str, Any]) -> None:
        Fake.made.append(self)
        self.jobs = 0
        self.bytes = 1
        self.ended = False

    def is_alive(self) -> bool:
        return not self.ended

    def ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        self.jobs += 1
        self.ended = bool(question.get("crash"))
        self.bytes = question.get("bytes", 1)
        return None if self.ended else {"status": "ok", "reason": ""}

    def memory(self) -> int:
        return self.bytes

    def end(self) -> None:
        self.ended = True

    kill = clear = end

    def why(self) -> str:
        return "QGIS ended in the middle of the job (status -11)."


def test_a_qgis_serves_many_jobs_and_is_renewed_when_worn_full_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "Child", Fake)
    monkeypatch.setattr(Fake, "made", [])
    children = worker.Children({**setup(tmp_path, "python"), "renew": 3, "memory": 100})

    def served(*questions: dict[str, Any]) -> list[int]:
        for one in questions:
            children.run(one)
        found = [one.jobs for one in Fake.made]
        Fake.made.clear()
        return found

    assert served({}, {}, {}) == [3]
    assert served({}, {"bytes": 101}, {}) == [2, 1]
    crashed = children.run({"crash": True})
    assert crashed == {"status": "failed", "reason": Fake.why(Fake({}))}
    Fake.made.clear()
    assert served({}) == [1]
    children.stop()
    assert children.run({})["status"] == "cancelled"
    assert Fake.made == []
