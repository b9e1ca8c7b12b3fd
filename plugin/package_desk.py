# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the options page's packages to the folder of the profile and to installations."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, QObject

from ..ui.package_panel import PackagePanel
from ..ui.package_view import PackageLine, PackageView
from .dependency.base import BATCH, VISION, WANTED, InstallStep, PackageError
from .dependency.folder import PackageFolder
from .dependency.install import Supply, install
from .egress import gate_of, ledger, package_exchange, proxy_address
from .llm.base import RunCancelled
from .runner import RunTask, finish, start
from .settings import Settings

NAMES = ("ollama", "openai")
OPTIONAL = ("distributed", "onnxruntime")
"""Shown only where they are there."""
_LOG = logging.getLogger(__name__)


class PackageDesk(QObject):
    """The packages of this process: one installation at a time, shown on every open page.

    Main thread only. An installation goes on when the page is closed.
    """

    def __init__(self, folder: PackageFolder, load: Callable[[], Settings]) -> None:
        super().__init__()
        self._folder, self._load = folder, load
        self._panels: list[PackagePanel] = []
        self._task: RunTask | None = None
        self._view = PackageView()

    def attach(self, panel: PackagePanel) -> None:
        """Show the packages on a page and do what it asks."""
        self._panels.append(panel)
        panel.destroyed.connect(lambda *_: self._forget(panel))
        panel.install_requested.connect(
            lambda source: self._install(source, panel.batch.isChecked(), panel.vision.isChecked())
        )
        panel.cancel_requested.connect(self._cancel)
        panel.remove_requested.connect(self._remove)
        self._show("" if self._task is None else self._view.error)

    def close(self) -> None:
        """Stop an installation; no page is shown anything from here on."""
        if self._task is not None:
            finish(self._task, 5.0)
            self._task = None
        self._panels.clear()

    def _forget(self, panel: PackagePanel) -> None:
        self._panels = [one for one in self._panels if one is not panel]

    def _install(self, source: str, batch: bool, vision: bool) -> None:
        if self._task is not None:
            return
        settings = self._load()
        supply = Supply(
            source.strip(),
            package_exchange(settings),
            gate_of(settings),
            ledger(),
            proxy_address(),
            (*WANTED, *BATCH) if batch else WANTED,
            VISION if vision else (),
        )
        self._task = RunTask(
            QCoreApplication.translate("PackageDesk", "Geo-OLM: installing packages"),
            lambda emit, cancelled: emit(_outcome(self._folder, supply, emit, cancelled)),
        )
        self._task.told.connect(self._hear)
        self._task.ended.connect(self._end)
        start(self._task)
        self._show("")

    def _hear(self, told: Any) -> None:
        """Show how far an installation is, or how it ended."""
        if isinstance(told, InstallStep):
            self._view = PackageView(
                self._view.packages, True, told.text, told.percent, "", self._view.removable
            )
            self._paint()
        else:
            self._view = PackageView(error=str(told))

    def _end(self, error: BaseException | None) -> None:
        self._task = None
        self._show(self._view.error or (str(error) if error else ""))

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _remove(self) -> None:
        try:
            self._folder.remove()
        except OSError as error:
            words = "The packages could not be removed: {}. Close QGIS and try again."
            self._show(words.format(error.strerror or error))
        else:
            self._show("")

    def _show(self, error: str) -> None:
        states = [self._folder.state(name) for name in NAMES]
        optional = [self._folder.state(name) for name in OPTIONAL]
        states += [one for one in optional if one.version]
        lines = tuple(PackageLine(one.name, one.version, one.own) for one in states)
        busy, there = self._task is not None, self._folder.present is not None
        self._view = PackageView(lines, busy, error=error, removable=there)
        self._paint()

    def _paint(self) -> None:
        for panel in self._panels:
            panel.show_view(self._view)


def _outcome(
    folder: PackageFolder,
    supply: Supply,
    tell: Callable[[object], None],
    cancelled: Callable[[], bool],
) -> str:
    """Install, and return "" or the sentence that says why not. Worker thread."""
    try:
        install(folder, supply, tell, cancelled)
    except PackageError as error:
        _LOG.warning("%s %s", error.message, error.detail)
        return error.message
    except RunCancelled:
        return "Stopped. Nothing was changed."
    return ""
