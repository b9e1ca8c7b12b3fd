# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what was sent where: one line when a request leaves, one when its reply has ended.

Neither prompts nor keys are kept; of a request's content only the names and values that were
found in it.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import Any

from .holding import Held

LIMIT = 8 << 20
PARTS = 8
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """One request: when (seconds since 1970), where, how much, and what it held.

    `path` is without the query; `sent` and `received` are bytes of the bodies; `status` 0 means
    that no reply has ended. `purpose` is model, package or download.
    """

    id: str
    time: float
    host: str
    local: bool
    purpose: str
    method: str
    path: str
    sent: int
    received: int = 0
    status: int = 0
    held: Held = field(default_factory=Held)


class Ledger:
    """Entries in files of a folder, the oldest dropped beyond a size; any thread may write."""

    def __init__(
        self, folder: Path, limit: int = LIMIT, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._limit, self._clock = folder, limit, clock
        self._lock = Lock()

    def begin(
        self, host: str, local: bool, purpose: str, method: str, path: str, sent: int, held: Held
    ) -> str:
        """Note a request that is about to leave; return its id. Raises OSError."""
        entry = Entry(
            uuid.uuid4().hex[:16], self._clock(), host, local, purpose, method, path, sent
        )
        line = {**asdict(entry), "held": asdict(held)}
        self._append(line)
        return entry.id

    def end(self, entry_id: str, status: int, received: int) -> None:
        """Note how the reply to a request ended. Raises OSError."""
        self._append({"id": entry_id, "status": status, "received": received})

    def entries(self) -> list[Entry]:
        """Return what is kept, the newest first. Raises OSError."""
        found: dict[str, dict[str, Any]] = {}
        for part in self._parts():
            for number, line in enumerate(part.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    told = json.loads(line)
                    found.setdefault(told["id"], {}).update(told)
                except (ValueError, KeyError, TypeError) as error:
                    _LOG.warning("line %d of %s cannot be read: %s", number, part.name, error)
        made = [_entry(told) for told in found.values() if "host" in told]
        return sorted(made, key=lambda entry: entry.time, reverse=True)

    def clear(self) -> None:
        """Forget all. Raises OSError."""
        with self._lock:
            for part in self._parts():
                part.unlink()

    def _append(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._present(len(text)).open("ab") as file:
                file.write(text)

    def _present(self, room: int) -> Path:
        """Return the file to write to; a full one is followed by a new one, old ones go."""
        parts = self._parts()
        if parts and parts[-1].stat().st_size + room <= self._limit // PARTS:
            return parts[-1]
        number = int(parts[-1].stem.rpartition("-")[2]) + 1 if parts else 1
        for old in parts[: max(0, len(parts) - PARTS + 1)]:
            old.unlink()
        return self._folder / f"sent-{number:06}.jsonl"

    def _parts(self) -> list[Path]:
        return sorted(self._folder.glob("sent-[0-9]*.jsonl"))


def as_csv(entries: Iterable[Entry]) -> str:
    """Return entries as a table in CSV, the time in UTC, with a line of headings.

    A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    named = [item.name for item in fields(Entry) if item.name != "held"]
    writer.writerow([*named, *(item.name for item in fields(Held))])
    for entry in entries:
        row = {**asdict(entry), **asdict(entry.held)}
        row["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.time))
        cells = [row[name] for name in (*named, *asdict(entry.held))]
        writer.writerow([_cell(value) for value in cells])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        value = "; ".join(value)
    harmful = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if harmful else value


def _entry(told: dict[str, Any]) -> Entry:
    held = told.pop("held", {})
    lists = {key: tuple(value) for key, value in held.items() if isinstance(value, list)}
    known = {item.name for item in fields(Entry)}
    rest = {key: value for key, value in told.items() if key in known}
    return Entry(**rest, held=Held(**lists, more=int(held.get("more", 0))))
