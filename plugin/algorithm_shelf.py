# SPDX-License-Identifier: GPL-2.0-or-later
"""The live registry as the graph editor sees it: all algorithms, what they take, and finding them
and our tools by words."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qgis.core import QgsApplication, QgsProcessingAlgorithm, QgsProject

from ..tools import offer, parameter_schema, search
from ..tools.base import LayerProfile, ToolDefinition
from ..tools.parameter_measure import utm
from ..tools.search_index import Entry, Index
from .workflow.check_algorithm import NO_ALGORITHMS, Algorithms
from .workflow.graph import Graph
from .workflow.shelf import ALGORITHM, RUN_ALGORITHM, Offered

_LOG = logging.getLogger(__name__)
_MOST_TOOLS, _MOST_ALGORITHMS, _MOST_RECENT = 8, 24, 8
OWN = "geo_olm"
"""The provider of our tools, which the palette shows as tools."""


class AlgorithmShelf:
    """Reads the registry anew when it has changed; `kept` is the file of what was added last.
    Main thread only, but for `warm`."""

    def __init__(self, tools: Iterable[ToolDefinition], kept: Path) -> None:
        self._tools = {one.name: one for one in tools}
        self._kept = kept
        self._ids: tuple[str, ...] = ()
        self._algorithms: tuple[Offered, ...] = ()
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self._index: Index | None = None
        self._recent: list[str] | None = None
        self._search: search.Search | None = None

    def algorithms(self) -> Sequence[Offered]:
        """Return all algorithms of other providers, by provider, group and name."""
        found = [
            one
            for one in QgsApplication.processingRegistry().algorithms()
            if one.provider().id() != OWN
        ]
        ids = tuple(one.id() for one in found)
        if ids != self._ids:
            self._ids = ids
            self._schemas = {}
            offers = [_offered(one) for one in found]
            self._algorithms = tuple(
                sorted(offers, key=lambda one: (one.provider, one.group, one.label.casefold()))
            )
        return self._algorithms

    def schema(self, algorithm: str) -> Mapping[str, Any] | None:
        """Return what an algorithm takes, as `run_algorithm` takes it."""
        self.algorithms()
        if algorithm not in self._schemas:
            found = QgsApplication.processingRegistry().algorithmById(algorithm)
            if found is None:
                return None
            self._schemas[algorithm] = parameter_schema.schema(found)
        return self._schemas[algorithm]

    def known(self, graph: Graph, layers: Iterable[LayerProfile]) -> Algorithms:
        """Return what the checks must know of the algorithms that a graph runs."""
        steps = [one.parameters or {} for one in graph.vertices if one.tool == RUN_ALGORITHM]
        used = [name for name in (one.get(ALGORITHM) for one in steps) if isinstance(name, str)]
        if not used:
            return NO_ALGORITHMS
        every = self.algorithms()
        schemas = {name: found for name in used if (found := self.schema(name)) is not None}
        return Algorithms(
            frozenset(one.id for one in every if not one.refused),
            {one.id: one.refused for one in every if one.refused},
            schemas,
            {one.key: crs for one in layers if (crs := _metric(one))},
        )

    def found(self, phrase: str) -> Sequence[str]:
        """Return tools and algorithms: first those that are called so, then those that the tools'
        own search finds, tools before algorithms."""
        wanted = phrase.casefold().split()
        if not wanted:
            return ()
        names = {key: f"{one.label} {key}" for key, one in self._tools.items()}
        ranked_tools = [key for key, _ in self._tool_index().ranked(phrase)][:_MOST_TOOLS]
        labels = {one.id: f"{one.label} {one.id}" for one in self.algorithms()}
        ranked = search.live().found(phrase, _MOST_ALGORITHMS, refused=True)
        found = [
            *_named(names, wanted)[:_MOST_TOOLS],
            *_named(labels, wanted)[:_MOST_ALGORITHMS],
            *ranked_tools,
            *(one.id for one in ranked if one.id in labels),
        ]
        return tuple(dict.fromkeys(found))

    def warm(self) -> None:
        """Build the indexes, so that the first search waits for nothing. Any thread, once `ready`
        was called on the main thread."""
        self._tool_index()
        if self._search is not None:
            self._search.index()

    @property
    def is_ready(self) -> bool:
        """Whether the registry's names were read."""
        return self._search is not None

    def ready(self) -> None:
        """Read the registry's names."""
        self._search = search.live()

    def recent(self) -> Sequence[str]:
        """Return what was added last, the latest first."""
        if self._recent is None:
            self._recent = _read(self._kept)
        return tuple(self._recent)

    def used(self, key: str) -> None:
        """Keep that a tool or an algorithm was added."""
        others = [one for one in self.recent() if one != key]
        self._recent = [key, *others][:_MOST_RECENT]
        try:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            self._kept.write_text(json.dumps(self._recent), encoding="utf-8")
        except OSError as error:
            _LOG.warning("what was added last is not kept: %s", error)

    def _tool_index(self) -> Index:
        if self._index is None:
            entries = [
                Entry(key, (one.label or key, key), help=(one.description,))
                for key, one in self._tools.items()
            ]
            self._index = search.index_of(entries)
        return self._index


def _offered(algorithm: QgsProcessingAlgorithm) -> Offered:
    return Offered(
        algorithm.id(),
        algorithm.displayName(),
        algorithm.group(),
        algorithm.provider().name(),
        algorithm.shortDescription(),
        offer.refused(algorithm),
    )


def _metric(profile: LayerProfile) -> str:
    """Return a metric CRS for a layer of the project that is in degrees, "" for another."""
    layer = QgsProject.instance().mapLayer(profile.id)
    if layer is None or not layer.crs().isGeographic():
        return ""
    middle = layer.extent().center()
    return utm(middle.x(), middle.y())


def _named(names: Mapping[str, str], wanted: Sequence[str]) -> list[str]:
    """Return what has all words in its name, those whose name begins so first."""
    held = [key for key, name in names.items() if all(one in name.casefold() for one in wanted)]
    first = wanted[0]
    return sorted(held, key=lambda key: (not names[key].casefold().startswith(first), names[key]))


def _read(path: Path) -> list[str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []  # nothing was kept yet, or not by us
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
