# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding algorithms of the live registry by what they do, in four languages and offline."""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from qgis.core import QgsApplication, QgsProcessingAlgorithm
from qgis.PyQt.QtCore import QTranslator

from . import offer
from .search_index import Entry, Index, has_fts5

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives a vector for each text, as a model's server does."""

LANGUAGES = ("es", "fr", "tr")
"""QGIS carries its own words in these; English is what the registry says."""
_SYNONYMS = Path(__file__).resolve().parent.parent / "resources" / "search" / "synonyms.json"
_LONGEST_HELP = 60
_TAG = re.compile(r"<[^>]*>")
_RERANKED = 30
_OF_A_KIND = 4
"""Algorithms with the same synonyms are of a kind, such as the eight random rasters."""


@dataclass(frozen=True)
class Match:
    """A found algorithm: its id, its name as shown, and its score (higher is better)."""

    id: str
    name: str
    score: float


class Search:
    """The algorithms of a registry by words, as they were when this was made.

    Made on the main thread, where the registry is read; asked from any thread, of which the first
    one builds the index.
    """

    def __init__(
        self, algorithms: Sequence[QgsProcessingAlgorithm], fts5: bool | None = None
    ) -> None:
        tongues = [one for one in map(_translator, LANGUAGES) if one is not None]
        groups = _read()["groups"]
        self.names = {one.id(): one.displayName() for one in algorithms}
        self._refused = {one.id() for one in algorithms if offer.refused(one)}
        self._entries = [_entry(one, groups, tongues) for one in algorithms]
        self._kinds = {one.id: one.synonyms for one in self._entries}
        self._fts5 = fts5
        self._index: Index | None = None
        self._lock = threading.Lock()

    def index(self) -> Index:
        """Return the index, built at the first call."""
        with self._lock:
            if self._index is None:
                self._index = index_of(self._entries, self._fts5)
            return self._index

    def found(
        self, phrase: str, most: int = 8, refused: bool = False, embed: Embed | None = None
    ) -> list[Match]:
        """Return the algorithms that fit a phrase best, best first.

        Those that are never offered are left out unless `refused`. With `embed` the first ones
        are put in order by meaning and words together; it may raise its own errors.
        """
        ranked = [
            Match(one, self.names[one], score)
            for one, score in self.index().ranked(phrase)
            if refused or one not in self._refused
        ]
        ranked = self._varied(ranked)
        if embed is not None and ranked:
            ranked = self._by_meaning(phrase, ranked[:_RERANKED], embed)
        return ranked[:most]

    def _varied(self, ranked: list[Match]) -> list[Match]:
        """Return the matches with no more than a few of a kind before the others' best."""
        seen: Counter[tuple[str, ...]] = Counter()
        first, later = [], []
        for one in ranked:
            kind = self._kinds[one.id]
            seen[kind] += 1
            (later if kind and seen[kind] > _OF_A_KIND else first).append(one)
        return first + later

    def _by_meaning(self, phrase: str, ranked: list[Match], embed: Embed) -> list[Match]:
        abouts = {one.id: one.help[0] for one in self._entries}
        texts = [f"{one.name}. {abouts[one.id]}" for one in ranked]
        wanted, *vectors = embed([phrase, *texts])
        top = ranked[0].score
        scored = [
            Match(one.id, one.name, one.score / top + _likeness(wanted, vector))
            for one, vector in zip(ranked, vectors)
        ]
        return sorted(scored, key=lambda one: -one.score)


def index_of(entries: Sequence[Entry], fts5: bool | None = None) -> Index:
    """Return an index of entries that knows the common words and the words alike. Any thread."""
    read = _read()
    common, things = (" ".join(read[one].values()).split() for one in ("common", "things"))
    return Index(entries, common, things, read["alike"], has_fts5() if fts5 is None else fts5)


def _likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of the angle between two vectors, 0 where one is nothing."""
    size = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other)) / size if size else 0.0


def live() -> Search:
    """Return the search over the registry as it is now, made anew when it has changed.

    Main thread only.
    """
    ids = [one.id() for one in QgsApplication.processingRegistry().algorithms()]
    return _search(tuple(ids), QgsApplication.locale())


@lru_cache(maxsize=1)
def _search(ids: tuple[str, ...], locale: str) -> Search:
    return Search(QgsApplication.processingRegistry().algorithms())


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    """Return the common words by language, words alike, and the synonyms by algorithm."""
    document = json.loads(_SYNONYMS.read_text(encoding="utf-8"))
    groups: dict[str, list[str]] = {}
    for group in document["groups"]:
        said = [text for key, texts in group.items() if key != "algorithms" for text in texts]
        for name in group["algorithms"]:
            groups.setdefault(name, []).extend(said)
    return {**document, "groups": groups}


def _translator(language: str) -> QTranslator | None:
    """Return QGIS's own words in a language, None where this QGIS does not carry them."""
    found = QTranslator()
    path = Path(QgsApplication.i18nPath()) / f"qgis_{language}.qm"
    return found if found.load(str(path)) else None


def _translated(
    text: str, contexts: Sequence[str], tongues: Sequence[QTranslator]
) -> tuple[str, ...]:
    if not text:
        return ()
    found = []
    for tongue in tongues:
        said = (tongue.translate(context, text.encode()) for context in contexts)
        found.extend([one for one in said if one][:1])
    return tuple(found)


def _entry(
    algorithm: QgsProcessingAlgorithm, groups: dict[str, list[str]], tongues: Sequence[QTranslator]
) -> Entry:
    name, provider = algorithm.name(), algorithm.provider().id()
    provider = "native" if provider == "qgis" else provider
    contexts = ("QObject", type(algorithm).__name__)
    synonyms = groups.get(name, []) + groups.get(f"{name}:{provider}", [])
    tags = ",".join(algorithm.tags())
    return Entry(
        algorithm.id(),
        (algorithm.displayName(), name, *_translated(algorithm.displayName(), contexts, tongues)),
        tuple(synonyms),
        (tags, algorithm.group(), provider, *_translated(tags, contexts, tongues)),
        (_about(algorithm), _parameters(algorithm)),
    )


def _about(algorithm: QgsProcessingAlgorithm) -> str:
    """Return the head of what an algorithm says of itself, as plain text."""
    text = algorithm.shortDescription() or algorithm.shortHelpString() or ""
    return " ".join(_TAG.sub(" ", text).split()[:_LONGEST_HELP])


def _parameters(algorithm: QgsProcessingAlgorithm) -> str:
    return " ".join(one.description() for one in algorithm.parameterDefinitions()[:_LONGEST_HELP])
