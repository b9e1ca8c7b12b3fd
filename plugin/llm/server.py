# SPDX-License-Identifier: GPL-2.0-or-later
"""The llama.cpp server that the plugin owns: started on a free loopback port, shared, and ended."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qgis.PyQt.QtCore import (
    QCoreApplication,
    QIODevice,
    QProcess,
    QProcessEnvironment,
    Qt,
)

from . import process
from .base import Cancelled, ModelError, OutOfMemory, RunCancelled
from .gguf import broken, read_model_file
from .watch import never

HOST = "127.0.0.1"
START_S = 300.0
MAX_THREADS = 8
BATCH = 256
"""Tokens read at a time: a stop takes effect between two batches."""

_STEP_S = 0.1
_ENVIRONMENT = {"LLAMA_ARG_OFFLINE": "1", "LLAMA_ARG_CACHE_RAM": "512", "LLAMA_ARG_UI": "0"}
"""Options that older servers do not know are given as variables, which they leave alone."""


@dataclass(frozen=True)
class ServerPlan:
    """What a server is started with; two equal plans share one server.

    `threads` 0 takes as many as the machine has, eight at most.
    """

    program: Path
    model: Path
    name: str
    context: int
    threads: int = 0


@dataclass(frozen=True)
class _Started:
    """What is noted of a running server, so that another process, or a later one, finds it."""

    pid: int
    port: int
    owner: int
    owner_birth: str
    program: str
    model: str
    name: str
    context: int

    @property
    def owner_lives(self) -> bool:
        return process.alive(self.owner) and process.birth(self.owner) == self.owner_birth


class EmbeddedServer:
    """One llama.cpp server for one plan; `folder` keeps its log and the note of its process.

    Any thread may start and stop it: the process is detached and known by its number only (Qt
    opens no window for it on Windows), and who comes second waits for who starts it. It ends
    with this program at the latest; one left behind by a crash is taken over or ended by the
    next start.
    """

    def __init__(self, plan: ServerPlan, folder: Path, keeper: ServerKeeper | None = None) -> None:
        self.plan = plan
        self._keeper = keeper
        self._lock = keeper.lock if keeper else threading.Lock()
        self.log = folder / "server.log"
        self._note = folder / "server.json"
        self._running: _Started | None = None
        self._owned = False
        self._ends_with_us = False

    @property
    def address(self) -> str:
        """The base address while the server runs, else ""."""
        return f"http://{HOST}:{self._running.port}" if self._running else ""

    @property
    def pid(self) -> int:
        """The number of the server's process, or 0."""
        return self._running.pid if self._running else 0

    def log_text(self) -> str:
        """Return what the server has written into its log, "" without one."""
        if not self.log.is_file():
            return ""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def start(self, cancelled: Cancelled = never) -> str:
        """Start the server, wait until it is ready, return its address. Raises as `starting`."""
        for _ in self.starting(cancelled):
            pass
        return self.address

    def starting(self, cancelled: Cancelled = never) -> Iterator[float]:
        """Start the server if it does not run; yield the seconds waited until it is ready.

        Raises BrokenModelFile, OutOfMemory, ModelError, and RunCancelled, after which nothing
        of it is left running.
        """
        begun = time.monotonic()
        while not self._lock.acquire(timeout=_STEP_S):
            if cancelled():
                raise RunCancelled
            yield time.monotonic() - begun
        try:
            if not self._running or not self._answers(self._running):
                yield from self._brought_up(begun, cancelled)
        finally:
            self._lock.release()

    def stop(self) -> None:
        """End the server if this process owns it; quiet when nothing runs."""
        running, self._running = self._running, None
        if running and self._owned:
            self._end_with_us(False)
            process.end(running.pid)
            self._note.unlink(missing_ok=True)

    def _brought_up(self, begun: float, cancelled: Cancelled) -> Iterator[float]:
        self.stop()
        read_model_file(self.plan.model)
        if self._keeper is not None:
            self._keeper.end_others(self)
        found = self._found()
        self._owned = found is None or not found.owner_lives
        self._running = self._adopted(found) if found else self._launched()
        try:
            yield from self._loading(self._running, begun, cancelled)
        except BaseException:
            self.stop()
            raise

    def _loading(self, running: _Started, begun: float, cancelled: Cancelled) -> Iterator[float]:
        while not self._answers(running):
            waited = time.monotonic() - begun
            if cancelled():
                raise RunCancelled
            if not process.alive(running.pid):
                raise self._failure()
            if waited > START_S:
                raise ModelError(
                    f"{self.plan.model.name} was not loaded in {START_S:.0f} s. "
                    "Choose a smaller model.",
                    self._log_end(),
                )
            yield waited
            time.sleep(_STEP_S)

    def _launched(self) -> _Started:
        """Start the process and note it. Raises ModelError when it cannot be started."""
        plan, port = self.plan, _free_port()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)
        child = QProcess()
        child.setProgram(str(plan.program))
        child.setArguments(arguments(plan, port))
        child.setWorkingDirectory(str(self.log.parent))
        child.setStandardOutputFile(str(self.log), QIODevice.OpenModeFlag.Append)
        child.setStandardErrorFile(str(self.log), QIODevice.OpenModeFlag.Append)
        environment = QProcessEnvironment.systemEnvironment()
        for key, value in _ENVIRONMENT.items():
            environment.insert(key, value)
        child.setProcessEnvironment(environment)
        done, pid = child.startDetached()
        if not done:
            raise ModelError(
                f"{plan.program} could not be started. Choose another server program.",
                child.errorString(),
            )
        self._end_with_us(True)
        return self._noted(int(pid), port)

    def _end_with_us(self, wanted: bool) -> None:
        """Stop the server when this program ends; QGIS ends without Python's own exit calls."""
        application = QCoreApplication.instance()
        if wanted == self._ends_with_us:
            return
        self._ends_with_us = wanted
        if wanted:
            atexit.register(self.stop)
            if application is not None:
                direct = Qt.ConnectionType.DirectConnection
                application.aboutToQuit.connect(self.stop, direct)
        else:
            atexit.unregister(self.stop)
            if application is not None:
                application.aboutToQuit.disconnect(self.stop)

    def _noted(self, pid: int, port: int) -> _Started:
        owner, plan = os.getpid(), self.plan
        started = _Started(
            pid,
            port,
            owner,
            process.birth(owner),
            str(plan.program),
            str(plan.model),
            plan.name,
            plan.context,
        )
        part = self._note.with_suffix(".part")
        part.write_text(json.dumps(asdict(started)), encoding="utf-8")
        part.replace(self._note)
        return started

    def _found(self) -> _Started | None:
        """Return a running server to share; one that a crash left and nobody needs is ended.

        Raises ModelError when another process runs a server with another model: two at once
        would be too slow to use.
        """
        try:
            noted = _Started(**json.loads(self._note.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        if not process.alive(noted.pid) or not _is_ours(noted):
            self._note.unlink(missing_ok=True)
            return None
        plan = self.plan
        if (noted.model, noted.name) == (str(plan.model), plan.name) and (
            noted.context >= plan.context and (noted.owner_lives or _status(noted.port) == 200)
        ):
            return noted
        if noted.owner_lives and noted.owner != os.getpid():
            raise ModelError(
                f"The model {noted.name} is in use by another QGIS on this machine. "
                "Choose that model, or close the other QGIS."
            )
        process.end(noted.pid)
        self._note.unlink(missing_ok=True)
        return None

    def _adopted(self, found: _Started) -> _Started:
        if not self._owned:
            return found
        self._end_with_us(True)
        return self._noted(found.pid, found.port)

    def _answers(self, running: _Started) -> bool:
        return process.alive(running.pid) and _status(running.port) == 200

    def _failure(self) -> ModelError:
        """Return why a server ended before it was ready, from its log."""
        text = self._log_end()
        low = text.lower()
        if any(word in low for word in ("out of memory", "failed to allocate", "bad_alloc")):
            return OutOfMemory(
                f"This machine has not enough memory for {self.plan.model.name}. "
                "Choose a smaller model, or a smaller context in the options.",
                text,
            )
        if "failed to load model" in low or "error loading model" in low:
            return broken(self.plan.model, text)
        return ModelError(
            f"The model server {self.plan.program.name} ended at once. "
            f"Look at its log, {self.log.name}, or choose another server program.",
            text,
        )

    def _log_end(self) -> str:
        return self.log_text()[-3000:]


class ServerKeeper:
    """Keeps the embedded servers of this process, of which one runs at a time.

    `stop` belongs into unload(). Any thread may ask.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: dict[ServerPlan, EmbeddedServer] = {}
        self.lock = threading.Lock()

    def server(self, plan: ServerPlan) -> EmbeddedServer:
        """Return the server for a plan, running or not; starting it ends any other."""
        return self._servers.setdefault(plan, EmbeddedServer(plan, self._folder, self))

    def end_others(self, wanted: EmbeddedServer) -> None:
        """End every server but one."""
        for server in list(self._servers.values()):
            if server is not wanted:
                server.stop()

    def stop(self) -> None:
        """End whatever runs."""
        for server in list(self._servers.values()):
            server.stop()


def arguments(plan: ServerPlan, port: int) -> list[str]:
    """Return the server's command line after the program: one slot, the chat template of the
    model, loopback only."""
    threads = plan.threads or max(1, min(MAX_THREADS, os.cpu_count() or 1))
    options: dict[str, Any] = {
        "--model": plan.model,
        "--alias": plan.name,
        "--host": HOST,
        "--port": port,
        "--ctx-size": plan.context,
        "--parallel": 1,
        "--batch-size": BATCH,
        "--threads": threads,
    }
    return ["--jinja", *(str(word) for pair in options.items() for word in pair)]


def _is_ours(noted: _Started) -> bool:
    """Tell whether a process is the server noted, by its command line or by what it serves."""
    words = process.command_line(noted.pid)
    if words is not None:
        return noted.model in words and str(noted.port) in words
    return _status(noted.port, "/props", noted.model) == 200


def _status(port: int, path: str = "/health", holding: str = "") -> int:
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
