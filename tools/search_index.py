# SPDX-License-Identifier: GPL-2.0-or-later
"""A small full-text index in memory: SQLite FTS5 where it is there, else a scan that scores alike.

Scores are Okapi BM25 as SQLite computes it (https://www.sqlite.org/fts5.html, section 5.1.1), over
fields of different weight. No QGIS here.
"""

from __future__ import annotations

import difflib
import math
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from .search_word import HEAD, head, marks, stem, words

WEIGHTS = {"names": 6.0, "synonyms": 5.0, "tags": 2.0, "help": 0.5}
_PHRASE = 1.0
"""What the nearest phrase counts beside the words, both from 0 to 1."""
_FIRST = 80
"""So many entries by words are looked at by phrases."""
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6
_SIMILAR = 0.5
"""What a word counts that is not said but means much the same."""
_THING = 0.4
"""What a word counts that names a thing of the world, not what is done with it."""
_WIDEST = 3
_LONG = 4
_LONGEST, _MOST_WORDS = 2_000, 40
"""What is read of a phrase, in characters and in words."""
_ALIKE = 0.75
"""How much a misspelt word must look like a known one, as difflib measures it."""


@dataclass(frozen=True)
class Entry:
    """What is known of an algorithm, each field texts in any of the languages.

    Of `phrases` (names and synonyms) the one nearest to what is asked counts as well.
    """

    id: str
    names: tuple[str, ...]
    synonyms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    help: tuple[str, ...] = ()

    def phrases(self) -> tuple[str, ...]:
        """Return the texts that say in few words what the algorithm does."""
        return (*self.names, *self.synonyms)


def has_fts5() -> bool:
    """Tell whether this SQLite was built with FTS5."""
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    except sqlite3.OperationalError:
        return False
    return True


class Index:
    """Entries by words. It may be asked from any thread.

    `common` are the words that say nothing, `things` those that name what work is done on more
    often than the work; `alike` are lists of words that say much the same; `fts5` tells whether
    SQLite is used.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        common: Sequence[str] = (),
        things: Sequence[str] = (),
        alike: Sequence[Sequence[str]] = (),
        fts5: bool = True,
    ) -> None:
        self._common = frozenset(common)
        self._things = frozenset(stem(word) for one in things for word in words(one))
        self._ids = [entry.id for entry in entries]
        columns = [field.name for field in fields(Entry)[1:]]
        rows = [
            [marks(" ".join(getattr(entry, one)), self._common) for one in columns]
            for entry in entries
        ]
        self._rarity = _rarity(rows)
        self._phrases = [self._measured(entry) for entry in entries]
        self._alike = self._families(alike)
        weights = [WEIGHTS[one] for one in columns]
        self._scores: Callable[[Iterable[str]], dict[int, float]] = (
            _Table(columns, weights, rows) if fts5 else _Scan(weights, rows)
        )

    def ranked(self, text: str) -> list[tuple[str, float]]:
        """Return the ids that share a word with `text` and their scores, best first."""
        said = self._said(text)
        wanted = {**self._similar(text, said), **said}
        if not wanted:
            return []
        scores = self._by_words(wanted)
        best = self._ordered(scores)
        top = max(scores.values(), default=0.0) or 1.0
        scores = {place: score / top for place, score in scores.items()}
        length = self._length(said) or self._length(wanted)
        for place in best[:_FIRST]:
            scores[place] += _PHRASE * self._nearest(wanted, place) / length
        return [(self._ids[place], scores[place]) for place in self._ordered(scores)]

    def _ordered(self, scores: dict[int, float]) -> list[int]:
        """Return the places best first, equal ones by id whatever the order of the sums."""
        return sorted(scores, key=lambda place: (-round(scores[place], 9), self._ids[place]))

    def _by_words(self, wanted: dict[str, float]) -> dict[int, float]:
        """Return the scores of the entries, each word counted with its weight."""
        found: dict[int, float] = {}
        for weight in sorted(set(wanted.values())):
            scores = self._scores([word for word, one in wanted.items() if one == weight])
            for place, score in scores.items():
                found[place] = found.get(place, 0.0) + weight * score
        return found

    def _measured(self, entry: Entry) -> list[tuple[frozenset[str], float]]:
        """Return the words of each phrase and the phrase's length as a vector of rarities."""
        found = [frozenset(marks(one, self._common)) for one in entry.phrases()]
        return [(one, self._length(dict.fromkeys(one, 1.0))) for one in found if one]

    def _length(self, weights: dict[str, float]) -> float:
        return math.sqrt(sum((one * self._rarity[word]) ** 2 for word, one in weights.items()))

    def _nearest(self, wanted: dict[str, float], place: int) -> float:
        """Return how far what is wanted reaches along the nearest phrase of an entry."""
        nearest = 0.0
        for words_of_it, size in self._phrases[place]:
            shared = [word for word in words_of_it if word in wanted]
            if shared:
                along = sum(wanted[word] * self._rarity[word] ** 2 for word in shared)
                nearest = max(nearest, along / size)
        return nearest

    def _stems(self, text: str) -> list[str]:
        found = marks(text[:_LONGEST], self._common)
        return [one for one in found if not one.startswith(HEAD)][:_MOST_WORDS]

    def _said(self, text: str) -> dict[str, float]:
        """Return the known words of a text and what each counts.

        An unknown word is taken for the known one that looks most alike, two words that are
        known as one for this one.
        """
        stems = self._stems(text)
        found: dict[str, float] = {}
        for word in stems:
            weight = _THING if word in self._things else 1.0
            known = [one for one in (word, head(word)) if one in self._rarity]
            if not known and len(word) >= _LONG:
                known = difflib.get_close_matches(word, self._rarity, 1, _ALIKE)
            found.update(dict.fromkeys(known, weight))
        pairs = [first + second for first, second in zip(stems, stems[1:])]
        found.update({one: 1.0 for one in pairs if one in self._rarity})
        return found

    def _similar(self, text: str, said: dict[str, float]) -> dict[str, float]:
        """Return the words that say much the same as those of a text, and what each counts."""
        stems = self._stems(text)
        found: dict[str, float] = {}
        for width in range(1, _WIDEST + 1):
            for start in range(len(stems) - width + 1):
                part = tuple(stems[start : start + width])
                weight = _SIMILAR * min((said.get(one, 1.0) for one in part), default=1.0)
                for other in self._alike.get(part, ()):
                    found[other] = max(weight, found.get(other, 0.0))
        return found

    def _families(self, alike: Sequence[Sequence[str]]) -> dict[tuple[str, ...], set[str]]:
        """Return for the stems of a word, or of several together, those that say the same."""
        found: dict[tuple[str, ...], set[str]] = {}
        for family in alike:
            parts = [tuple(stem(one) for one in words(member)) for member in family]
            single = {part[0] for part in parts if len(part) == 1}
            known = single & self._rarity.keys()
            for part in parts:
                found.setdefault(part, set()).update(known)
        return found


def _rarity(rows: list[list[list[str]]]) -> dict[str, float]:
    """Return for each word how rare it is: the logarithm of the share of rows that hold it."""
    having = Counter(word for row in rows for word in set().union(*row))
    return {word: math.log(1 + len(rows) / count) for word, count in having.items()}


class _Table:
    """The entries in a table of SQLite in memory."""

    def __init__(
        self, columns: list[str], weights: list[float], rows: list[list[list[str]]]
    ) -> None:
        self._lock = threading.Lock()
        self._weights = weights
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute(
            f"CREATE VIRTUAL TABLE entry USING fts5({', '.join(columns)}, detail=column)"
        )
        places = ", ".join("?" * len(columns))
        self._connection.executemany(
            f"INSERT INTO entry(rowid, {', '.join(columns)}) VALUES (?, {places})",  # nosec B608
            [(place, *map(" ".join, row)) for place, row in enumerate(rows)],
        )

    def __call__(self, wanted: Iterable[str]) -> dict[int, float]:
        text = " OR ".join(f'"{word}"' for word in wanted)
        if not text:
            return {}
        weights = ", ".join(str(weight) for weight in self._weights)
        with self._lock:
            rows = self._connection.execute(
                f"SELECT rowid, -bm25(entry, {weights}) FROM entry WHERE entry MATCH ?",  # nosec B608
                (text,),
            ).fetchall()
        return dict(rows)


class _Scan:
    """The entries as counted words, read one by one."""

    def __init__(self, weights: list[float], rows: list[list[list[str]]]) -> None:
        self._lengths = [sum(len(column) for column in row) for row in rows]
        self._average = sum(self._lengths) / max(1, len(rows))
        self._counts: list[dict[str, float]] = []
        for row in rows:
            counts: dict[str, float] = {}
            for weight, column in zip(weights, row):
                for word, count in Counter(column).items():
                    counts[word] = counts.get(word, 0.0) + weight * count
            self._counts.append(counts)

    def __call__(self, wanted: Iterable[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        for word in wanted:
            having = [place for place, counts in enumerate(self._counts) if word in counts]
            rarity = math.log((len(self._counts) - len(having) + 0.5) / (len(having) + 0.5))
            for place in having:
                count = self._counts[place][word]
                length = 1 - _B + _B * self._lengths[place] / self._average
                score = max(rarity, _LEAST_IDF) * count * (_K1 + 1) / (count + _K1 * length)
                scores[place] = scores.get(place, 0.0) + score
        return scores
