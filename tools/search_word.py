# SPDX-License-Identifier: GPL-2.0-or-later
"""Words as the search compares them: without accents, endings and the spellings in which English,
Spanish, French and Turkish write the same word of the trade. No QGIS here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_TWICE = re.compile(r"([a-z])\1")
_ALIKE = (
    ("eur", "or"),
    ("ph", "f"),
    ("th", "t"),
    ("ck", "k"),
    ("qu", "k"),
    ("c", "k"),
    ("q", "k"),
    ("y", "i"),
    ("z", "s"),
)
"""Spellings of one sound: polygon, polígono, polygone and poligon meet, vector and vektör too."""
_TURKISH = re.compile(
    r"(l[ae]r)?([iu]n[ai]|[iu]nd[ae]n?|[iu]ni|s[iu]n[aei]|n[iu]n|[iu]n|[dt][ae]n?|[iu]m[iu]z)?$"
)
_VERB = re.compile(r"(m[ae]k?|ing|ed|ment|s)$")
_SHORTEST = 3
HEAD = "0"
"""A head begins with this, so that it is never taken for a stem."""
_HEAD_LETTERS = 5
"""A word and its inflections share their first letters, above all in Turkish."""
_SINGLE = frozenset("xyzm")


def plain_letters(text: str) -> str:
    """Return `text` in small letters a to z where they have accents, dots or none (ı)."""
    lowered = text.replace("İ", "i").replace("I", "i").casefold().replace("ı", "i")
    parts = unicodedata.normalize("NFKD", lowered.replace("œ", "oe").replace("ø", "o"))
    return "".join(one for one in parts if not unicodedata.combining(one))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word of plain letters."""
    for spelled, sound in _ALIKE:
        word = word.replace(spelled, sound)
    word = _TWICE.sub(r"\1", word)
    for ending in (_VERB, _TURKISH):
        short = ending.sub("", word)
        if len(short) > _SHORTEST:
            word = short
    if len(word) > _SHORTEST + 1 and word[-1] in "aeiou":
        word = word[:-1]
    return word


def head(short: str) -> str:
    """Return the head of a stem."""
    return HEAD + short[:_HEAD_LETTERS]


def words(text: str) -> list[str]:
    """Return the words of a text in plain letters: no numbers, no single letters but x, y, z, m."""
    found = _WORD.findall(plain_letters(text))
    return [one for one in found if not one.isdigit() and (len(one) > 1 or one in _SINGLE)]


def marks(text: str, common: Iterable[str] = ()) -> list[str]:
    """Return what is compared of a text: for each word its stem and its head, `common` ones left
    out."""
    left_out = set(common)
    found = []
    for word in words(text):
        if word not in left_out:
            short = stem(word)
            found.append(short)
            if len(short) >= _HEAD_LETTERS - 1:
                found.append(head(short))
    return found
