# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings models, by a download or through Ollama, and shows on every page how far it is."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, QLockFile, QObject, pyqtSignal

from ..ui.fetch_panel import FetchPanel
from ..ui.fetch_view import FetchView, Offer
from .egress import model_exchange
from .llm.base import ModelError, RunCancelled
from .llm.progress import Progress, Speed
from .llm.pull import OllamaPull
from .llm.store import Store
from .llm.transfer import DownloadError
from .llm.watch import Watch
from .place import RESOURCES, store_folder
from .runner import RunTask, finish, start
from .settings import Settings
from .supply import Supply

_EVERY_S = 0.2
_STOPPED = "Stopped. What has come is kept; the next try goes on from there."
_LOG = logging.getLogger(__name__)

Tell = Callable[[Progress], None]
Cancelled = Callable[[], bool]
Work = Callable[[Tell, Cancelled], str]
"""Brings a model; returns the sentence that says so."""


class ModelDesk(QObject):
    """One download or pull at a time, which goes on when the page that began it is closed.

    Main thread only. `changed` carries a FetchView; `brought` says that a model has come.
    """

    changed = pyqtSignal(object)
    brought = pyqtSignal()

    def __init__(self, load: Callable[[], Settings]) -> None:
        super().__init__()
        self._load = load
        self._store = Store(store_folder(), RESOURCES / "models.json")
        self._panels: list[FetchPanel] = []
        self._task: RunTask | None = None
        self._speed = Speed()
        self.view = FetchView(self._offers())

    def attach(self, panel: FetchPanel) -> None:
        """Show the models on a page and do what it asks."""
        self._panels.append(panel)
        panel.destroyed.connect(lambda *_: self._forget(panel))
        panel.download_requested.connect(self.download)
        panel.pull_requested.connect(self.pull)
        panel.cancel_requested.connect(self.cancel)
        self.view = replace(self.view, offers=self._offers())
        panel.show_view(self.view)

    def _forget(self, panel: FetchPanel) -> None:
        self._panels = [one for one in self._panels if one is not panel]

    def set_pull(self, can_pull: bool) -> None:
        """Take whether the model's server is an Ollama, which can pull."""
        if can_pull != self.view.can_pull:
            self._show(replace(self.view, can_pull=can_pull))

    def download(self, name: str = "", sources: str | None = None) -> None:
        """Download a model of the manifest, "" the first, and the server where there is none."""
        known = self._store.known()
        model = next((one for one in known if name in ("", one.name)), None)
        if model is None or self._task is not None:
            return
        settings = self._load()
        if sources is not None:
            settings = replace(settings, download_sources=sources)

        def work(tell: Tell, cancelled: Cancelled) -> str:
            with _Alone(self._store):
                Supply(settings, self._store, tell, cancelled).bring(model)
            return f"{model.name} is here."

        self._begin(model.name, work)

    def pull(self, name: str) -> None:
        """Have Ollama pull a model, at the address set, in OLLAMA_HOST, or its default."""
        if self._task is not None or not name:
            return
        settings = self._load()
        address = settings.address or os.environ.get("OLLAMA_HOST", "")

        def work(tell: Tell, cancelled: Cancelled) -> str:
            watch = Watch(settings.connect_s, settings.first_token_s, settings.first_token_s)
            pull = OllamaPull(address, watch=watch, transport=model_exchange(settings))
            for progress in pull.pull(name, cancelled):
                tell(progress)
            return f"{name} is in Ollama."

        self._begin(name, work)

    def cancel(self) -> None:
        """Stop what runs; what has come is kept, and the next try goes on from there."""
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Stop what runs and let go of the pages."""
        if self._task is not None:
            finish(self._task, 5.0)
            self._task = None
        self._panels.clear()

    def _begin(self, name: str, work: Work) -> None:
        self._speed = Speed()
        text = QCoreApplication.translate("ModelDesk", "Geo-OLM: bringing {}").format(name)
        task = RunTask(text, lambda emit, cancelled: emit(_outcome(work, emit, cancelled)))
        task.told.connect(self._hear)
        task.ended.connect(self._end)
        self._task = task
        self._show(FetchView(self._offers(), True, name, can_pull=self.view.can_pull))
        start(task)

    def _hear(self, told: Any) -> None:
        """Show how far it is, or how it ended."""
        if isinstance(told, Progress):
            speed = self._speed.taken(told.done)
            self._show(
                replace(self.view, doing=told.doing, done=told.done, total=told.total, speed=speed)
            )
        else:
            self.view = replace(self.view, **told)

    def _end(self, error: BaseException | None) -> None:
        self._task = None
        text = self.view.error or (str(error) if error else "")
        self._show(replace(self.view, busy=False, error=text, offers=self._offers()))
        if self.view.ended:
            self.brought.emit()

    def _offers(self) -> tuple[Offer, ...]:
        folder = self._store.models_folder
        return tuple(
            Offer(one.name, one.bytes, one.licence, (folder / one.file).is_file())
            for one in self._store.known()
            if one.sha256
        )

    def _show(self, view: FetchView) -> None:
        self.view = view
        for panel in self._panels:
            panel.show_view(view)
        self.changed.emit(view)


class _Alone:
    """Keeps two programs from writing the same files of a store."""

    def __init__(self, store: Store) -> None:
        store.folder.mkdir(parents=True, exist_ok=True)
        self._lock = QLockFile(str(store.folder / "download.lock"))
        self._lock.setStaleLockTime(0)

    def __enter__(self) -> None:
        if not self._lock.tryLock(0):
            raise DownloadError(
                "Another QGIS on this machine is downloading a model. Wait until it is done."
            )

    def __exit__(self, *_: object) -> None:
        self._lock.unlock()


def _outcome(work: Work, emit: Callable[[object], None], cancelled: Cancelled) -> dict[str, Any]:
    """Do the work, telling a few times a second; return how it ended. Worker thread."""
    last = [0.0]

    def tell(progress: Progress) -> None:
        now = time.monotonic()
        if now - last[0] >= _EVERY_S:
            last[0] = now
            emit(progress)

    try:
        return {"ended": work(tell, cancelled)}
    except RunCancelled:
        return {"error": _STOPPED, "stopped": True}
    except ModelError as error:
        _LOG.warning("%s %s", error.message, error.detail)
        return {"error": error.message}
