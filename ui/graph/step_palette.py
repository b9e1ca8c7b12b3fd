# SPDX-License-Identifier: GPL-2.0-or-later
"""The palette: layers, tools by agent and steps for the user, found by words."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtGui import QKeyEvent
from qgis.PyQt.QtWidgets import QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from ...plugin.workflow.graph import Kind, Vertex
from ..icon import FAMILIES, FOLDER, own_icon, theme_icon
from ..palette import agent_colour
from ..panel import Panel
from .document import GraphDocument

_ROLE = int(Qt.ItemDataRole.UserRole)


class StepPalette(Panel):
    """What can be added. `chosen` carries a Vertex without an id, or the name of a layer."""

    step_chosen = pyqtSignal(object)
    layer_chosen = pyqtSignal(str)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmPalette")
        self._document = document
        self.search = QLineEdit()
        self.search.setObjectName("GeoOlmPaletteSearch")
        self.search.setPlaceholderText(self.tr("Search tools…"))
        self.search.setAccessibleName(self.tr("Search tools"))
        self.search.setClearButtonEnabled(True)
        self.search.addAction(theme_icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.tree = QTreeWidget()
        self.tree.setObjectName("GeoOlmPaletteTree")
        self.tree.setAccessibleName(self.tr("Steps that can be added"))
        self.tree.setHeaderHidden(True)
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(self.search)
        self._lines.addWidget(self.tree, 1)
        self.search.textChanged.connect(self._search)
        self.search.returnPressed.connect(self._take_first)
        self.tree.itemActivated.connect(lambda item, _column: self._take(item))
        document.known_changed.connect(self.fill)
        self.fill()

    def restyle(self) -> None:
        """Set the margins."""
        pad = round(self.em * 0.3)
        self._lines.setContentsMargins(pad, pad, pad, pad)
        self._lines.setSpacing(pad)

    def fill(self) -> None:
        """Show everything, by kind."""
        self.tree.clear()
        layers = self._branch(self.tr("Layers"), "mIconVector")
        for layer in self._document.layers:
            if not layer.short:
                self._leaf(
                    layers, layer.key, layer.key, FAMILIES.get(layer.family.value, "mIconVector")
                )
        layers.setExpanded(True)
        for role in self._document.roles.all():
            tools = [self._document.tools[one] for one in role.tools if one in self._document.tools]
            icon = role.icon.rpartition(".")[0] or role.icon
            branch = self._branch(f"{role.label} {len(tools)}", icon)
            if role.icon and (FOLDER / role.icon).is_file():
                branch.setIcon(0, own_icon(icon, agent_colour(self.palette(), role.name)))
            for tool in tools:
                step = Vertex("", role.name, "", tool.name, {})
                item = self._leaf(branch, tool.label or tool.name, step, "processingAlgorithm")
                item.setToolTip(0, tool.description)
        yours = self._branch(self.tr("Steps for you"), "user")
        review = Vertex("", objective=self.tr("Look at the layer"), parameters={}, kind=Kind.REVIEW)
        asked = Vertex("", objective=self.tr("Which value?"), parameters={}, kind=Kind.QUESTION)
        self._leaf(yours, self.tr("Review stop"), review, "mActionPlay")
        self._leaf(yours, self.tr("Question"), asked, "mActionHelpContents")

    def _branch(self, text: str, icon: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(self.tree, [text])
        item.setIcon(0, theme_icon(icon))
        font = item.font(0)
        font.setBold(True)
        item.setFont(0, font)
        return item

    def _leaf(self, branch: QTreeWidgetItem, text: str, data: object, icon: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(branch, [text])
        item.setData(0, _ROLE, data)
        item.setIcon(0, theme_icon(icon))
        return item

    def _search(self, phrase: str) -> None:
        """Show what has all words of a phrase in its name or its description."""
        wanted = phrase.casefold().split()
        self.fill()
        if not wanted:
            return
        for at in range(self.tree.topLevelItemCount()):
            branch = self.tree.topLevelItem(at)
            shown = 0
            for place in range(branch.childCount()):
                item = branch.child(place)
                about = f"{item.text(0)} {item.toolTip(0)}".casefold()
                fits = all(word in about for word in wanted)
                item.setHidden(not fits)
                shown += bool(fits)
            branch.setHidden(not shown)
            branch.setExpanded(bool(shown))

    def _leaves(self) -> list[QTreeWidgetItem]:
        found = []
        for at in range(self.tree.topLevelItemCount()):
            branch = self.tree.topLevelItem(at)
            found += [branch.child(place) for place in range(branch.childCount())]
        return [one for one in found if not one.isHidden()]

    def _take_first(self) -> None:
        found = self._leaves()
        if self.search.text().strip() and found:
            self._take(found[0])

    def _take(self, item: QTreeWidgetItem) -> None:
        data = item.data(0, _ROLE)
        if isinstance(data, Vertex):
            self.step_chosen.emit(data)
        elif isinstance(data, str):
            self.layer_chosen.emit(data)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from the search to the list with Down."""
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.tree.setFocus()
            return
        super().keyPressEvent(event)
