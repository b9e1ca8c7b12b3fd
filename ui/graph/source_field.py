# SPDX-License-Identifier: GPL-2.0-or-later
"""The field of a parameter that takes a layer: the project's layers and what other steps give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, Qt
from qgis.PyQt.QtGui import QDragEnterEvent, QDropEvent
from qgis.PyQt.QtWidgets import QComboBox

from ...plugin.workflow.fitting import PLURAL, fits, kinds_of
from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.topology import descendants
from ...plugin.workflow.value import Layer, Output, Value
from ...tools.base import Family
from ..icon import FAMILIES, theme_icon
from .card import said
from .carried import carried
from .document import GraphDocument
from .field import Field


def tr(text: str) -> str:
    """Translate a text of the field."""
    return QCoreApplication.translate("SourceField", text)


class SourceBox(QComboBox):
    """Lists layers and steps; a layer that is dropped here from the layer tree is taken."""

    def __init__(self, document: GraphDocument) -> None:
        super().__init__()
        self._document = document
        self.values: list[Value] = []
        self.setAcceptDrops(True)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)

    def put(self, value: Value, kinds: tuple[Family, ...]) -> None:
        """Add a layer or step; one of another kind than those taken is shown but not chosen."""
        self.values.append(value)
        if value is None:
            self.addItem("")
            return
        known = isinstance(value, (Layer, Output))
        family = self._document.flow.family(value) if known else Family.ANY
        name = FAMILIES.get(family.value, "mIconVector") if family is not None else "mMessageLog"
        icon = "mIconWarning" if self._is_gone(value) else name
        self.addItem(theme_icon(icon), said(self._document, value))
        at = self.count() - 1
        if self._is_gone(value):
            text = tr("The project has no layer {}.").replace("{}", said(self._document, value))
            self.setItemData(at, text, Qt.ItemDataRole.ToolTipRole)
        elif family is None or not fits(family, kinds or (Family.ANY,)):
            takes = tr(" or ").join(PLURAL[one] for one in kinds) or PLURAL[Family.ANY]
            text = tr("This takes {}.").replace("{}", takes)
            self.setItemData(at, text, Qt.ItemDataRole.ToolTipRole)
            self.model().item(at).setEnabled(False)

    def _is_gone(self, value: Value) -> bool:
        known = {one.key for one in self._document.layers}
        return isinstance(value, Layer) and value.name not in known

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take layers of the project."""
        found = carried(event.mimeData(), self._document).layers
        if any(Layer(one) in self.values for one in found):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Choose the layer that was dropped."""
        for one in carried(event.mimeData(), self._document).layers:
            if Layer(one) in self.values:
                at = self.values.index(Layer(one))
                if self.model().item(at).isEnabled():
                    self.setCurrentIndex(at)
                    self.activated.emit(at)
                    event.acceptProposedAction()
                return


def source_field(
    document: GraphDocument, vertex: Vertex, schema: Mapping[str, Any], given: Value
) -> Field:
    """Return a list of the project's layers and of the steps that do not wait for this one."""
    box = SourceBox(document)
    field = Field(box, given)
    graph = document.graph
    kinds = kinds_of(schema)
    values: list[Value] = [None, *(Layer(one.key) for one in document.layers if not one.short)]
    after = descendants(graph, vertex.id) if graph.has(vertex.id) else frozenset()
    values += [Output(key) for key in graph.ids() if key != vertex.id and key not in after]
    if given not in values:
        values.append(given)
    for one in values:
        box.put(one, kinds)
    box.setCurrentIndex(values.index(given))
    box.activated.connect(lambda at: field.tell(values[at]))
    return field
