# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells a model's thinking from what it says, in a whole text and while it streams; a mark that
stands in a string of a call does not count."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .literal import MalformedError, extent, read_call, read_json

_NAMES = ("think", "thinking", "thought")
OPEN = (*(f"<{name}>" for name in _NAMES), "[THINK]")
CLOSE = (*(f"</{name}>" for name in _NAMES), "[/THINK]")

LONGEST_QUOTE = 20_000
LOOK_BACK = 200
MAX_LITERALS = 200

_OPENING = "|".join(map(re.escape, OPEN))
_CLOSING = "|".join(map(re.escape, CLOSE))
_END = re.compile(_CLOSING)
_CALL = r"(?<![\w.])[A-Za-z_][\w.]*\((?=\s*[A-Za-z_]\w*\s*=)"
_NEXT = re.compile(
    rf"(?P<open>{_OPENING})|(?P<close>{_CLOSING})|(?P<call>{_CALL})|(?P<json>[{{\[](?=\s*[\"'{{\[]))"
)
_TOKEN = re.compile(rf"(?P<mark>{_OPENING})|[\\\"'(){{}}\[\]]")
_BEFORE_QUOTE = "{[(,:="


def split_thinking(text: str) -> tuple[str, str]:
    """Return the text without its thinking blocks, and the thinking.

    A block that is not closed reaches to the end; an end without a beginning means that all
    since the last one was thinking. Costs time in proportion to the text.
    """
    if not any(mark in text for mark in (*OPEN, *CLOSE)):
        return text, ""
    said: list[str] = []
    thoughts: list[str] = []
    at = 0
    for start, end, is_open in _blocks(text):
        (said if is_open else thoughts).append(text[at:start])
        thoughts.append(text[start:end] if is_open else "")
        at = end
    said.append(text[at:])
    parts = (_without_marks(part).strip() for part in thoughts)
    return "".join(said), "\n".join(part for part in parts if part)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where each block of thinking, or each end without a beginning, starts and ends."""
    at, tries = 0, 0
    while True:
        found = _NEXT.search(text, at)
        if found is None:
            return
        kind = found.lastgroup
        if kind == "open":
            end = _END.search(text, found.end())
            at = end.end() if end else len(text)
            yield found.start(), at, True
        elif kind == "close":
            at = found.end()
            yield found.start(), at, False
        else:
            tries += 1
            at = _literal_end(text, found) if tries <= MAX_LITERALS else found.end()


def _literal_end(text: str, found: re.Match[str]) -> int:
    """Return where the JSON value or the call that begins at a match ends.

    What only looks like one ends with its first bracket.
    """
    is_call = found.lastgroup == "call"
    try:
        end = extent(text, found.end() - 1)
        (read_call if is_call else read_json)(text[found.start() : end])
    except MalformedError:
        return found.end()
    return end


def _without_marks(thought: str) -> str:
    return re.sub(f"{_OPENING}|{_CLOSING}", "", thought)


class ThinkingStream:
    """Parts a stream, piece by piece, even where a mark is cut in two.

    It holds back only what may be the start of a mark. What it cannot see yet (a string that
    never ends, an end without a beginning) `split_thinking` puts right in the whole text.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._inside = False
        self._depth = 0
        self._quote = ""
        self._quoted = 0
        self._skip = 0
        self._before = ""

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        """Take a piece; yield parts that are not empty, true with those of the thinking."""
        text = self._pending + piece
        at = 0
        while True:
            ready = len(text) - _partial(text, CLOSE if self._inside else OPEN)
            found = _END.search(text, at) if self._inside else self._mark(text, at, ready)
            until = found.start() if found else max(at, ready)
            if until > at:
                yield self._inside, text[at:until]
            if found is None:
                break
            at = found.end()
            self._inside = not self._inside
            self._depth, self._quote, self._quoted, self._skip = 0, "", 0, 0
            self._before = ""
        self._pending = text[until:]

    def flush(self) -> Iterator[tuple[bool, str]]:
        """Give out what was held back; the stream has ended."""
        if self._pending:
            yield self._inside, self._pending
        self._pending = ""

    def _mark(self, text: str, begin: int, ready: int) -> re.Match[str] | None:
        """Return the next mark outside of a string, and note what is open until `ready`."""
        at = begin + self._skip
        while at < ready:
            found = _TOKEN.search(text, at, ready)
            if found is None:
                at = ready
            elif found["mark"] and not self._quote:
                return found
            else:
                at = found.start() + 1
                before = text[max(begin, at - LOOK_BACK) : at - 1]
                at += self._escapes(found[0][0], before)
        self._skip = max(0, at - ready)
        self._quoted = self._quoted + ready - begin if self._quote else 0
        if self._quoted > LONGEST_QUOTE:
            self._quote, self._depth = "", 0
        self._before = text[max(begin, ready - LOOK_BACK) : ready].rstrip()[-1:] or self._before
        return None

    def _escapes(self, char: str, before: str) -> bool:
        """Note one bracket, quote or backslash; true when the next character is escaped."""
        if self._quote:
            if char == self._quote:
                self._quote = ""
            return char == "\\"
        if char in "{[(":
            self._depth += 1
        elif char in "}])":
            self._depth = max(0, self._depth - 1)
        elif char in "\"'" and self._depth and (char == '"' or self._opens(before)):
            self._quote = char
        return False

    def _opens(self, before: str) -> bool:
        last = before.rstrip()[-1:] or self._before
        return bool(last) and last in _BEFORE_QUOTE


def _partial(text: str, marks: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the start of a mark."""
    longest = max(len(mark) for mark in marks) - 1
    tail = text[-longest:]
    for first in ("<", "["):
        at = tail.find(first)
        while at >= 0:
            if any(mark.startswith(tail[at:]) for mark in marks):
                return len(tail) - at
            at = tail.find(first, at + 1)
    return 0
