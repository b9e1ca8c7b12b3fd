# SPDX-License-Identifier: GPL-2.0-or-later
"""Closest names: what a wrong name most likely meant, for sentences that say the fix."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"[\s_\-.]+")


def folded(text: str) -> str:
    """Return `text` as it is compared: composed, without case and outer blanks."""
    return unicodedata.normalize("NFC", text).casefold().strip()


def bare(text: str) -> str:
    """Return `text` folded and without blanks, underscores, hyphens and dots."""
    return _MARKS.sub("", folded(text))


def same(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ from `word` in case and outer blanks only."""
    wanted = folded(word)
    return [name for name in names if folded(name) == wanted]


def closest(word: str, names: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` names that look most like `word`, best first."""
    wanted = bare(word)
    ranked: list[tuple[float, int, str]] = []
    for place, name in enumerate(names):
        candidate = bare(name)
        score = difflib.SequenceMatcher(None, wanted, candidate).ratio()
        if wanted and candidate and (wanted in candidate or candidate in wanted):
            score = max(score, 0.75)
        if score >= 0.5:
            ranked.append((-score, place, name))
    return [name for _, _, name in sorted(ranked)[:count]]


def listed(names: Sequence[str], most: int = 12) -> str:
    """Join names for a sentence, capped."""
    if len(names) <= most:
        return ", ".join(names)
    return ", ".join(names[:most]) + f" and {len(names) - most} more"


def did_you_mean(word: str, names: Sequence[str]) -> str:
    """Return a sentence with the closest names, or with all that are allowed."""
    near = closest(word, names)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"There are: {listed(names)}." if names else "There are none."
