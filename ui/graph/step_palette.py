# SPDX-License-Identifier: GPL-2.0-or-later
"""The palette: layers, tools by agent, all algorithms of the registry, and steps for the user."""

from __future__ import annotations

from collections.abc import Callable

from qgis.PyQt.QtCore import QMimeData, Qt, pyqtSignal
from qgis.PyQt.QtGui import QKeyEvent
from qgis.PyQt.QtWidgets import QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from ...plugin.workflow.graph import Kind, Vertex
from ...plugin.workflow.shelf import ALGORITHM, Offered
from ...tools.base import LayerProfile
from ..icon import FAMILIES, FOLDER, own_icon, theme_icon, tool_icon
from ..palette import agent_colour
from ..panel import Panel
from .algorithm_step import algorithm_step
from .carried import layer_mime, step_mime
from .document import GraphDocument

_ROLE = int(Qt.ItemDataRole.UserRole)
_FILL = _ROLE + 1
_KEY = _ROLE + 2
Fill = Callable[[QTreeWidgetItem], None]


class StepTree(QTreeWidget):
    """A tree whose leaves can be dragged onto the canvas."""

    def mimeData(self, items: list[QTreeWidgetItem]) -> QMimeData:
        """Return the step or the layer that is dragged."""
        data = items[0].data(0, _ROLE) if items else None
        if isinstance(data, Vertex):
            return step_mime(data)
        return layer_mime(data) if isinstance(data, str) else QMimeData()


class StepPalette(Panel):
    """What can be added. `step_chosen` carries a Vertex without an id, `layer_chosen` the name of
    a layer."""

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
        self.tree = StepTree()
        self.tree.setObjectName("GeoOlmPaletteTree")
        self.tree.setAccessibleName(self.tr("Steps that can be added"))
        self.tree.setHeaderHidden(True)
        self.tree.setDragEnabled(True)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(round(self.em * 0.9))
        self._open: set[str] = {"layers"}
        self._known: dict[str, Offered] = {}
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(self.search)
        self._lines.addWidget(self.tree, 1)
        self.search.textChanged.connect(lambda _text: self.fill())
        self.search.returnPressed.connect(self._take_first)
        self.tree.itemActivated.connect(lambda item, _column: self._take(item))
        self.tree.itemExpanded.connect(self._expand)
        self.tree.itemCollapsed.connect(lambda item: self._open.discard(item.data(0, _KEY)))
        self._seen: tuple[object, ...] = ()
        document.known_changed.connect(self._know)
        self.fill()

    def restyle(self) -> None:
        """Set the margins."""
        pad = round(self.em * 0.3)
        self._lines.setContentsMargins(pad, pad, pad, pad)
        self._lines.setSpacing(pad)

    # -- filling

    def _know(self) -> None:
        """Fill anew where there is something new to show."""
        document = self._document
        layers = tuple((one.key, one.family, one.short) for one in document.layers)
        algorithms = tuple(document.shelf.algorithms())
        seen = (layers, document.tools, document.roles.all(), algorithms)
        if seen != self._seen:
            self._seen = seen
            self.fill()

    def fill(self) -> None:
        """Show everything by kind, or what fits the search, best first."""
        self.tree.clear()
        self._known = {one.id: one for one in self._document.shelf.algorithms()}
        phrase = self.search.text().strip()
        if phrase:
            self._fill_found(phrase)
            return
        self._put_layers([one for one in self._document.layers if not one.short])
        self._fill_recent()
        for role in self._document.roles.all():
            tools = [one for one in role.tools if one in self._document.tools]
            icon = role.icon.rpartition(".")[0] or role.icon
            branch = self._branch(role.name, f"{role.label} {len(tools)}", icon)
            if role.icon and (FOLDER / role.icon).is_file():
                branch.setIcon(0, own_icon(icon, agent_colour(self.palette(), role.name)))
            for tool in tools:
                self._put_tool(branch, tool, role.name)
            self._unfold(branch)
        self._put_yours([])
        self._fill_algorithms()

    def _put_layers(self, layers: list[LayerProfile]) -> None:
        branch = self._branch("layers", self.tr("Layers"), "mIconVector")
        for layer in layers:
            icon = FAMILIES.get(layer.family.value, "mIconVector")
            self._leaf(branch, layer.key, layer.key, theme_icon(icon))
        self._unfold(branch)

    def _fill_recent(self) -> None:
        found = [one for one in self._document.shelf.recent() if self._is_known(one)]
        if found:
            branch = self._branch("recent", self.tr("Recently used"), "mIconHistory")
            for key in found:
                self._put(branch, key)
            self._unfold(branch)

    def _put_yours(self, wanted: list[str]) -> bool:
        """Show the steps for the user whose names hold all words; tell whether there are any."""
        names = {self._named(one): one for one in self._own_steps()}
        found = [one for one in names if all(word in one.casefold() for word in wanted)]
        if not found:
            return False
        yours = self._branch("yours", self.tr("Steps for you"), "")
        yours.setIcon(0, own_icon("agent_you", agent_colour(self.palette(), "you")))
        for name in found:
            is_review = names[name].kind is Kind.REVIEW
            icon = theme_icon("mActionPlay" if is_review else "mActionHelpContents")
            self._leaf(yours, name, names[name], icon)
        self._unfold(yours)
        return True

    def _named(self, step: Vertex) -> str:
        return self.tr("Review stop") if step.kind is Kind.REVIEW else self.tr("Question")

    def _own_steps(self) -> tuple[Vertex, ...]:
        return (
            Vertex("", objective=self.tr("Look at the layer"), parameters={}, kind=Kind.REVIEW),
            Vertex("", objective=self.tr("Which value?"), parameters={}, kind=Kind.QUESTION),
        )

    # -- algorithms

    def _fill_algorithms(self) -> None:
        """Show all algorithms by provider and group; each branch is filled when it is opened."""
        offered = [one for one in self._known.values() if not one.refused]
        refused = [one for one in self._known.values() if one.refused]
        if offered:
            text = self.tr("Algorithms {}").replace("{}", str(len(offered)))
            branch = self._branch("algorithms", text, "processingAlgorithm")
            self._later(branch, lambda item: self._fill_providers(item, offered))
        if refused:
            text = self.tr("Not offered here {}").replace("{}", str(len(refused)))
            branch = self._branch("refused", text, "mIconWarning")
            self._later(branch, lambda item: [self._put_algorithm(item, x) for x in refused])

    def _fill_providers(self, branch: QTreeWidgetItem, offered: list[Offered]) -> None:
        for name in dict.fromkeys(one.provider for one in offered):
            own = [one for one in offered if one.provider == name]
            item = self._branch(f"algorithms {name}", f"{name} {len(own)}", "", branch)
            item.setIcon(0, tool_icon("", own[0].id))
            self._later(item, lambda into, some=own: self._fill_groups(into, some))

    def _fill_groups(self, branch: QTreeWidgetItem, own: list[Offered]) -> None:
        for name in dict.fromkeys(one.group for one in own):
            some = [one for one in own if one.group == name]
            key = f"{branch.data(0, _KEY)} {name}"
            item = self._branch(key, name or self.tr("Others"), "mIconFolder", branch)
            self._later(item, lambda into, held=some: [self._put_algorithm(into, x) for x in held])

    def _put_algorithm(self, branch: QTreeWidgetItem, one: Offered) -> None:
        if one.refused:
            text = f"{one.label}: {one.refused}"
            item = self._leaf(branch, text, None, theme_icon("mIconWarning"))
            item.setForeground(0, self.palette().placeholderText())
            said = self.tr("{0} is not offered here, since it {1}.").replace("{0}", one.label)
            item.setToolTip(0, said.replace("{1}", one.refused))
            return
        step = algorithm_step(one, self._document.roles)
        item = self._leaf(branch, one.label, step, tool_icon("", one.id))
        item.setToolTip(0, f"{one.about or one.label}\n{one.id}")

    # -- finding

    def _fill_found(self, phrase: str) -> None:
        """Show what fits a phrase: steps for you and layers by name, tools and algorithms as the
        tools' own search ranks them."""
        wanted = phrase.casefold().split()
        ranked = [one for one in self._document.shelf.found(phrase) if self._is_known(one)]
        tools = [one for one in ranked if one in self._document.tools]
        for key, one in self._document.tools.items():
            about = f"{one.label} {key} {one.description}".casefold()
            if key not in tools and all(word in about for word in wanted):
                tools.append(key)
        algorithms = [self._known[one] for one in ranked if one in self._known]
        groups = [lambda: self._put_found(tools), lambda: self._put_algorithms(algorithms)]
        if ranked and ranked[0] in self._known:
            groups.reverse()
        for put in groups:
            put()
        layers = [one for one in self._document.layers if not one.short]
        held = [one for one in layers if all(word in one.key.casefold() for word in wanted)]
        if held:
            self._put_layers(held)
        has_yours = self._put_yours(wanted)
        self.tree.expandAll()
        if not (tools or held or algorithms or has_yours):
            self._branch("", self.tr("Nothing fits these words."), "search")

    def _put_found(self, tools: list[str]) -> None:
        if tools:
            branch = self._branch("", self.tr("Tools"), "processingAlgorithm")
            for key in tools:
                self._put(branch, key)

    def _put_algorithms(self, algorithms: list[Offered]) -> None:
        """Show algorithms that were found, those that are not offered by themselves."""
        for is_refused, text, icon in (
            (False, self.tr("Algorithms"), "processingAlgorithm"),
            (True, self.tr("Not offered here"), "mIconWarning"),
        ):
            some = [one for one in algorithms if bool(one.refused) is is_refused]
            branch = self._branch("", text, icon) if some else None
            for one in some:
                self._put_algorithm(branch, one)

    def _is_known(self, key: str) -> bool:
        return key in self._document.tools or key in self._known

    # -- items

    def _put(self, branch: QTreeWidgetItem, key: str) -> None:
        """Put a tool or an algorithm into a branch."""
        if key in self._document.tools:
            role = self._document.roles.of(key)
            self._put_tool(branch, key, role.name if role else "")
        elif key in self._known:
            self._put_algorithm(branch, self._known[key])

    def _put_tool(self, branch: QTreeWidgetItem, name: str, agent: str) -> None:
        tool = self._document.tools[name]
        step = Vertex("", agent, "", name, {})
        item = self._leaf(branch, tool.label or name, step, tool_icon(name))
        item.setToolTip(0, tool.description)

    def _branch(
        self, key: str, text: str, icon: str, under: QTreeWidgetItem | None = None
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem(under or self.tree, [text])
        item.setData(0, _KEY, key)
        if icon:
            item.setIcon(0, theme_icon(icon))
        if under is None:
            font = item.font(0)
            font.setBold(True)
            item.setFont(0, font)
        return item

    def _leaf(
        self, branch: QTreeWidgetItem, text: str, data: object, icon: object
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem(branch, [text])
        item.setData(0, _ROLE, data)
        item.setIcon(0, icon)
        return item

    def _later(self, branch: QTreeWidgetItem, fill: Fill) -> None:
        """Fill a branch when it is opened first."""
        branch.setData(0, _FILL, fill)
        branch.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        self._unfold(branch)

    def _unfold(self, branch: QTreeWidgetItem) -> None:
        """Open a branch that was open before."""
        if branch.data(0, _KEY) in self._open:
            branch.setExpanded(True)

    def _expand(self, item: QTreeWidgetItem) -> None:
        key, fill = item.data(0, _KEY), item.data(0, _FILL)
        if key:
            self._open.add(key)
        if fill is not None:
            item.setData(0, _FILL, None)
            fill(item)

    # -- choosing

    def _first(self) -> QTreeWidgetItem | None:
        """Return the first leaf that can be added."""
        for at in range(self.tree.topLevelItemCount()):
            branch = self.tree.topLevelItem(at)
            for place in range(branch.childCount()):
                if branch.child(place).data(0, _ROLE) is not None:
                    return branch.child(place)
        return None

    def _take_first(self) -> None:
        found = self._first()
        if self.search.text().strip() and found is not None:
            self._take(found)

    def _take(self, item: QTreeWidgetItem) -> None:
        data = item.data(0, _ROLE)
        if isinstance(data, Vertex):
            key = (data.parameters or {}).get(ALGORITHM) or data.tool
            if key:
                self._document.shelf.used(str(key))
            self.step_chosen.emit(data)
        elif isinstance(data, str):
            self.layer_chosen.emit(data)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from the search to the list with Down, and back with Esc."""
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.tree.setFocus()
            first = self._first()
            if first is not None:
                self.tree.setCurrentItem(first)
            return
        if event.key() == Qt.Key.Key_Escape and (self.search.text() or self.tree.hasFocus()):
            self.search.clear()
            self.search.setFocus()
            return
        super().keyPressEvent(event)
