# SPDX-License-Identifier: GPL-2.0-or-later
"""The process that speaks with Dask for QGIS: it reads a plan, runs the jobs, and tells each end.

Its input is the plan in one line of JSON; when the input ends before the jobs do, all is stopped.
Each line that it writes is a JSON object with "event": cluster, job, fault or end.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import logging
import os
import queue
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MODULE = "geo_olm_batch_worker"
_TICK_S = 0.1
_CONNECT_S = 5.0
_WORKERS_S = 30.0
_CLOSE_S = 3.0
Told = dict[str, Any]


def main() -> int:
    """Run the plan on the standard input; 0 once all that was told is told."""
    plan = json.loads(sys.stdin.readline())
    stopping = threading.Event()
    threading.Thread(target=_watch, args=(stopping,), daemon=True).start()
    code = 0
    try:
        with _client(plan) as client, _worker(client, plan["setup"]["scratch"]) as worker:
            _tell({"event": "cluster", "workers": client.run(os.getpid)})
            _run(client, worker, plan, stopping)
    except Exception as error:
        logging.getLogger(__name__).exception("the cluster failed")
        _tell({"event": "fault", "reason": _sentence(error, plan)})
        code = 1
    _tell({"event": "end"})
    return code


def _watch(stopping: threading.Event) -> None:
    """Wait until QGIS closes the input; read without the lock that the interpreter's end takes."""
    os.read(sys.stdin.fileno(), 1)
    stopping.set()


def _tell(event: Told) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody listens any more
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


@contextlib.contextmanager
def _client(plan: Told) -> Iterator[Any]:
    """Give a client of the scheduler that the plan names, else of a cluster of this machine."""
    import dask
    from distributed import Client, LocalCluster, Security

    if plan["scheduler"]:
        with Client(plan["scheduler"], timeout=_CONNECT_S, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=_WORKERS_S)
            yield client
        return
    secured = importlib.util.find_spec("cryptography") is not None
    security = Security.temporary() if secured else None
    with (
        dask.config.set({"distributed.scheduler.http.routes": []}),
        LocalCluster(
            n_workers=plan["workers"],
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
            local_directory=plan["setup"]["scratch"],
            silence_logs=logging.ERROR,
            security=security,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(1, timeout=_WORKERS_S)
        yield client


@contextlib.contextmanager
def _worker(client: Any, scratch: str) -> Iterator[Any]:
    """Give the module of the workers, sent to each of them under a name of its own: they have
    neither the plugin's package nor QGIS."""
    with tempfile.TemporaryDirectory(dir=scratch or None) as folder:
        copy = Path(folder, f"{_MODULE}.py")
        shutil.copyfile(Path(__file__).with_name("worker.py"), copy)
        sys.path.insert(0, folder)
        client.upload_file(str(copy))
        yield importlib.import_module(_MODULE)
        sys.path.remove(folder)


def _run(client: Any, worker: Any, plan: Told, stopping: threading.Event) -> None:
    """Hand out the jobs and tell their ends, in the order in which they come."""
    setup, jobs = plan["setup"], plan["jobs"]
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    keys = [f"geo-olm-{setup['batch']}-{at}" for at in range(len(jobs))]
    futures = client.map(worker.run_job, jobs, key=keys, setup=setup, pure=False, retries=0)
    waiting = {future.key: job for future, job in zip(futures, jobs)}
    for future in futures:
        future.add_done_callback(ended.put)
    try:
        while waiting and not stopping.is_set():
            with contextlib.suppress(queue.Empty):
                future = ended.get(timeout=_TICK_S)
                _tell({"event": "job", **_ended(future, waiting.pop(future.key))})
    finally:
        client.cancel(futures, force=True)
        with contextlib.suppress(Exception):
            client.run(worker.stop, setup["batch"])


def _ended(future: Any, job: Told) -> Told:
    """Return how a job ended; one whose workers were lost has failed."""
    if future.status == "finished":
        return dict(future.result(timeout=_CLOSE_S))
    reason = "Stopped." if future.cancelled() else _sentence(future.exception(timeout=_CLOSE_S), {})
    status = "cancelled" if future.cancelled() else "failed"
    return {"id": job["id"], "key": job["key"], "status": status, "reason": reason}


def _sentence(error: BaseException | None, plan: Told) -> str:
    """Return what an error of Dask's means for the user."""
    if type(error).__name__ == "KilledWorker":
        return "Its worker was lost again and again. The job may need more memory than there is."
    if plan.get("scheduler"):
        return (
            f"The scheduler at {plan['scheduler']} did not answer, or has no workers "
            f"({type(error).__name__}: {error}). Check the address, and that workers run."
        )
    return f"The cluster failed ({type(error).__name__}: {error})."
