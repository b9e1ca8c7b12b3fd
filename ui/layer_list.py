# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers that an answer made, as chips, and the way to keep those that are temporary."""

from __future__ import annotations

from pathlib import Path

from qgis.PyQt.QtWidgets import QVBoxLayout

from ..plugin.agent.event import LayerReference
from .flow_layout import FlowLayout
from .icon import theme_icon
from .number import plain_tip
from .outlet import Outlet
from .panel import Label, LinkButton, Panel
from .result_chip import ResultChip


class LayerList(Panel):
    """Chips under a line that says where the layers are: temporary, or kept in a file."""

    def __init__(
        self, outlet: Outlet, layers: tuple[LayerReference, ...], files: tuple[str, ...] = ()
    ) -> None:
        """`files` are those that the answer wrote: layers in them are no temporary ones."""
        super().__init__()
        self.setObjectName("GeoOlmResults")
        self._outlet = outlet
        self._temporary = [
            layer.id for layer in layers if layer.source.partition("|")[0] not in files
        ]
        self._path = ""
        self._column = QVBoxLayout(self)
        self._line = FlowLayout()
        self.caption = Label("", faint=True, scale=0.92)
        self.caption.setObjectName("GeoOlmResultsCaption")
        self._line.addWidget(self.caption)
        self.keep = LinkButton("GeoOlmKeep", self.tr("Keep…"))
        self.keep.setIcon(theme_icon("mActionFileSave"))
        self.keep.setToolTip(self.tr("Save these layers to one GeoPackage"))
        self.keep.clicked.connect(self._ask_to_keep)
        self._line.addWidget(self.keep)
        self.show_file = LinkButton("GeoOlmShowKept", self.tr("Show in browser"))
        self.show_file.clicked.connect(lambda: outlet.kept_shown.emit(self._path))
        self._line.addWidget(self.show_file)
        self._column.addLayout(self._line)
        self._flow = FlowLayout()
        for layer in layers:
            self._flow.addWidget(ResultChip(outlet, layer, layer.id in self._temporary))
        self._column.addLayout(self._flow)
        self._say()

    def restyle(self) -> None:
        """Set the spacing."""
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(round(self.em * 0.4))
        self._line.setSpacing(round(self.em * 0.25))
        self._flow.setSpacing(round(self.em * 0.5))

    def mark_kept(self, ids: tuple[str, ...], path: str) -> None:
        """Say where layers are kept; what is temporary still can be kept."""
        mine = set(self._temporary) & set(ids)
        if not mine:
            return
        self._temporary = [one for one in self._temporary if one not in mine]
        self._path = path
        for chip in self.findChildren(ResultChip):
            chip.temporary = chip.layer_id in self._temporary
        self._say()

    def _say(self) -> None:
        parts = []
        if self._path:
            parts.append(self.tr("Kept in {0}").format(Path(self._path).name))
            self.caption.setToolTip(plain_tip(self._path))
        if self._temporary:
            parts.append(self.tr("Temporary until you keep them"))
        self.caption.setText(" · ".join(parts) or self.tr("Layers made"))
        self.keep.setVisible(bool(self._temporary))
        self.show_file.setVisible(bool(self._path))

    def _ask_to_keep(self) -> None:
        removed = {chip.layer_id for chip in self.findChildren(ResultChip) if chip.removed}
        self._outlet.keep_requested.emit(
            tuple(one for one in self._temporary if one not in removed)
        )
