# SPDX-License-Identifier: GPL-2.0-or-later
"""The llama.cpp server that the plugin owns: started on a free loopback port, on a graphics card
where there is one, shared, and ended."""

from __future__ import annotations

import atexit
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from qgis.PyQt.QtCore import (
    QCoreApplication,
    QIODevice,
    QLockFile,
    QProcess,
    QProcessEnvironment,
    Qt,
)

from . import process
from .base import Cancelled, ModelError, OutOfMemory, Remark, RunCancelled
from .device import Device, chooses_layers, devices, layers_that_fit, names_of, placement
from .gguf import ModelFile, broken, read_model_file
from .server_note import Note, Started
from .server_plan import ENVIRONMENT, HOST, ON_PROCESSOR, ServerPlan, arguments
from .watch import never

START_S = 300.0
_STEP_S = 0.1
_ASK_MS = 10_000


class EmbeddedServer:
    """One llama.cpp server for one plan; `folder` keeps its log and the note of its process.

    Any thread may start and stop it: the process is detached and known by its number only (Qt
    opens no window for it on Windows), and who comes second waits for who starts it, in another
    thread as in another program. It ends with this program at the latest; one left behind by a
    crash is taken over or ended by the next start.
    """

    def __init__(self, plan: ServerPlan, folder: Path, keeper: ServerKeeper | None = None) -> None:
        self.plan = plan
        self._keeper = keeper
        self._lock = keeper.lock if keeper else threading.Lock()
        self.log = folder / "server.log"
        self._folder = folder
        self._note = Note(folder / "server.json")
        self._running: Started | None = None
        self._owned = False
        self._ends_with_us = False
        self._card_fails = False
        self._remarks: list[Remark] = []

    @property
    def address(self) -> str:
        """The base address while the server runs, else ""."""
        return f"http://{HOST}:{self._running.port}" if self._running else ""

    @property
    def pid(self) -> int:
        """The number of the server's process, or 0."""
        return self._running.pid if self._running else 0

    @property
    def residence(self) -> str:
        """Where the model lies, as a part of a sentence; "" while it is not loaded."""
        return self._running.lies if self._running else ""

    def log_text(self) -> str:
        """Return what the server has written into its log, "" without one."""
        if not self.log.is_file():
            return ""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def told(self) -> tuple[Remark, ...]:
        """Return what the last start had to say to the user, once."""
        told, self._remarks = tuple(self._remarks), []
        return told

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
            if not self._running or not self._running.answers:
                yield from self._alone(begun, cancelled)
        finally:
            self._lock.release()

    def stop(self) -> None:
        """End the server if this process owns it; quiet when nothing runs."""
        running, self._running = self._running, None
        if running and self._owned:
            self._end_with_us(False)
            process.end(running.pid)
            self._note.clear()

    def _alone(self, begun: float, cancelled: Cancelled) -> Iterator[float]:
        """Bring the server up while no other program does; its lock goes with its process."""
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = QLockFile(str(self._folder / "server.lock"))
        lock.setStaleLockTime(0)
        while not lock.tryLock(int(_STEP_S * 1000)):
            if lock.error() == QLockFile.LockError.PermissionError:
                raise ModelError(
                    f"The folder {self._folder} cannot be written, so no model server was "
                    "started. Mend its permissions, or set another folder by GEO_OLM_STORE."
                )
            if cancelled():
                raise RunCancelled
            yield time.monotonic() - begun
        try:
            yield from self._brought_up(begun, cancelled)
        finally:
            lock.unlock()

    def _brought_up(self, begun: float, cancelled: Cancelled) -> Iterator[float]:
        self.stop()
        model = read_model_file(self.plan.model)
        if self._keeper is not None:
            self._keeper.end_others(self)
        found = self._found()
        if found is not None:
            self._owned = not found.owner_lives
            self._running = self._adopted(found)
            yield from self._loading(self._running, begun, cancelled)
            return
        self._owned = True
        cards, words = self._offload(model)
        try:
            yield from self._loaded(words, cards, begun, cancelled)
        except ModelError:
            if not cards:
                raise
            self._card_fails = True
            yield from self._loaded(ON_PROCESSOR, (), begun, cancelled)
            self._remarks.append(
                Remark(
                    f"The model could not be started on {names_of(cards)}, so it runs on the "
                    f"processor and is slower. {self.log.name}.1 tells why.",
                    warning=True,
                )
            )

    def _loaded(
        self,
        offload: Sequence[str],
        cards: tuple[Device, ...],
        begun: float,
        cancelled: Cancelled,
    ) -> Iterator[float]:
        """Start a process and wait until it is ready; notes where the model lies."""
        self._running = self._launched(offload)
        yield from self._loading(self._running, begun, cancelled)
        found = placement(self.log_text(), cards)
        lies = found.words if found else "on the processor"
        self._running = replace(self._running, lies=lies)
        self._note.write(self._running)
        if found and 0 < found.on_card < found.layers:
            self._remarks.append(
                Remark(f"Only {lies} fit: the rest runs on the processor and slows it down.", True)
            )

    def _loading(self, running: Started, begun: float, cancelled: Cancelled) -> Iterator[float]:
        """Wait for a server; one that does not come up is ended."""
        try:
            while not running.answers:
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
        except BaseException:
            self.stop()
            raise

    def _offload(self, model: ModelFile) -> tuple[tuple[Device, ...], tuple[str, ...]]:
        """Return the graphics cards to use, and the words that put on them as many layers as fit.

        After a start on a card has failed, the next ones are on the processor.
        """
        cards = devices(_printed(self.plan.program, "--list-devices"))
        if not cards:
            return (), ()
        if self._card_fails or not self.plan.graphics:
            return (), ON_PROCESSOR
        if chooses_layers(_printed(self.plan.program, "--help")):
            return cards, ("--n-gpu-layers", "auto")
        fit = layers_that_fit(model, cards, model.token_bytes * self.plan.context)
        return cards, ("--n-gpu-layers", str(fit))

    def _launched(self, offload: Sequence[str]) -> Started:
        """Start the process and note it. Raises ModelError when it cannot be started."""
        plan, port = self.plan, _free_port()
        if self.log.is_file():
            self.log.replace(self.log.with_name(f"{self.log.name}.1"))
        child = QProcess()
        child.setProgram(str(plan.program))
        child.setArguments(arguments(plan, port, offload))
        child.setWorkingDirectory(str(self.log.parent))
        child.setStandardOutputFile(str(self.log), QIODevice.OpenModeFlag.Append)
        child.setStandardErrorFile(str(self.log), QIODevice.OpenModeFlag.Append)
        child.setProcessEnvironment(_environment())
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

    def _noted(self, pid: int, port: int, lies: str = "") -> Started:
        owner, plan = os.getpid(), self.plan
        started = Started(
            pid,
            port,
            owner,
            process.birth(owner),
            str(plan.program),
            str(plan.model),
            plan.name,
            plan.context,
            lies,
        )
        self._note.write(started)
        return started

    def _found(self) -> Started | None:
        """Return a running server to share; one that a crash left and nobody needs is ended.

        Raises ModelError when another process runs a server with another model: two at once
        would be too slow to use.
        """
        noted = self._note.read()
        if noted is None:
            return None
        if not noted.is_real:
            self._note.clear()
            return None
        plan = self.plan
        if (noted.model, noted.name) == (str(plan.model), plan.name) and (
            noted.context >= plan.context and (noted.owner_lives or noted.answers)
        ):
            return noted
        if noted.owner_lives and noted.owner != os.getpid():
            raise ModelError(
                f"The model {noted.name} is in use by another QGIS on this machine. "
                "Choose that model, or close the other QGIS."
            )
        process.end(noted.pid)
        self._note.clear()
        return None

    def _adopted(self, found: Started) -> Started:
        if not self._owned:
            return found
        self._end_with_us(True)
        return self._noted(found.pid, found.port, found.lies)

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


@lru_cache(maxsize=8)
def _printed(program: Path, word: str) -> str:
    """Return what a program prints when it is asked for one word; "" when it cannot say."""
    child = QProcess()
    child.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
    child.setProcessEnvironment(_environment())
    child.start(str(program), [word])
    if not child.waitForFinished(_ASK_MS):
        child.kill()
        child.waitForFinished(1000)
        return ""
    return bytes(child.readAll()).decode("utf-8", errors="replace")


def _environment() -> QProcessEnvironment:
    found = QProcessEnvironment.systemEnvironment()
    for key, value in ENVIRONMENT.items():
        found.insert(key, value)
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
