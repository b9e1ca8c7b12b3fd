# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of places however they are spelled: without accents and dots (Nurdagi), or by another name
that a place goes by (Marash), from resources/place_names.json."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from .spelling import bare

_TABLE = Path(__file__).resolve().parent.parent / "resources" / "place_names.json"
_LETTERS = str.maketrans({"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})
"""Letters that are no plain letter with a mark on it."""


def plain_name(text: str) -> str:
    """Return a name as it is compared: no case, accents, blanks, hyphens and dots."""
    spread = unicodedata.normalize("NFKD", bare(text).translate(_LETTERS))
    return "".join(one for one in spread if not unicodedata.combining(one))


def alike(wanted: str, known: Iterable[str]) -> list[str]:
    """Return those of some names that mean the same place: equal but for accents, else by another
    name of theirs."""
    names = {one: plain_name(one) for one in known}
    meant = plain_name(wanted)
    same = [one for one, plain in names.items() if plain == meant]
    others = _others().get(meant, frozenset())
    return same or [one for one, plain in names.items() if plain in others]


@lru_cache(maxsize=1)
def _others() -> dict[str, frozenset[str]]:
    """Return by each plain name all plain names of its place."""
    groups = json.loads(_TABLE.read_text(encoding="utf-8"))["places"]
    found: dict[str, frozenset[str]] = {}
    for group in groups:
        names = frozenset(map(plain_name, group))
        found.update(dict.fromkeys(names, names))
    return found
