# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs inside a Dask worker: it hands jobs to QGIS processes of its own, and never is one.

The driver sends this module to each worker; it needs neither QGIS nor the plugin there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess  # nosec B404
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

JOBS = "jobs"
RECORD = "record.json"
_ATTRIBUTE = "geo_olm_children"
_NO_WINDOW = 0x08000000
_PATIENCE_S = 5.0
_TAIL = 2000


def run_job(job: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """Run one job and return how it ended: {"id", "key", "status", "reason", "seconds",
    "attempts", "worker"}.

    `setup` holds command, environment, begin (the first line for a child), output, retries, renew,
    memory and scratch. Runs on a thread of a Dask worker; nothing is raised for a job that fails.
    """
    began = time.monotonic()
    ended: dict[str, Any] = {"status": "failed", "reason": "It was not run."}
    attempts = 0
    children = _children(setup)
    while attempts <= setup["retries"] and ended["status"] == "failed":
        attempts += 1
        ended = _attempt(job, setup, children)
    told = {key: ended.get(key, "") for key in ("status", "reason")}
    seconds = round(time.monotonic() - began, 3)
    own = {"seconds": seconds, "attempts": attempts, "worker": str(_here().name)}
    return {"id": job["id"], "key": job["key"], **told, **own}


def stop(batch: str, dask_worker: Any = None) -> None:
    """End the children of a batch on a worker, also those that work, and start no more."""
    found = _held(dask_worker).pop(batch, None)
    if found is not None:
        found.stop()


def _attempt(job: dict[str, Any], setup: dict[str, Any], children: Children) -> dict[str, Any]:
    """Run a job into a fresh folder, which takes the place of the job's own once it is whole."""
    final = Path(setup["output"], JOBS, job["id"])
    kept = _kept(final, job["key"])
    if kept is not None:  # done by a worker that was lost before it could say so
        return kept
    part = final.with_name(f".{job['id']}.{uuid.uuid4().hex[:8]}")
    try:
        part.mkdir(parents=True)
        ended = children.run({"job": job, "folder": str(part)})
        if ended["status"] in ("ok", "rejected"):
            _put(part, final)
        return ended
    except OSError as error:
        return {"status": "failed", "reason": f"{error.strerror or error}: {error.filename}."}
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _kept(final: Path, key: str) -> dict[str, Any] | None:
    try:
        found = json.loads((final / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("key") == key else None


def _put(part: Path, final: Path) -> None:
    """Move a whole folder into place, an older one out of it."""
    old = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}")
    if final.exists():
        final.replace(old)
    part.replace(final)
    shutil.rmtree(old, ignore_errors=True)


class Child:
    """One QGIS process, asked by lines of JSON; used by one thread at a time."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._folder = tempfile.mkdtemp(prefix="geo-olm-", dir=setup["scratch"] or None)
        self._log = Path(self._folder, "log.txt")
        environment = {**os.environ, **setup["environment"]}
        environment.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), self._folder))
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # nosec B603
                setup["command"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                env=environment,
                creationflags=_NO_WINDOW if sys.platform == "win32" else 0,
            )
        self.jobs = 0
        self._send(setup["begin"])

    def ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """Return the child's answer, None when it ended instead."""
        self.jobs += 1
        if not self._send(question):
            return None
        try:
            line = self._process.stdout.readline() if self._process.stdout else b""
            return dict(json.loads(line)) if line else None
        except (OSError, ValueError):
            return None

    def is_alive(self) -> bool:
        """Tell whether the process still runs; one that idles for long ends by itself."""
        return self._process.poll() is None

    def memory(self) -> int:
        """Return the bytes of memory that the child holds, 0 where they are not known."""
        import psutil

        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def end(self) -> None:
        """Let an idle child end, and kill it where it does not."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        self._gone(_PATIENCE_S)

    def kill(self) -> None:
        """Kill the child; whoever waits for its answer gets None."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def why(self) -> str:
        """Return how a child ended that gave no answer, with the last line that it wrote."""
        code = self._gone(_PATIENCE_S)
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].splitlines()
        except OSError:
            lines = []
        said = [line.strip() for line in lines if line.strip()]
        last = f" Its last line: {said[-1]}" if said else ""
        return f"QGIS ended in the middle of the job (status {code}).{last}"

    def clear(self) -> None:
        """Delete the child's own temporary folder, once it is gone."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _send(self, value: dict[str, Any]) -> bool:
        try:
            if self._process.stdin:
                self._process.stdin.write(json.dumps(value).encode("utf-8") + b"\n")
                self._process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def _gone(self, patience_s: float) -> int:
        try:
            return self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class Children:
    """The QGIS processes of a batch on one worker: as many as it runs jobs at the same time."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._setup = setup
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: list[Child] = []
        self._stopped = False

    def run(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask an idle child, or a new one; one that ended, is worn or holds much is let go."""
        with self._lock:
            if self._stopped:
                return {"status": "cancelled", "reason": "Stopped."}
            idle = [one for one in self._idle if one.is_alive()]
            child = idle[-1] if idle else self._started()
            self._idle = idle[:-1]
            if isinstance(child, str):
                return {"status": "failed", "reason": child}
            self._busy.append(child)
        answer = child.ask(question)
        with self._lock:
            self._busy.remove(child)
            keeps = answer is not None and not self._stopped and not self._is_worn(child)
            if keeps:
                self._idle.append(child)
        if answer is None:
            reason = child.why()
            answer = {"status": "failed", "reason": reason}
        if self._stopped and answer["status"] == "failed":
            answer = {"status": "cancelled", "reason": "Stopped."}
        if not keeps:
            child.end()
            child.clear()
        return answer

    def stop(self) -> None:
        """Kill all children and start no more. Any thread."""
        with self._lock:
            self._stopped = True
            idle, busy = self._idle, list(self._busy)
            self._idle = []
        for child in (*idle, *busy):
            child.kill()
        for child in idle:
            child.end()
            child.clear()

    def _started(self) -> Child | str:
        try:
            return Child(self._setup)
        except OSError as error:
            command = self._setup["command"][0]
            return (
                f"QGIS's Python {command} could not be started on {_here().name} "
                f"({error.strerror or error}). A cluster of several machines needs QGIS, the "
                "plugin and the files at the same paths on each."
            )

    def _is_worn(self, child: Child) -> bool:
        return child.jobs >= self._setup["renew"] or child.memory() > self._setup["memory"]


def _here() -> Any:
    """Return the Dask worker that this thread, or a function sent to it, runs in."""
    from distributed import get_worker

    return get_worker()


def _held(worker: Any) -> dict[str, Children]:
    held: dict[str, Children] = worker.__dict__.setdefault(_ATTRIBUTE, {})
    return held


def _children(setup: dict[str, Any]) -> Children:
    """Return the children of this batch on this worker."""
    return _held(_here()).setdefault(setup["batch"], Children(setup))
