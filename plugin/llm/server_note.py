# SPDX-License-Identifier: GPL-2.0-or-later
"""The note of a running server, by which another process, or a later one, finds it again."""

from __future__ import annotations

import http.client
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from . import process
from .server_plan import HOST


@dataclass(frozen=True)
class Started:
    """What is noted of a running server; `lies` says in words where its model lies."""

    pid: int
    port: int
    owner: int
    owner_birth: str
    program: str
    model: str
    name: str
    context: int
    lies: str = ""

    @property
    def owner_lives(self) -> bool:
        """Whether the program that started the server still runs."""
        return process.alive(self.owner) and process.birth(self.owner) == self.owner_birth

    @property
    def is_real(self) -> bool:
        """Whether the process is the server noted, by its command line or by what it serves."""
        if not process.alive(self.pid):
            return False
        words = process.command_line(self.pid)
        if words is not None:
            return self.model in words and str(self.port) in words
        return status(self.port, "/props", self.model) == 200

    @property
    def answers(self) -> bool:
        """Whether the server runs and has loaded its model."""
        return process.alive(self.pid) and status(self.port) == 200


class Note:
    """The file that holds what is noted."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Started | None:
        """Return what is noted, None when there is nothing that can be read."""
        try:
            return Started(**json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, started: Started) -> None:
        """Note a server, whole or not at all."""
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(asdict(started)), encoding="utf-8")
        part.replace(self._path)

    def clear(self) -> None:
        """Take the note away."""
        self._path.unlink(missing_ok=True)


def status(port: int, path: str = "/health", holding: str = "") -> int:
    """Return the HTTP status of a page, 0 when nothing answers or it does not hold the text."""
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", errors="replace")
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
    return answer.status if not holding or json.dumps(holding)[1:-1] in text else 0
