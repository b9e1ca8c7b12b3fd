# SPDX-License-Identifier: GPL-2.0-or-later
"""The links of a scene: made from the workflow, led around what stands between their ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from qgis.PyQt.QtCore import QCoreApplication, QPointF

from ...plugin.workflow.fitting import PLURAL
from ...plugin.workflow.graph import Graph, Status, Vertex
from ...plugin.workflow.layout import Link, Place
from ...plugin.workflow.port import name_of, sources
from ...plugin.workflow.route import Box, Lane, apart, route
from ...plugin.workflow.value import Layer, Output
from ...tools.base import Family
from ..number import count, number
from . import measure
from .card import said, title
from .group_item import TITLE
from .link_item import Flowing, LinkItem, LinkKey

if TYPE_CHECKING:
    from .scene import GraphScene

LAYER = "layer:"
_BACK = 1.0


def end_of(source: Layer | Output) -> str:
    """Return the key of the item at which a link begins."""
    return f"{LAYER}{source.name}" if isinstance(source, Layer) else source.vertex


class Links:
    """Owns the items of the links."""

    def __init__(self, scene: GraphScene) -> None:
        self._scene = scene
        self.items: dict[LinkKey, LinkItem] = {}
        self.lanes: Mapping[Link, tuple[Place, ...]] = {}
        """The lanes that the layout found, where the user has moved nothing."""
        self._vertices: dict[str, Vertex] = {}
        self._taken: dict[str, list[Lane]] = {}
        self._around: tuple[Any, Any] | None = None

    def rebuild(self, graph: Graph) -> None:
        """Make the items that the graph asks for, and lay them."""
        scene = self._scene
        self._vertices = {one.id: one for one in graph.vertices}
        wanted = dict.fromkeys(LinkKey(*join) for join in joins(graph))
        for key in set(self.items) - set(wanted):
            scene.removeItem(self.items.pop(key))
        for key in wanted:
            if key not in self.items:
                link = LinkItem(key, scene.unit, scene.face, scene.look)
                scene.addItem(link)
                self.items[key] = link
        self.lay()
        self.tell()

    def lay(self, of: Iterable[str] = ()) -> None:
        """Draw the links anew: all, or those of some steps, which are being moved."""
        keys = set(of)
        boxes = dict(self._boxes())
        around = None if keys else (boxes, self.lanes)
        is_same = around is not None and around == self._around
        self._around = around  # while steps are moved, the other links wait
        folded = self._scene.frames.folded
        self._taken = {}
        for key, link in self.items.items():
            if keys and key.target not in keys and end_of(key.source) not in keys:
                continue
            begin = end_of(key.source)
            inside = folded.get(begin, -1)
            if inside >= 0 and folded.get(key.target) == inside:
                link.setVisible(False)  # both ends are in a collapsed group
                continue
            start, end = self.start(key.source), self.end(key)
            link.setVisible(start is not None and end is not None)
            if start is None or end is None or (is_same and link.ends == (start, end)):
                continue  # nothing has moved
            link.lay(start, end, self._lanes(key, start, end, boxes))

    def tell(self, of: Iterable[str] = ()) -> None:
        """Say on the links what flows: on all, or on those of some steps."""
        keys = set(of)
        for key, link in self.items.items():
            if not keys or key.target in keys or end_of(key.source) in keys:
                link.tell(self._flowing(key))

    def start(self, source: Layer | Output) -> QPointF | None:
        """Return where a link begins, in the scene."""
        scene = self._scene
        if isinstance(source, Layer):
            return scene.pills[source.name].output() if source.name in scene.pills else None
        group = scene.frames.group_at(source.vertex)
        if group is not None:
            return group.output()
        return scene.nodes[source.vertex].output() if source.vertex in scene.nodes else None

    def end(self, key: LinkKey) -> QPointF | None:
        """Return where a link ends, in the scene."""
        group = self._scene.frames.group_at(key.target)
        if group is not None:
            return group.input()
        node = self._scene.nodes.get(key.target)
        if node is None:
            return None
        found = dict(node.inputs()).get(key.port)
        return found if found is not None else node.mapToScene(QPointF(0, self._scene.unit))

    def of(self, key: str) -> tuple[list[LinkKey], list[LinkKey]]:
        """Return the links into a step or out of a step or layer, in reading order."""
        into = [one for one in self.items if one.target == key]
        out = [one for one in self.items if end_of(one.source) == key]
        return into, out

    # -- parts

    def _lanes(
        self, key: LinkKey, start: QPointF, end: QPointF, boxes: Mapping[str, Box]
    ) -> list[tuple[float, float, float]]:
        u = self._scene.unit
        own = (end_of(key.source), key.target)
        known = self.lanes.get(own)
        if known and not self._scene.frames.folded:
            return [(x * u, (x + measure.WIDTH) * u, y * u) for x, y in known]
        forward = end.x() >= start.x() + _BACK * u
        others = [box for name, box in boxes.items() if name not in own or not forward]
        a, b = (start.x() / u, start.y() / u), (end.x() / u, end.y() / u)
        lanes = route(a, b, others, forward)
        if lanes:  # links of one source may run together, others side by side
            used = [one for name, ways in self._taken.items() if name != own[0] for one in ways]
            lanes = apart(lanes, used, others)
            self._taken.setdefault(own[0], []).extend(lanes)
        return [(left * u, right * u, y * u) for left, right, y in lanes]

    def _boxes(self) -> Iterator[tuple[str, Box]]:
        """Yield what links are led around: left, top, right and bottom in em."""
        scene = self._scene
        u = scene.unit
        for key, node in scene.nodes.items():
            if key not in scene.frames.folded:
                x, y = node.x() / u, node.y() / u
                top = y - (measure.TAB if node.card.check is not None else 0)
                yield key, (x, top, x + node.size[0], y + node.size[1])
        for name, pill in scene.pills.items():
            x, y = pill.x() / u, pill.y() / u
            yield f"{LAYER}{name}", (x, y, x + pill.size[0], y + pill.size[1])
        for at, group in scene.frames.groups.items():
            x, y = group.x() / u, group.y() / u
            height = group.size[1] if group.is_collapsed else TITLE
            yield f"group:{at}", (x, y, x + group.size[0], y + height)

    def _flowing(self, key: LinkKey) -> Flowing:
        """Return what a link says: of which kind and how many features flow, and whether now."""
        document = self._scene.document
        flows = document.state(key.target).status is Status.RUNNING
        words = self._words(key)
        if not key.port:
            return Flowing(flows=flows, words=words)
        if isinstance(key.source, Output) and key.source.key:
            return Flowing(count=key.source.key.replace("_", " "), flows=flows, words=words)
        family = document.flow.family(key.source)
        features = document.flow.features(key.source)
        shown = number(features) if features >= 0 else ""
        known = family is not None and family is not Family.ANY
        what = family.value if family is not None and known else ""
        if known or shown:
            many = count(features, what) if features >= 0 else ""
            words = f"{words}\n{many or (PLURAL[family] if family is not None else '')}"
        return Flowing(what, shown, flows, words)

    def _words(self, key: LinkKey) -> str:
        document = self._scene.document
        target = title(document, self._vertices[key.target])
        source = said(document, key.source)
        if not key.port:
            text = QCoreApplication.translate("LinkItem", "{1} waits for {0}")
            return text.replace("{0}", source).replace("{1}", target)
        port = name_of(key.port).replace("_", " ").capitalize()
        return f"{source} → {target}: {port}"


def joins(graph: Graph) -> list[tuple[Layer | Output, str, str]]:
    """Return every link: what flows, into which step, by which parameter ("" for only waiting)."""
    found: list[tuple[Layer | Output, str, str]] = []
    names = {one.name for one in graph.variables}
    for vertex in graph.vertices:
        own: list[tuple[Layer | Output, str, str]] = [
            (one, vertex.id, port) for one, port in sources(vertex.parameters)
        ]
        told = {source.vertex for source, _, _ in own if isinstance(source, Output)}
        used = {one.vertex for one in vertex.outputs() if one.vertex not in names}
        waits = [*vertex.after, *(used - told)]
        own += [(Output(key), vertex.id, "") for key in dict.fromkeys(waits) if key not in told]
        found += own
    return list(dict.fromkeys(found))
