# SPDX-License-Identifier: GPL-2.0-or-later
"""What questions cost, on the options page: the hour of this machine, and the table of prices."""

from __future__ import annotations

from qgis.gui import QgsFileWidget
from qgis.PyQt.QtCore import QEvent, QObject, Qt
from qgis.PyQt.QtWidgets import QDoubleSpinBox, QFormLayout

from ..plugin.settings import Settings
from .panel import Panel


class CostPanel(Panel):
    """Three settings; none of them is needed."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmCost")
        self.hourly = self._box("GeoOlmOptions_hourly_rate", self.tr("An hour of this machine"))
        self.hourly.setPrefix("$ ")
        self.hourly.setSpecialValueText(self.tr("Not counted"))
        self.memory = self._box("GeoOlmOptions_copies_memory_gb", self.tr("Shared memory"))
        self.memory.setSuffix(self.tr(" GB"))
        self.memory.setSpecialValueText(self.tr("This machine's"))
        self.memory.setToolTip(
            self.tr("The copies of a model that fit this memory share the cost of the hour.")
        )
        self.prices = QgsFileWidget()
        self.prices.setObjectName("GeoOlmOptionsPrices")
        self.prices.setAccessibleName(self.tr("Prices of hosted models"))
        self.prices.setStorageMode(QgsFileWidget.StorageMode.GetFile)
        self.prices.setFilter(self.tr("Price tables (*.json)"))
        self.prices.lineEdit().setPlaceholderText(self.tr("The plugin's own table, of June 2026"))
        self._form = QFormLayout(self)
        grow = QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow
        self._form.setFieldGrowthPolicy(grow)
        self._form.addRow(self.tr("An hour of this machine"), self.hourly)
        self._form.addRow(self.tr("Shared memory"), self.memory)
        self._form.addRow(self.tr("Prices of hosted models"), self.prices)

    def restyle(self) -> None:
        """Set the margins."""
        self._form.setContentsMargins(0, 0, 0, 0)

    def show_settings(self, settings: Settings) -> None:
        """Fill the fields."""
        self.hourly.setValue(settings.hourly_rate)
        self.memory.setValue(settings.copies_memory_gb)
        self.prices.setFilePath(settings.price_file)

    def values(self) -> dict[str, float | str]:
        """Return the settings as the fields say, by name."""
        return {
            "hourly_rate": self.hourly.value(),
            "copies_memory_gb": self.memory.value(),
            "price_file": self.prices.filePath().strip(),
        }

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the wheel scroll the page over a number that has no focus."""
        if event.type() == QEvent.Type.Wheel and not watched.hasFocus():
            event.ignore()
            return True
        return bool(super().eventFilter(watched, event))

    def _box(self, name: str, label: str) -> QDoubleSpinBox:
        box = QDoubleSpinBox()
        box.setObjectName(name)
        box.setAccessibleName(label)
        box.setRange(0, 100_000)
        box.setDecimals(2)
        box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        box.installEventFilter(self)
        return box
