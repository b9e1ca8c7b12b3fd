# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the JSON and the Python literals that models write, mending common slips once, and never
running anything."""

from __future__ import annotations

import ast
import json
from typing import Any

MAX_DEPTH = 32
MAX_LENGTH = 20_000
MAX_MISSING = 3

_PAIRS = {"{": "}", "[": "]", "(": ")"}
_WORDS = {"True": "true", "False": "false", "None": "null", "NaN": "null"}


class MalformedError(ValueError):
    """Text that is neither JSON nor a literal call; the message names the position."""


class UnclosedError(MalformedError):
    """The text ends before its brackets are closed; `missing` are the brackets that close it."""

    def __init__(self, message: str, missing: str) -> None:
        super().__init__(message)
        self.missing = missing


def extent(text: str, start: int) -> int:
    """Return the position after the bracket that closes the one at `start`.

    Brackets in quotes do not count. Raises MalformedError when nothing closes it, or when it is
    nested more than 32 deep or longer than 20,000 characters; UnclosedError when the text ends
    with at most three brackets open and no string.
    """
    waiting: list[str] = []
    at, end = start, min(len(text), start + MAX_LENGTH)
    while at < end:
        char = text[at]
        if char in "\"'" and (char == '"' or _opens(text, at)):
            at = _after_string(text, at, end)
            if at < 0:
                break
            continue
        if char in _PAIRS:
            waiting.append(_PAIRS[char])
            if len(waiting) > MAX_DEPTH:
                raise MalformedError(f"nested too deep at position {at - start}")
        elif waiting and char == waiting[-1]:
            waiting.pop()
            if not waiting:
                return at + 1
        at += 1
    told = f"malformed JSON at position {end - start}: a bracket is not closed"
    if at == len(text) and 0 < len(waiting) <= MAX_MISSING:
        raise UnclosedError(told, "".join(reversed(waiting)))
    raise MalformedError(told)


def read_json(text: str) -> Any:
    """Return the value of JSON text, mended once where it does not parse.

    Mended are trailing commas, single quotes, literal backslash-n between tokens and Python's
    True, False and None. Raises MalformedError with the position of the first fault.
    """
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise MalformedError("malformed JSON at position 0: nested too deep") from None
    except ValueError as error:
        first = error
    try:
        return json.loads(mended(text), strict=False)
    except (ValueError, RecursionError):
        place = getattr(first, "pos", 0)
        raise MalformedError(f"malformed JSON at position {place}") from first


def mended(text: str) -> str:
    """Return JSON-like text with single quotes, literal line breaks and stray commas put right."""
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            end = _after_string(text, at, len(text))
            end = len(text) if end < 0 else end
            out.append(_double_quoted(text[at:end]))
            at = end
        elif char == "\\" and text[at + 1 : at + 2] in ("n", "t", "r"):
            at += 2
        elif char == "," and _closes_next(text, at + 1):
            at += 1
        elif char.isalpha():
            end = at
            while end < len(text) and text[end].isalnum():
                end += 1
            out.append(_WORDS.get(text[at:end], text[at:end]))
            at = end
        else:
            out.append(char)
            at += 1
    return "".join(out)


def read_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and arguments of one Python-style call with keyword arguments.

    Only literals are read; nothing is run. Raises MalformedError for anything else.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise MalformedError("the call cannot be read") from None
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        raise MalformedError("this is not a call of a tool")
    name = _name(node.func)
    if node.args:
        raise MalformedError(f"the arguments of {name} need their names, as in {name}(layer=…)")
    arguments: dict[str, Any] = {}
    for item in node.keywords:
        try:
            value = ast.literal_eval(item.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise MalformedError(
                f"the argument {item.arg} of {name} is not a plain value"
            ) from None
        if item.arg is not None:
            arguments[item.arg] = _plain(value)
        elif isinstance(value, dict):
            arguments.update({str(key): _plain(part) for key, part in value.items()})
    return name, arguments


def _name(function: ast.Name | ast.Attribute) -> str:
    """Return the name called; Llama's built-in form `tool.call(…)` names the tool first."""
    if isinstance(function, ast.Name):
        return function.id
    if function.attr == "call" and isinstance(function.value, ast.Name):
        return function.value.id
    return function.attr


def _plain(value: Any) -> Any:
    """Return a Python literal as what JSON could hold."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _opens(text: str, at: int) -> bool:
    """Tell whether a single quote opens a string (after a bracket, comma, colon or equals)."""
    before = text[:at].rstrip() if at < 200 else text[at - 200 : at].rstrip()
    return bool(before) and before[-1] in "{[(,:="


def _after_string(text: str, start: int, end: int) -> int:
    """Return the position after a string, -1 when it does not end before `end`."""
    quote, at = text[start], start + 1
    while at < end:
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == quote:
            return at + 1
        at += 1
    return -1


def _double_quoted(piece: str) -> str:
    if piece[0] == '"' or len(piece) < 2:
        return piece
    inner = piece[1:-1].replace("\\'", "'")
    return '"' + inner.replace('\\"', '"').replace('"', '\\"') + '"'


def _closes_next(text: str, at: int) -> bool:
    """Tell whether the next token closes an object or an array."""
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "\\" and text[at + 1 : at + 2] in ("n", "t", "r"):
            at += 2
        else:
            return text[at] in "}]"
    return False
