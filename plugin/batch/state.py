# SPDX-License-Identifier: GPL-2.0-or-later
"""What a batch's folder remembers: how each job ended, and which results are the batch's own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ..llm.process import alive
from .job import BatchError, Ended
from .worker import JOBS, RECORD

_FILE = "jobs.jsonl"
_LOCK = ".running"


class State:
    """The state of one folder; later lines of its file count more than earlier ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ended: dict[str, Ended] = {}
        self._made: set[str] = set()

    def open(self) -> None:
        """Make or read the folder, and hold it against a second batch. Raises BatchError."""
        try:
            (self.folder / JOBS).mkdir(parents=True, exist_ok=True)
            self._hold()
            self._sweep()
            self._read()
        except OSError as error:
            reason = error.strerror or error
            raise BatchError(f"{self.folder} cannot be written: {reason}.") from error

    def close(self) -> None:
        """Let go of the folder."""
        self._sweep()
        (self.folder / _LOCK).unlink(missing_ok=True)

    def finished(self, identity: str, key: str) -> Ended | None:
        """Return how a job of the same workflow and variables ended well before, else None."""
        found = self._ended.get(identity)
        is_there = (self.folder / JOBS / identity / RECORD).is_file()
        return found if found and found.is_done and found.key == key and is_there else None

    def note(self, ended: Ended) -> None:
        """Keep how a job ended, at once. Raises OSError."""
        self._ended[ended.id] = ended
        self._append(asdict(ended))

    def record(self, identity: str) -> dict[str, Any]:
        """Return what a finished job left. Raises BatchError."""
        path = self.folder / JOBS / identity / RECORD
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BatchError(f"{path} cannot be read: {error}") from error
        return dict(found)

    def free(self, name: str) -> Path:
        """Return where a result of that name goes: over the batch's own, beside another's."""
        path, number = self.folder / name, 1
        while path.exists() and path.name not in self._made:
            number += 1
            stem, _dot, suffix = name.rpartition(".")
            path = self.folder / f"{stem}_{number}.{suffix}"
        return path

    def put(self, part: Path, final: Path) -> None:
        """Move a whole result into place, and remember that it is the batch's. Raises OSError."""
        if final.name not in self._made:
            self._append({"made": final.name})
            self._made.add(final.name)
        part.replace(final)

    def drop(self, kept: Iterable[Path]) -> None:
        """Delete the batch's results of an earlier call that are not among those kept."""
        names = {one.name for one in kept}
        for name in self._made - names:
            (self.folder / name).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Delete what jobs left half done whose worker was lost."""
        for part in (self.folder / JOBS).glob(".*"):
            shutil.rmtree(part, ignore_errors=True)

    def _append(self, line: dict[str, Any]) -> None:
        with (self.folder / _FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _read(self) -> None:
        path = self.folder / _FILE
        if not path.exists():
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        if text and not text.endswith("\n"):  # cut off by a stop
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")
        for line in text.splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and "made" in found:
                self._made.add(str(found["made"]))
            elif isinstance(found, dict) and {"id", "key", "status"} <= set(found):
                known = {one.name for one in fields(Ended)}
                one = Ended(**{key: found[key] for key in known & set(found)})
                self._ended[one.id] = one

    def _hold(self) -> None:
        path = self.folder / _LOCK
        try:
            number = int(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            number = 0
        if number != os.getpid() and alive(number):
            raise BatchError(
                f"Another batch runs in {self.folder}. Wait for it, or choose another."
            )
        path.write_text(str(os.getpid()), encoding="utf-8")
