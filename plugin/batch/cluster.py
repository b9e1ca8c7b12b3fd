# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts the process that speaks with Dask, hands it the jobs, and takes in how each ended."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QProcess, QProcessEnvironment

from ..dependency.interpreter import find_interpreter
from ..llm.base import RunCancelled
from ..settings import Settings
from ..workflow.file import dumps
from ..workflow.graph import Graph
from .job import BatchError, Ended, Job

NEEDED = "distributed"
_LAUNCH = Path(__file__).with_name("launch.py")
MISSING = (
    "A batch needs the Python package distributed (Dask), which is not there. Open Settings > "
    "Options > Geo-OLM > Privacy and packages, tick Dask and press Install."
)
_LOG = logging.getLogger(__name__)
_SITES = ("site-packages", "dist-packages")
_START_MS, _TICK_MS = 20_000, 100
_BEGIN_S = 120.0
_STOP_S = 1.2
_END_S = 20.0
_RENEW = 200
_MEMORY = 4 << 30
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Plan:
    """How a batch runs: workers of a cluster on this machine, else the address of a scheduler.

    A failed job is run again `retries` times; a QGIS is renewed after `renew` jobs, or when it
    holds more than `memory` bytes.
    """

    workers: int = 2
    scheduler: str = ""
    retries: int = 1
    renew: int = _RENEW
    memory: int = _MEMORY


def is_there() -> bool:
    """Tell whether Dask's scheduler can be imported here, without importing it."""
    return importlib.util.find_spec(NEEDED) is not None


class Cluster:
    """One run of the jobs. Any thread; it blocks until all ended or `cancelled` turns true.

    `on_end` is told how each job ended, `on_workers` the process ids of the workers.
    """

    def __init__(self, graph: Graph, settings: Settings, plan: Plan, output: Path) -> None:
        self._graph, self._settings = graph, settings
        self._plan, self._output = plan, output
        self._text = b""
        self._fault = ""
        self._over = False
        self._said: list[str] = []

    def run(
        self,
        jobs: Sequence[tuple[Job, str]],
        on_end: Callable[[Ended], None],
        on_workers: Callable[[dict[str, int]], None],
        cancelled: Cancelled,
    ) -> None:
        """Run jobs, each with its key. Raises BatchError when the cluster fails."""
        scratch = tempfile.mkdtemp(prefix="geo-olm-")
        try:
            try:
                process = self._started(cancelled)
            except RunCancelled:
                return
            try:
                process.write(json.dumps(self._plan_of(jobs, scratch)).encode("utf-8") + b"\n")
                self._listen(process, on_end, on_workers, cancelled)
            finally:
                _end(process, _STOP_S if cancelled() else _END_S)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        if self._fault and not cancelled():
            raise BatchError(self._fault)
        if not self._over and not cancelled():
            _LOG.warning("the cluster ended early: %s", "\n".join(self._said[-20:]))
            last = f" Its last line: {self._said[-1]}" if self._said else ""
            raise BatchError(f"The process of the cluster ended early.{last}")

    def _listen(
        self,
        process: QProcess,
        on_end: Callable[[Ended], None],
        on_workers: Callable[[dict[str, int]], None],
        cancelled: Cancelled,
    ) -> None:
        running = QProcess.ProcessState.Running
        until = time.monotonic() + _BEGIN_S
        while not self._over and not cancelled():
            process.waitForReadyRead(_TICK_MS)
            stopped = process.state() != running
            for told in self._events(process):
                kind = told.get("event")
                if kind == "job":
                    known = {one.name for one in fields(Ended)}
                    on_end(Ended(**{key: told[key] for key in known & set(told)}))
                elif kind == "cluster":
                    until = math.inf
                    on_workers(dict(told["workers"]))
                elif kind == "fault":
                    self._fault = str(told["reason"])
                elif kind == "end":
                    self._over = True
            if time.monotonic() > until:
                last = f" Its last line: {self._said[-1]}" if self._said else ""
                self._fault = f"The cluster did not start within {_BEGIN_S:.0f} s.{last}"
            if stopped or self._fault:
                return

    def _events(self, process: QProcess) -> list[dict[str, Any]]:
        """Return what came in whole lines; lines that are none of ours go to the log."""
        errors = bytes(process.readAllStandardError()).decode("utf-8", "replace")
        self._said += [line for line in errors.splitlines() if line.strip()]
        *lines, self._text = (self._text + bytes(process.readAllStandardOutput())).split(b"\n")
        found = []
        for line in lines:
            try:
                told = json.loads(line)
            except ValueError:
                told = None
            if isinstance(told, dict):
                found.append(told)
            else:
                _LOG.info("the cluster said: %s", line.decode("utf-8", "replace"))
        return found

    def _started(self, cancelled: Cancelled) -> QProcess:
        python = find_interpreter(cancelled)
        if python is None:
            raise BatchError(
                "The Python program of this QGIS was not found, so no workers can be started. "
                "Repair the installation of QGIS."
            )
        self._command = [str(python.path), str(_LAUNCH)]
        process = QProcess()
        whole = QProcessEnvironment.systemEnvironment()
        for name, value in environment().items():
            whole.insert(name, value)
        process.setProcessEnvironment(whole)
        process.start(self._command[0], [*self._command[1:], "driver"])
        if not process.waitForStarted(_START_MS):
            raise BatchError(f"{python.path} could not be started: {process.errorString()}.")
        return process

    def _plan_of(self, jobs: Sequence[tuple[Job, str]], scratch: str) -> dict[str, Any]:
        told = [{"id": job.id, "key": key, "variables": dict(job.variables)} for job, key in jobs]
        begin = {
            "workflow": dumps(self._graph),
            "settings": asdict(self._settings),
            "profile": QgsApplication.qgisSettingsDirPath(),
        }
        setup = {
            "batch": uuid.uuid4().hex[:8],
            "command": [*self._command, "child"],
            "environment": environment(),
            "begin": begin,
            "output": str(self._output),
            "retries": self._plan.retries,
            "renew": self._plan.renew,
            "memory": self._plan.memory,
            "scratch": "" if self._plan.scheduler else scratch,
        }
        workers = max(1, min(self._plan.workers, len(jobs)))
        return {"jobs": told, "workers": workers, "scheduler": self._plan.scheduler, "setup": setup}


def environment() -> dict[str, str]:
    """Return what another Python needs so that it finds what this one does: packages and QGIS."""
    sites = [one for one in sys.path if Path(one).name in _SITES]
    specs = [importlib.util.find_spec(name) for name in ("qgis", NEEDED)]
    own = [str(Path(one.origin).parent.parent) for one in specs if one and one.origin]
    return {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys((*own, *sites))),
        "QGIS_PREFIX_PATH": QgsApplication.prefixPath(),
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _end(process: QProcess, seconds: float) -> None:
    """Close the input of the process, which ends it, and kill it where it does not within time."""
    process.closeWriteChannel()
    until = time.monotonic() + seconds
    while process.state() != QProcess.ProcessState.NotRunning:
        if time.monotonic() > until:
            process.kill()
            process.waitForFinished(_TICK_MS * 10)
            return
        process.waitForFinished(_TICK_MS)
