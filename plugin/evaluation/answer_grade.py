# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades what a run said: the number, a text in the answer, the reason of a refusal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from .outcome import near, shown
from .task_fault import is_number

APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'"})


def folded(text: str) -> str:
    """Return a text without case, accents, or differences of apostrophes and blanks."""
    spread = unicodedata.normalize("NFKD", text.translate(APOSTROPHES).casefold())
    plain = "".join(char for char in spread if not unicodedata.combining(char))
    return " ".join(plain.split())


def holds(text: str, phrase: str, whole: bool = True) -> bool:
    """Tell whether a phrase stands in a text, starting at a word (and ending with one).

    A number does not stand in a longer one: 4267 is neither in 14267 nor in 4267.5.
    """
    wanted = folded(phrase)
    start = r"(?<!\d[.,])(?<!\w)" if wanted[:1].isdigit() else r"(?<!\w)"
    end = r"(?!\w)(?![.,]\d)" if wanted[-1:].isdigit() else r"(?!\w)"
    pattern = start + re.escape(wanted) + (end if whole else "")
    return re.search(pattern, folded(text)) is not None


def number_misses(record: Mapping[str, Any], expect: Mapping[str, Any]) -> list[str]:
    """Judge the record's `value` alone; a number in the sentence does not count."""
    value: Any = record.get("value")
    if not is_number(value):
        return ["no value was given"]
    if near(float(value), float(expect["value"]), float(expect.get("rel_tol", 0))):
        return []
    return [f"the value is {shown(value)} instead of {shown(expect['value'])}"]


def text_misses(record: Mapping[str, Any], expect: Mapping[str, Any]) -> list[str]:
    """Judge the answer: one of the texts stands in it as whole words."""
    answer = str(record.get("answer") or "")
    if any(holds(answer, phrase) for phrase in expect["any_of"]):
        return []
    return [f"the answer does not say {' or '.join(expect['any_of'])}"]


def reject_misses(record: Mapping[str, Any], expect: Mapping[str, Any]) -> list[str]:
    """Judge a refusal: status rejected, and a stated reason that holds one of the phrases.

    Phrases start at a word and may end inside one ("no road" stands in "no roads").
    """
    if record.get("status") != "rejected":
        return [f"the question was not rejected, its status is {record.get('status')}"]
    reason = str(record.get("reason") or "")
    if not reason.strip():
        return ["the question was rejected without a reason"]
    if any(holds(reason, phrase, whole=False) for phrase in expect["reason_any_of"]):
        return []
    return [f"the reason is another one: {reason}"]
