# SPDX-License-Identifier: GPL-2.0-or-later
"""Small layers made in code, a toolbox over them, and a worker thread to call it from."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsGeometry,
    QgsMapLayer,
    QgsProject,
    QgsRasterLayer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QCoreApplication, QObject, Qt, QThread, pyqtSignal

from geo_olm.tools.base import ToolResult
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

T = TypeVar("T")


def layer(
    name: str, geometry: str, fields: str, rows: list[tuple[Any, ...]], crs: str = "EPSG:32632"
) -> QgsVectorLayer:
    """Make a memory layer; each row is a WKT (None for no geometry) and the values."""
    path = f"{geometry}?crs={crs}" + "".join(f"&field={one}" for one in fields.split())
    found = QgsVectorLayer(path, name, "memory")
    if not crs:
        found.setCrs(QgsCoordinateReferenceSystem())
    features = []
    for wkt, *values in rows:
        feature = QgsFeature(found.fields())
        if wkt is not None:
            feature.setGeometry(QgsGeometry.fromWkt(wkt))
        feature.setAttributes(list(values))
        features.append(feature)
    assert found.isValid()
    assert found.dataProvider().addFeatures(features)[0]
    found.updateExtents()
    return found


def box(left: float, bottom: float, right: float, top: float) -> str:
    """Return a rectangle as WKT."""
    return f"POLYGON(({left} {bottom},{right} {bottom},{right} {top},{left} {top},{left} {bottom}))"


def opened(source: Path) -> QgsMapLayer:
    """Open a file of the shared data as a layer named after it."""
    raster = source.suffix == ".tif"
    found = (QgsRasterLayer if raster else QgsVectorLayer)(str(source), source.stem)
    assert found.isValid(), source
    return found


class OffMainThread(AssertionError):
    """The project was touched on another thread than the main one."""


class GuardedProject(QgsProject):
    """A project that fails when Python touches it off the main thread."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__") and QThread.currentThread() is not main_thread():
            raise OffMainThread(name)
        return super().__getattribute__(name)


def main_thread() -> QThread:
    """Return the thread of the application."""
    return QCoreApplication.instance().thread()


class MainCaller(QObject):
    """Runs functions on the main thread through one blocking-queued call."""

    _asked = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self._asked.connect(self._do, Qt.ConnectionType.BlockingQueuedConnection)

    def __call__(self, function: Callable[[], T]) -> T:
        if QThread.currentThread() is main_thread():
            return function()
        outcome: dict[str, Any] = {}
        self._asked.emit((function, outcome))
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    def _do(self, asked: Any) -> None:
        function, outcome = asked
        try:
            outcome["value"] = function()
        except Exception as error:
            outcome["error"] = error


class Bench:
    """A toolbox over layers, called here or from a worker while this thread spins."""

    opened: ClassVar[list[Bench]] = []

    def __init__(
        self,
        folder: Path,
        *layers: QgsMapLayer,
        output: Path | None = None,
        detectors: tuple[Path, ...] = (),
    ) -> None:
        self.project = GuardedProject()
        self.project.setEllipsoid("EPSG:7030")
        for one in layers:
            self.project.addMapLayer(one)
        self.caller = MainCaller()
        self.folder = folder
        self.toolbox = ProjectToolbox(
            self.project,
            build_registry(),
            self.caller,
            folder,
            output,
            detector_folders=detectors,
        )
        self.toolbox.begin_turn("a question")
        self.opened.append(self)

    def close(self) -> None:
        """Let go of the project and its layers."""
        self.toolbox.close()
        self.project.clear()

    def run(self, tool: str, **arguments: Any) -> ToolResult:
        """Run one call on this thread."""
        return self.toolbox.run(tool, arguments, lambda percent: None, lambda: False)

    def work(
        self,
        tool: str,
        arguments: dict[str, Any],
        cancelled: Callable[[], bool] = lambda: False,
        limit: float = 30,
    ) -> tuple[ToolResult | None, BaseException | None, float]:
        """Run one call on a worker; return result, error and the longest stall of this thread."""
        outcome, stall = self._aside(
            lambda: self.toolbox.run(tool, arguments, lambda percent: None, cancelled), limit
        )
        return outcome.get("result"), outcome.get("error"), stall

    def aside(self, work: Callable[[], T], limit: float = 60) -> T:
        """Run a function on a worker while this thread spins, and return what it gives."""
        outcome, _ = self._aside(work, limit)
        if "error" in outcome:
            raise outcome["error"]
        found: T = outcome["result"]
        return found

    def _aside(self, work: Callable[[], Any], limit: float) -> tuple[dict[str, Any], float]:
        outcome: dict[str, Any] = {}

        def target() -> None:
            try:
                outcome["result"] = work()
            except BaseException as error:
                outcome["error"] = error

        thread = threading.Thread(target=target)
        thread.start()
        stall, last, stop = 0.0, time.monotonic(), time.monotonic() + limit
        while thread.is_alive() and time.monotonic() < stop:
            QCoreApplication.processEvents()
            now = time.monotonic()
            stall, last = max(stall, now - last), now
            time.sleep(0.005)
        assert not thread.is_alive()
        return outcome, stall
