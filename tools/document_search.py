# SPDX-License-Identifier: GPL-2.0-or-later
"""Passages of the user's own documents that speak of something, shown as they stand there: by
vectors where the model gives them, else by words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import argument, wording
from .base import MendableError, ToolDefinition, ToolResult
from .context import Context
from .document_text import ENDINGS, Passage, passages_of
from .registry import Unchecked
from .search_index import Entry, Index, has_fts5
from .spelling import listed

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives a vector for each text; none at all where the model has no embeddings."""

_SHOWN = 3
_MOST = 10
_SHARE = 0.35
"""How near the best a passage has to be, to be shown beside it."""


class SearchDocuments(Unchecked):
    """Passages of documents."""

    definition = ToolDefinition(
        "search_documents",
        "Find the passages of documents (text, Markdown, HTML, PDF) that speak of something.",
        argument.arguments(
            {
                "documents": {
                    "type": "array",
                    "items": {"type": "string", "x-source": True},
                    "minItems": 1,
                    "description": "files or folders",
                },
                "query": {"type": "string"},
                "n": {"type": "integer", "minimum": 1, "maximum": _MOST},
            },
            ["documents", "query"],
        ),
        label="Search documents",
    )

    def __init__(self, embed: Embed | None = None) -> None:
        """Search by the vectors of `embed`, by words without it."""
        self._embed = embed

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Rank all passages; a document that cannot be read beside others is told."""
        passages = _passages(arguments["documents"], context)
        query = arguments["query"].strip()
        if not query:
            raise MendableError("query is empty: say what the passages should speak of.")
        ranked = self._by_vectors(query, passages) or _by_words(query, passages)
        if not ranked:
            raise MendableError(
                f"No passage of {wording.counted(len({one.file for one in passages}), 'document')} "
                f'speaks of "{query}": ask in other words.'
            )
        best = [one for one in ranked if one[1] >= _SHARE * ranked[0][1]]
        shown = best[: arguments.get("n", _SHOWN)]
        said = [
            f"{place}. {_where(one)}: {json.dumps(one.text, ensure_ascii=False)}"
            for place, (one, _) in enumerate(shown, start=1)
        ]
        first = shown[0][0]
        return ToolResult(
            "Passages, quoted as data:\n" + "\n".join(said),
            numbers={"count": float(len(shown)), "passages": float(len(passages))},
            texts={"passage": first.text, "file": first.file, "heading": first.heading},
        )

    def _by_vectors(self, query: str, passages: Sequence[Passage]) -> list[tuple[Passage, float]]:
        if self._embed is None:
            return []
        vectors = self._embed([query, *(f"{one.heading} {one.text}" for one in passages)])
        if len(vectors) != len(passages) + 1:
            return []
        scored = [(one, _cosine(vectors[0], own)) for one, own in zip(passages, vectors[1:])]
        return sorted(scored, key=lambda pair: -pair[1])


def _passages(documents: Sequence[str], context: Context) -> list[Passage]:
    """Return the passages of files and of the documents in folders. Raises MendableError."""
    paths: list[Path] = []
    for one in documents:
        path = context.boundary().readable(one, "The document")
        inside = [each for each in sorted(path.rglob("*")) if each.suffix.lower() in ENDINGS]
        if path.is_dir() and not inside:
            raise MendableError(f"{path.name} holds no document ({', '.join(ENDINGS)}).")
        paths += inside if path.is_dir() else [path]
    found: list[Passage] = []
    lost: list[str] = []
    for path in dict.fromkeys(paths):
        context.stop_if_cancelled()
        try:
            found += passages_of(path)
        except MendableError as error:
            if len(paths) == 1:
                raise
            lost.append(error.message)
    if lost:
        context.note(f"Not read: {listed(lost, 5)}")
    if not found:
        raise MendableError(f"None of {len(paths)} documents could be read. {listed(lost, 5)}")
    return found


def _by_words(query: str, passages: Sequence[Passage]) -> list[tuple[Passage, float]]:
    entries = [
        Entry(str(place), (), (one.heading,) if one.heading else (), (), (one.text,))
        for place, one in enumerate(passages)
    ]
    ranked = Index(entries, fts5=has_fts5()).ranked(query)
    return [(passages[int(key)], score) for key, score in ranked]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    size = math.sqrt(sum(x * x for x in one) * sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other)) / size if size else 0.0


def _where(one: Passage) -> str:
    under = f", under {json.dumps(one.heading, ensure_ascii=False)}" if one.heading else ""
    return f"{one.file}, passage {one.number}{under}"
