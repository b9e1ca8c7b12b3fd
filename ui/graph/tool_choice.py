# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent and the tool of a step: what can be chosen, and what each choice carries over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qgis.PyQt.QtCore import QCoreApplication, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import QComboBox

from ...plugin.workflow.graph import Graph, Kind, Vertex
from ...plugin.workflow.shelf import RUN_ALGORITHM
from ...plugin.workflow.value import Layer, Output, Value
from ...tools.base import Family
from ..icon import FOLDER, own_icon, theme_icon, tool_icon
from ..palette import agent_colour
from .card import title
from .document import GraphDocument
from .parameter_row import algorithm_of
from .swapping import Swap, swap, swap_algorithm

_MOST_ALGORITHMS = 6
_TIP = int(Qt.ItemDataRole.ToolTipRole)


def tr(text: str) -> str:
    """Translate a text of the choice."""
    return QCoreApplication.translate("ToolChoice", text)


def words_of(names: tuple[str, ...]) -> str:
    """Return parameters as a reader knows them."""
    return ", ".join(one.replace("_", " ").lower() for one in names)


class ToolBox(QComboBox):
    """Asks for its entries anew when it is opened."""

    about_to_open = pyqtSignal()

    def showPopup(self) -> None:
        """Open with what fits the step as it is now."""
        self.about_to_open.emit()
        super().showPopup()


class ToolChoice:
    """Fills the lists of agents and tools, and makes the changes that are chosen there."""

    def __init__(self, document: GraphDocument) -> None:
        self._document = document
        self.agent, self.tool = QComboBox(), ToolBox()
        self.agent.setObjectName("GeoOlmStepAgent")
        self.tool.setObjectName("GeoOlmStepTool")
        for box in (self.agent, self.tool):
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
            box.setMinimumContentsLength(10)
        self.said: Callable[[str], None] = lambda text: None
        self._swaps: dict[str, Swap] = {}
        self._vertex = Vertex("")
        self._seen: tuple[object, ...] = ()
        self.agent.activated.connect(lambda _at: self._give())
        self.tool.activated.connect(lambda _at: self._swap())
        self.tool.about_to_open.connect(self._fill_tools)

    def show_step(self, vertex: Vertex) -> None:
        """Offer the agents and the tools of a step."""
        document = self._document
        seen = (vertex.id, vertex.kind, vertex.tool, vertex.agent, algorithm_of(vertex),
                document.tools, id(document.shelf))  # fmt: skip
        self._vertex = vertex
        if seen == self._seen:
            return
        self._seen = seen
        self._fill_agents()
        self._fill_tools()

    # -- filling

    def _fill_agents(self) -> None:
        vertex, roles = self._vertex, self._document.roles
        self.agent.clear()
        is_task = vertex.kind is Kind.TASK
        self.agent.setEnabled(is_task)
        if not is_task:
            colour = agent_colour(self.agent.palette(), "you")
            self.agent.addItem(own_icon("agent_you", colour), tr("You"), "")
            return
        for role in roles.all():
            icon = role.icon.rpartition(".")[0] or role.icon
            is_own = bool(role.icon) and (FOLDER / role.icon).is_file()
            colour = agent_colour(self.agent.palette(), role.name)
            self.agent.addItem(
                own_icon(icon, colour) if is_own else theme_icon(icon), role.label, role.name
            )
            self.agent.setItemData(self.agent.count() - 1, role.scope, _TIP)
        if roles.find(vertex.agent) is None:
            self.agent.addItem(vertex.agent or tr("No agent"), vertex.agent)
        self.agent.setCurrentIndex(self.agent.findData(vertex.agent))

    def _fill_tools(self) -> None:
        vertex, document = self._vertex, self._document
        self.tool.clear()
        self._swaps = {}
        is_task = vertex.kind is Kind.TASK
        self.tool.setEnabled(is_task)
        if not is_task:
            self.tool.addItem(title(document, vertex), "")
            return
        self.tool.addItem(tr("Chosen when it runs"), "")
        role = document.roles.find(vertex.agent)
        names = [one for one in (role.tools if role else ()) if one in document.tools]
        if algorithm_of(vertex):
            self._put_own(vertex)
        elif vertex.tool and vertex.tool not in names:
            names.insert(0, vertex.tool)
        made = {name: self._made(name) for name in names if name != vertex.tool}
        self._swaps = {name: one for name, one in made.items() if one is not None}
        for name in sorted(names, key=self._distance):
            if name != RUN_ALGORITHM:
                self._put_tool(name)
        self._put_algorithms()
        self.tool.setCurrentIndex(max(self.tool.findData(algorithm_of(vertex) or vertex.tool), 0))

    def _put_own(self, vertex: Vertex) -> None:
        algorithm = algorithm_of(vertex)
        label = self._algorithms().get(algorithm, algorithm)
        self.tool.addItem(tool_icon("", algorithm), label, algorithm)

    def _algorithms(self) -> dict[str, str]:
        found = self._document.shelf.algorithms()
        return {one.id: one.label for one in found if not one.refused}

    def _made(self, key: str) -> Swap | None:
        """Return the step with another tool or algorithm as it would be now."""
        document, vertex = self._document, self._vertex
        tool = document.tools.get(key)
        if tool is not None:
            own, first = document.roles.find(vertex.agent), document.roles.of(key)
            keeps = first is None or (own is not None and key in own.tools)
            agent = vertex.agent if keeps or first is None else first.name
            return swap(vertex, tool, agent, self._family_of)
        schema = document.shelf.schema(key)
        if schema is None:
            return None
        return swap_algorithm(vertex, key, schema, vertex.agent, self._family_of)

    def _distance(self, name: str) -> tuple[int, int]:
        """Return how far a tool is from the present one: what it leaves out, then what it takes."""
        made = self._swaps.get(name)
        return (len(made.lost), -len(made.carried)) if made is not None else (-1, 0)

    def _put_tool(self, name: str) -> None:
        tool, made = self._document.tools.get(name), self._swaps.get(name)
        label = tool.label if tool and tool.label else name
        if made is None:
            self.tool.addItem(tool_icon(name), label, name)
        else:
            self._put_swap(name, label, made, tool_icon(name))

    def _put_algorithms(self) -> None:
        """Offer the algorithms that do what the tool is called."""
        document, vertex = self._document, self._vertex
        own, labels = algorithm_of(vertex), self._algorithms()
        definition = document.tools.get(vertex.tool)
        phrase = labels.get(own, "") if own else (definition.label if definition else "")
        found = [one for one in document.shelf.found(phrase) if one in labels] if phrase else []
        for algorithm in [one for one in found if one != own][:_MOST_ALGORITHMS]:
            made = self._made(algorithm)
            if made is not None:
                self._put_swap(algorithm, labels[algorithm], made, tool_icon("", algorithm))

    def _put_swap(self, key: str, label: str, made: Swap, icon: object) -> None:
        """Offer another tool, with what it would not take over."""
        lost = tr("{0} (without {1})").replace("{0}", label)
        text = lost.replace("{1}", words_of(made.lost)) if made.lost else label
        self.tool.addItem(icon, text, key)
        self.tool.setItemData(self.tool.count() - 1, told(made), _TIP)

    def _family_of(self, value: Value) -> Family:
        known = isinstance(value, (Layer, Output))
        return (self._document.flow.family(value) if known else None) or Family.ANY

    # -- changing

    def _give(self) -> None:
        """Give the step to another agent."""
        vertex, name = self._vertex, str(self.agent.currentData())
        if name == vertex.agent or not self._document.graph.has(vertex.id):
            return
        text = tr("Give {0} to {1}").replace("{0}", title(self._document, vertex))
        text = text.replace("{1}", self.agent.currentText())

        def give(graph: Graph) -> Graph:
            return graph.with_vertex(replace(graph.vertex(vertex.id), agent=name))

        self._document.edit(text, give)

    def _swap(self) -> None:
        """Change the tool of the step; what was not carried over is told."""
        vertex, key = self._vertex, str(self.tool.currentData() or "")
        document = self._document
        if key == (algorithm_of(vertex) or vertex.tool) or not document.graph.has(vertex.id):
            return
        old = title(document, vertex)
        if not key:
            text = tr("Let the tool of {} be chosen when it runs").replace("{}", old)
            free = replace(vertex, tool="", parameters=None)
            document.edit(text, lambda graph: graph.with_vertex(free))
            return
        made = self._made(key)
        if made is None:
            return
        definition = document.tools.get(key)
        new = definition.label if definition and definition.label else key
        text = tr("Change the tool of {0} to {1}").replace("{0}", old)
        document.edit(text.replace("{1}", self._algorithms().get(key, new)), made.applied)
        self.said(told(made))


def told(made: Swap) -> str:
    """Return what another tool takes over and what it does not, in words."""
    parts = []
    if made.carried:
        parts.append(tr("Carried over: {}.").replace("{}", words_of(made.carried)))
    if made.lost:
        parts.append(tr("Left out: {}.").replace("{}", words_of(made.lost)))
    return " ".join(parts)
