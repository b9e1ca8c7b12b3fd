# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of widgets share: the application, layers, a dock, and palettes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from qgis.PyQt.QtCore import QCoreApplication, QEvent, QLocale
from qgis.PyQt.QtGui import QColor, QPalette
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QApplication, QWidget

from geo_olm.tools.base import Family, FieldProfile, LayerProfile
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.model_view import ModelCondition, ModelView

DARK = {
    QPalette.ColorRole.Window: "#323232",
    QPalette.ColorRole.WindowText: "#f0f0f0",
    QPalette.ColorRole.Base: "#262626",
    QPalette.ColorRole.AlternateBase: "#2e2e2e",
    QPalette.ColorRole.Text: "#f0f0f0",
    QPalette.ColorRole.Button: "#3a3a3a",
    QPalette.ColorRole.ButtonText: "#f0f0f0",
}
LIGHT = {
    QPalette.ColorRole.Window: "#efefef",
    QPalette.ColorRole.WindowText: "#1a1a1a",
    QPalette.ColorRole.Base: "#ffffff",
    QPalette.ColorRole.AlternateBase: "#f5f5f5",
    QPalette.ColorRole.Text: "#1a1a1a",
    QPalette.ColorRole.Button: "#efefef",
    QPalette.ColorRole.ButtonText: "#1a1a1a",
}


def palette_of(colours: dict[QPalette.ColorRole, str]) -> QPalette:
    """Return a palette with these colours in all groups."""
    palette = QPalette()
    for role, colour in colours.items():
        palette.setColor(role, QColor(colour))
    return palette


@pytest.fixture(autouse=True)
def british() -> Iterator[None]:
    """Write numbers as in Britain, whatever the machine's locale is."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


@pytest.fixture
def light() -> QPalette:
    """Return the light palette of the design."""
    return palette_of(LIGHT)


@pytest.fixture
def dark() -> QPalette:
    """Return the dark palette of the design."""
    return palette_of(DARK)


@pytest.fixture
def layers() -> tuple[LayerProfile, ...]:
    """Return points, polygons and a raster, as the toolbox would describe them."""
    hire = (
        FieldProfile("id", "integer", distinct=742),
        FieldProfile("area", "text", distinct=121, empty=3),
        FieldProfile("nbikes", "integer", minimum="0", maximum="52", distinct=40, empty=0),
    )
    states = (FieldProfile("region", "text", distinct=28, empty=0),)
    return (
        LayerProfile(
            "cycle_hire", "L1", Family.POINT, "Point", "EPSG:4326", features=742, fields=hire
        ),
        LayerProfile(
            "states", "L2", Family.POLYGON, "Polygon", "EPSG:4326", features=50, fields=states
        ),
        LayerProfile("elevation", "L3", Family.RASTER, "raster", "EPSG:27700"),
    )


@pytest.fixture
def show(qgis_app: QApplication) -> Iterator[Callable[[QWidget], QWidget]]:
    """Show widgets for a test and delete them after it."""
    shown: list[QWidget] = []

    def showing(widget: QWidget) -> QWidget:
        widget.show()
        widget.activateWindow()
        QTest.qWaitForWindowExposed(widget)
        shown.append(widget)
        return widget

    yield showing
    for widget in shown:
        widget.hide()
        widget.deleteLater()
    shown.clear()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


@pytest.fixture
def dock(show: Callable[[QWidget], QWidget], layers: tuple[LayerProfile, ...]) -> ChatDock:
    """Return a visible dock with three layers and a model that is ready."""
    dock = ChatDock()
    dock.resize(420, 760)
    dock.set_layers(layers)
    dock.set_model(
        ModelView(ModelCondition.READY, "Test model", "Built-in", models=("Test model", "Other"))
    )
    show(dock)
    return dock


@pytest.fixture
def child(dock: ChatDock) -> Callable[..., Any]:
    """Find a visible widget of the dock by its object name."""

    def found(name: str) -> Any:
        QCoreApplication.processEvents()
        visible = [each for each in dock.findChildren(QWidget, name) if each.isVisible()]
        assert visible, f"no visible widget named {name}"
        return visible[-1]

    return found
