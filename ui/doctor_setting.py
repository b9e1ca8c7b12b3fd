# SPDX-License-Identifier: GPL-2.0-or-later
"""The settings that the doctor chose for a model, each with how it was found, open to change."""

from __future__ import annotations

from qgis.PyQt.QtWidgets import QComboBox, QGridLayout, QSpinBox, QWidget

from .doctor_view import DoctorSettings
from .number import tr
from .panel import Label, Panel

LARGEST = 10_000_000


class SettingForm(Panel):
    """Mode, context and exposure; empty and off where there are none to use."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmDoctorForm")
        self.is_filled = False
        self.mode = self._choice(
            ("schema", tr("Held to a schema")),
            ("native", tr("By the model's own calls")),
            ("text", tr("Read from the text")),
        )
        self.context = QSpinBox()
        self.context.setRange(0, LARGEST)
        self.context.setSingleStep(1024)
        self.context.setGroupSeparatorShown(True)
        self.context.setSuffix(tr(" tokens"))
        self.context.setSpecialValueText("–")
        self.exposure = self._choice(
            ("filter", tr("Only those of the present stage")),
            ("hint", tr("All, with the stage's examples")),
        )
        self._notes: dict[str, Label] = {}
        self._grid = QGridLayout(self)
        self._grid.addWidget(Label(tr("Settings for this model"), bold=True), 0, 0, 1, 3)
        for row, (name, label, field) in enumerate(
            (
                ("mode", tr("How tools are called"), self.mode),
                ("context", tr("Context"), self.context),
                ("exposure", tr("Tools shown"), self.exposure),
            ),
            1,
        ):
            self._add(row, name, label, field)
        self._grid.setColumnStretch(2, 1)
        self.set_settings(None)

    def set_settings(self, settings: DoctorSettings | None) -> None:
        """Show settings, or that there are none."""
        self.is_filled = settings is not None
        self.setEnabled(self.is_filled)
        found = settings or DoctorSettings("", 0, "")
        self.mode.setCurrentIndex(self.mode.findData(found.mode))
        self.context.setValue(found.context)
        self.exposure.setCurrentIndex(self.exposure.findData(found.exposure))
        for name, note in self._notes.items():
            note.setText(found.measured.get(name, ""))

    def chosen(self) -> tuple[str, int, str]:
        """Return mode, context and exposure as they stand."""
        return self.mode.currentData(), self.context.value(), self.exposure.currentData()

    def restyle(self) -> None:
        """Set margins and gaps."""
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(round(self.em * 0.75))
        self._grid.setVerticalSpacing(round(self.em * 0.5))

    def _choice(self, *values: tuple[str, str]) -> QComboBox:
        box = QComboBox()
        for value, text in values:
            box.addItem(text, value)
        return box

    def _add(self, row: int, name: str, label: str, field: QWidget) -> None:
        field.setObjectName(f"GeoOlmDoctor_{name}")
        field.setAccessibleName(label)
        self._notes[name] = Label(faint=True, wrap=True)
        self._notes[name].setObjectName(f"GeoOlmDoctorNote_{name}")
        self._grid.addWidget(Label(label), row, 0)
        self._grid.addWidget(field, row, 1)
        self._grid.addWidget(self._notes[name], row, 2)
