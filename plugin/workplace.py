# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a typed tool works when the toolbox or a model runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from qgis.core import QgsProject

from ..tools.catalog import build_registry
from ..tools.toolbox import ProjectToolbox
from .assembly import allowed_of, output_of
from .place import detector_folder, temporary_folder
from .runner import MainThread, RunTask, on_main_thread, wait
from .settings import SettingsStore


class ToolPlace:
    """Runs a tool in a task while an event loop spins on the main thread; implements
    exchange.tool_algorithm.Workplace."""

    def toolbox(self, project: QgsProject) -> ProjectToolbox:
        """Return the tools over a project; files go to QGIS's temporary folder.

        Files may be read where a chat may read them: in the folder of the user's own project, in
        the output folder, and in the folders that the options allow.
        """
        folder, settings = temporary_folder(), SettingsStore().load()
        home, output = QgsProject.instance().absolutePath(), output_of(settings)
        own = [Path(home)] if home else []
        own += [] if output is None else [output]
        allowed = (*own, *allowed_of(settings))
        call = MainThread().call
        detectors = (detector_folder(),)
        return ProjectToolbox(
            project, build_registry(), call, folder, folder, None, allowed, detectors
        )

    def run(self, work: Callable[[Callable[[], bool]], Any], cancelled: Callable[[], bool]) -> Any:
        """Run `work` and return what it gives, or raise its error."""
        if not on_main_thread():
            return work(cancelled)
        given: list[Any] = []
        wait(RunTask("Geo-OLM", lambda emit, stopped: given.append(work(stopped))), cancelled)
        return given[0]
