# SPDX-License-Identifier: GPL-2.0-or-later
"""The client packages on the options page: what is there, install, cancel, remove, and whence."""

from __future__ import annotations

from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
)

from .outlet import Outlet
from .package_view import PackageLine, PackageView
from .panel import ElidedLabel, Label, Panel
from .state_shape import Shape, StateMark


class PackagePanel(Panel):
    """Install and Remove act at once; only the source is a setting."""

    install_requested = pyqtSignal(str)
    cancel_requested = pyqtSignal()
    remove_requested = pyqtSignal()

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmPackages")
        self.mark = StateMark(outlet.clock, Shape.IDLE)
        self.text = Label(wrap=True)
        self.text.setObjectName("GeoOlmPackagesText")
        self.install = self._button("Install", self.tr("Install…"))
        self.cancel = self._button("Cancel", self.tr("Cancel"))
        self.remove = self._button("Remove", self.tr("Remove"))
        self.bar = QProgressBar()
        self.bar.setObjectName("GeoOlmPackagesBar")
        self.bar.setTextVisible(False)
        self.line = ElidedLabel(faint=True, scale=0.92)
        self.line.setObjectName("GeoOlmPackagesLine")
        self.source = QLineEdit()
        self.source.setObjectName("GeoOlmOptionsPackageIndex")
        self.source.setAccessibleName(self.tr("Source of the packages"))
        self.source.setPlaceholderText(self.tr("The package index that pip is set to"))
        self.source.setToolTip(self.tr("The address of a package index, or a folder of wheels."))
        self.folder = self._button("Folder", self.tr("Folder…"))
        self.batch = QCheckBox(self.tr("With Dask, which batches of workflows need"))
        self.batch.setObjectName("GeoOlmPackagesBatch")
        self.vision = QCheckBox(self.tr("With ONNX Runtime, which detection in pictures needs"))
        self.vision.setObjectName("GeoOlmPackagesVision")
        self._lay_out()
        self.install.clicked.connect(lambda: self.install_requested.emit(self.source.text()))
        self.cancel.clicked.connect(lambda: self.cancel_requested.emit())
        self.remove.clicked.connect(lambda: self.remove_requested.emit())
        self.folder.clicked.connect(self._choose)
        self.show_view(PackageView())

    def restyle(self) -> None:
        """Set the margins."""
        for row in (self._head, self._foot):
            row.setSpacing(round(self.em * 0.5))
        self.bar.setMaximumHeight(round(self.em * 0.6))
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(round(self.em * 0.4))

    def show_view(self, view: PackageView) -> None:
        """Show the packages, a running installation, or why the last one failed."""
        there = [one for one in view.packages if one.version]
        shape = Shape.DONE if view.packages and len(there) == len(view.packages) else Shape.IDLE
        if view.busy:
            shape = Shape.RUNNING
        elif view.error:
            shape = Shape.FAILED
        self.mark.set_shape(shape)
        text = self.tr("Installing the packages") if view.busy else self._words(view.packages)
        self.text.setText(f"{view.error} {text}" if view.error and not view.busy else text)
        self.setAccessibleName(self.text.text())
        self.install.setText(self.tr("Install again…") if there else self.tr("Install…"))
        for button, shown in (
            (self.install, not view.busy),
            (self.remove, view.removable and not view.busy),
            (self.cancel, view.busy),
        ):
            button.setVisible(shown)
        self.source.setEnabled(not view.busy)
        self.folder.setEnabled(not view.busy)
        for box, name in ((self.batch, "distributed"), (self.vision, "onnxruntime")):
            held = [one for one in view.packages if one.name == name]
            box.setEnabled(not view.busy)
            box.setHidden(any(not one.own for one in held))
            box.setChecked(box.isChecked() or any(one.own for one in held))
        self.bar.setVisible(view.busy)
        self.line.setVisible(view.busy)
        self.line.setText(view.progress)
        self.bar.setRange(0, 100 if view.percent >= 0 else 0)
        self.bar.setValue(round(max(0.0, view.percent)))

    def _words(self, packages: tuple[PackageLine, ...]) -> str:
        """Return what is there, in one or two sentences."""
        missing = [one.name for one in packages if not one.version]
        own = [f"{one.name} {one.version}" for one in packages if one.version and one.own]
        other = [f"{one.name} {one.version}" for one in packages if one.version and not one.own]
        words = []
        if own:
            text = self.tr("In the plugin's own folder: {0}.")
            words.append(text.format(", ".join(own)))
        if other:
            words.append(self.tr("In QGIS's Python: {0}.").format(", ".join(other)))
        if missing:
            text = self.tr(
                "Not installed: {0}. The built-in client is used; nothing is missing for you."
            )
            words.append(text.format(", ".join(missing)))
        return " ".join(words)

    def _lay_out(self) -> None:
        self._head, self._foot = QHBoxLayout(), QHBoxLayout()
        self._head.addWidget(self.mark)
        self._head.addWidget(self.text, 1)
        for button in (self.install, self.remove, self.cancel):
            self._head.addWidget(button)
        self._foot.addWidget(Label(self.tr("Source")))
        self._foot.addWidget(self.source, 1)
        self._foot.addWidget(self.folder)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._head)
        self._column.addWidget(self.bar)
        self._column.addWidget(self.line)
        self._column.addLayout(self._foot)
        self._column.addWidget(self.batch)
        self._column.addWidget(self.vision)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmPackages{name}")
        button.setAccessibleName(f"{text} {self.tr('Client packages')}")
        button.setAutoDefault(False)
        return button

    def _choose(self) -> None:
        title = self.tr("Choose a folder of wheels")
        found = QFileDialog.getExistingDirectory(self, title, self.source.text())
        if found:
            self.source.setText(found)
