# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads calls that a model wrote as tags: `<function=name><parameter=key>value</parameter>…`."""

from __future__ import annotations

import re
from typing import Any

from .literal import MAX_LENGTH, MalformedError, extent, read_json

MAX_PARAMETERS = 64

_NAME = r"(?:\s*=\s*|\s+name\s*=\s*)[\"']?(?P<name>[\w.-]+)[\"']?\s*>"
HEAD = rf"<(?P<head>function|invoke){_NAME}"
_HEAD = re.compile(HEAD)
_PARAMETER = re.compile(rf"\s*<(?P<tag>parameter|param){_NAME}")
_SPACE = re.compile(r"\s*")
_NEXT = re.compile(r"\Z|</|<\||<function\b|<invoke\b")


def read_markup(text: str, at: int, cut: bool) -> tuple[str, dict[str, Any], int] | None:
    """Return name, arguments and end of the call that a tag at `at` begins, or None without one.

    Values stay text, as the tags hold them: only the tool's schema knows their types. Llama's
    form with a JSON object in the tag is read as JSON. The last tag may be missing where the
    next one follows, unless the reply was `cut`. Raises MalformedError when the call is not
    whole, has more than 64 parameters or is longer than 20,000 characters.
    """
    head = _HEAD.match(text, at)
    if head is None:
        return None
    close = f"</{head['head']}>"
    inside = _after_space(text, head.end())
    if text[inside : inside + 1] == "{":
        end = extent(text, inside)
        arguments = read_json(text[inside:end])
        if not isinstance(arguments, dict):
            raise MalformedError("malformed JSON: the arguments are not an object")
    else:
        arguments, end = _parameters(text, head.end(), close)
    after = _after_space(text, end)
    if text.startswith(close, after):
        return head["name"], arguments, after + len(close)
    if cut or not _NEXT.match(text, after):
        raise MalformedError(f"the tag of {head['name']} is not closed")
    return head["name"], arguments, end


def _parameters(text: str, at: int, close: str) -> tuple[dict[str, Any], int]:
    """Return the parameters from `at` on, and where the last one ends."""
    found: dict[str, Any] = {}
    limit = at + MAX_LENGTH
    for _ in range(MAX_PARAMETERS):
        opening = _PARAMETER.match(text, at)
        if opening is None:
            return found, at
        ending = f"</{opening['tag']}>"
        end = text.find(ending, opening.end(), limit)
        outer = text.find(close, opening.end(), end if end >= 0 else limit)
        if end < 0 and outer < 0:
            raise MalformedError(f"the tag of {opening['name']} is not closed")
        stop = end if outer < 0 else outer
        found[opening["name"]] = _value(text[opening.end() : stop])
        at = stop + len(ending) if stop == end else stop
    raise MalformedError(f"a call has more than {MAX_PARAMETERS} parameters")


def _value(text: str) -> str:
    """Return a value without the line breaks that set it apart from its tags."""
    text = text[1:] if text.startswith("\n") else text
    return text[:-1] if text.endswith("\n") else text


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
