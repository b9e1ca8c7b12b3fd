# SPDX-License-Identifier: GPL-2.0-or-later
"""The questions that steer a method, each told by its first words, and the reading of replies."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from enum import Enum
from typing import Any

from ...agent.reading import NUMBER, matches, meant, parse_number

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_REJECTED = re.compile(r"^\W*REJECTED\b\W*(.*)", re.IGNORECASE | re.MULTILINE)
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


class Ask(str, Enum):
    """What a request asks for where it is not the next call; the value begins a line of its last
    message."""

    SCHEDULE = "SCHEDULE."
    VERDICT = "VERDICT."
    MODULES = "MODULES."
    SOLUTION = "SOLUTION."
    FACTS = "FACTS."
    PLAN = "PLAN."
    LEDGER = "LEDGER."
    NEXT = "NEXT AGENT."
    GRAPH = "GRAPH."
    ASSIGN = "ASSIGNMENT."
    FINAL = "FINAL ANSWER."
    REFLECT = "SELF-REFLECT."
    CONFIRM = "TERMINATE was received."

    @classmethod
    def of(cls, text: str) -> Ask | None:
        """Return what a message asks for by its last such line, None for an ordinary one."""
        lines = reversed(text.splitlines())
        return next((one for line in lines for one in cls if line.startswith(one.value)), None)


def json_in(text: str) -> Any:
    """Return the first whole JSON object or list of a reply, None where there is none."""
    decoder, plain = json.JSONDecoder(), _THINKING.sub("", text)
    for found in re.finditer(r"[{\[]", plain):
        try:
            return decoder.raw_decode(plain, found.start())[0]
        except ValueError:
            continue
    return None


def rejection(text: str) -> str | None:
    """Return the reason of a reply that rejects the question, None for one that does not."""
    found = _REJECTED.search(text)
    return None if found is None else found.group(1).strip()


def value_in(text: str, known: Iterable[float]) -> float | None:
    """Return the number of the last sentence; of several the last that a result gave, if any."""
    sentences = [one for one in _SENTENCE.split(text.strip()) if one.strip()]
    if not sentences:
        return None
    found = [one.group(0) for one in NUMBER.finditer(sentences[-1]) if not one.group("code")]
    given = list(known)
    taken = [one for one in found if meant(one, given, matches) is not None] or found
    return parse_number(taken[-1]) if taken else None


def named(value: Any, names: Collection[str]) -> str:
    """Return the name that a value means, forgiving case and blanks; "" for none of them."""
    text = str(value).strip().lower().replace(" ", "_")
    return next((name for name in names if name.lower() == text), "")
