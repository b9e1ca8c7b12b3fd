# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a step may stand: in a link, or behind what flows; and which steps may be offered there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QCoreApplication

from ...plugin.workflow import fitting
from ...plugin.workflow.fitting import Gap, Unfitting
from ...plugin.workflow.graph import Graph, Kind, Vertex
from ...plugin.workflow.port import is_bound, with_value
from ...plugin.workflow.topology import ancestors, descendants
from ...plugin.workflow.value import Layer, Output
from ...tools.base import Family
from .algorithm_step import algorithm_step
from .card import title
from .link_item import LinkKey

if TYPE_CHECKING:
    from .document import GraphDocument


def tr(text: str) -> str:
    """Translate a sentence about a link."""
    return QCoreApplication.translate("Joining", text)


class Joining:
    """Judges over a document; it changes nothing."""

    def __init__(self, document: GraphDocument) -> None:
        self._document = document

    def gap(self, link: LinkKey) -> Gap:
        """Return a link as a gap for a step. Raises Unfitting for one that gives nothing."""
        document = self._document
        if not document.graph.has(link.target):
            raise Unfitting(tr("Accept the proposed step first"))
        target = document.graph.vertex(link.target)
        port = document.ports(target).get(link.port)
        family = document.flow.family(link.source)
        if family is None or port is None:
            raise Unfitting(tr("No layer flows through this link."))
        return Gap(link.source, family, link.target, link.port, port.kinds)

    def entry(self, vertex: Vertex, link: LinkKey) -> str:
        """Return the parameter by which a step would take what flows in a link.

        Raises Unfitting with the reason why it cannot stand there.
        """
        document = self._document
        gap = self.gap(link)
        step = title(document, vertex)
        flowing = self.name(link.source)
        port = fitting.entry(gap, vertex, document.ports(vertex), (step, flowing))
        bound = replace(vertex, parameters=with_value(vertex.parameters, port, gap.source))
        gives = document.flow.given_by(bound, document.graph)
        fitting.leaves(gap, gives, (step, title(document, document.graph.vertex(link.target))))
        return port

    def why_not_into(self, key: str, link: LinkKey) -> str:
        """Return why a step that is there cannot be put into a link, "" where it can."""
        document = self._document
        graph = document.graph
        if not graph.has(key) or not graph.has(link.target):
            return tr("Accept the proposed step first")
        above = ancestors(graph, link.source.vertex) if isinstance(link.source, Output) else ()
        if key in above or key in descendants(graph, link.target):
            return tr("The steps would wait for each other")
        vertex = graph.vertex(key)
        known = document.ports(vertex)
        if known and all(is_bound(vertex.parameters, one) for one in known):
            return tr("{} takes other layers already").replace("{}", title(document, vertex))
        try:
            self.entry(vertex, link)
        except Unfitting as unfitting:
            return str(unfitting)
        return ""

    def name(self, source: Layer | Output) -> str:
        """Return what a layer or a step is called."""
        if isinstance(source, Layer):
            return source.name
        return title(self._document, self._document.shown.vertex(source.vertex))

    # -- what may be offered

    def offers_in(self, link: LinkKey) -> list[Vertex]:
        """Return the new steps that fit into a link, those for the user last."""
        return [one for one in self._all() if self._stands_in(one, link)]

    def offers_after(self, source: Layer | Output) -> list[Vertex]:
        """Return the new steps that take what flows."""
        family = self._document.flow.family(source)
        return [one for one in self._all() if self.port_for(one, family)]

    def algorithms_in(self, link: LinkKey, phrase: str) -> list[Vertex]:
        """Return the steps that run an algorithm found by a phrase and fit into a link."""
        return [one for one in self._algorithms(phrase) if self._stands_in(one, link)]

    def algorithms_after(self, source: Layer | Output, phrase: str) -> list[Vertex]:
        """Return the steps that run an algorithm found by a phrase and take what flows."""
        family = self._document.flow.family(source)
        return [one for one in self._algorithms(phrase) if self.port_for(one, family)]

    def port_for(self, vertex: Vertex, family: Family | None) -> str:
        """Return the first free parameter of a step that takes a kind of layer, "" for none."""
        return fitting.port_for(family, vertex, self._document.ports(vertex))

    def _stands_in(self, vertex: Vertex, link: LinkKey) -> bool:
        try:
            self.entry(vertex, link)
        except Unfitting:
            return False
        return True

    def _algorithms(self, phrase: str) -> Iterator[Vertex]:
        shelf, roles = self._document.shelf, self._document.roles
        known = {one.id: one for one in shelf.algorithms()} if phrase.strip() else {}
        for key in shelf.found(phrase) if known else ():
            if key in known and not known[key].refused:
                yield algorithm_step(known[key], roles)

    def _all(self) -> Iterator[Vertex]:
        document = self._document
        for role in document.roles.all():
            for name in role.tools:
                if name in document.tools:
                    yield Vertex("", role.name, "", name, {})
        yield Vertex("", objective=tr("Look at the layer"), parameters={}, kind=Kind.REVIEW)


def is_placed(graph: Graph) -> bool:
    """Tell whether the user has moved steps, so that new ones need a place."""
    return any(one.position is not None for one in graph.vertices)
