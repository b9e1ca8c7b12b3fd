# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the context that a server really reads: a word at the head of a long prompt is asked
back, and the server's count of the prompt is held against what was sent."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from dataclasses import dataclass

from .base import Cancelled, ChatRequest, ContextFull
from .doctor_ask import Asked, Patient, ask, user
from .doctor_report import Began, Check, Finding, Grade

WORDS = ("juniper", "kestrel", "marble", "lantern", "saffron", "harbour", "walnut", "falcon")
SHARE = 0.88
"""How much of the context the long prompt takes; the rest is for the reply and the template."""

CUT = 0.92
"""A prompt counted at less than this share of what was sent was cut."""

PATIENCE_S = 120.0
"""The longest that the long prompt may take to be read."""

LEAST = 1024
MOST_TRIES = 4
REPLY = 48
_FEW, _MORE = 8, 32
_TOKENS_A_LINE = 20.0
"""Where the server counts nothing."""


@dataclass(frozen=True)
class Scale:
    """Tokens of a prompt with so many lines, as the server counted them."""

    base: float
    per_line: float

    def lines(self, tokens: int) -> int:
        """Return how many lines take these tokens."""
        return max(_FEW, int((tokens - self.base) / self.per_line))

    def tokens(self, lines: int) -> int:
        """Return what so many lines take."""
        return int(self.base + self.per_line * lines)


@dataclass(frozen=True)
class Seen:
    """One long prompt: the tokens sent and read, and whether its first word was known."""

    sent: int
    read: int
    recalled: bool
    asked: Asked


@dataclass(frozen=True)
class ContextFound:
    """The context to rely on in tokens, and what was seen of it.

    `tried` are the tokens of the longest prompt that was read whole, `sent` those of the last
    one. `reading` is in tokens a second.
    """

    tokens: int
    tried: int
    sent: int
    cut: bool
    refused: bool
    recalled: bool
    reading: float


class ContextProbe:
    """Probes one model. `told` is what its card says, `wanted` what the plugin would use."""

    def __init__(self, model: Patient, told: int, wanted: int, cancelled: Cancelled) -> None:
        self._model = model
        self._limit = told or wanted
        self._cancelled = cancelled
        self._counted = True

    def measure(self) -> Generator[Began, None, ContextFound]:
        """Ask with two short prompts and a long one. Raises ModelError and RunCancelled."""
        few, more = self._see(_FEW, 0), self._see(_MORE, 0)
        scale = self._scale(few, more)
        reading = more.asked.reading or _by_clock(more)
        target = min(int(SHARE * self._limit) - REPLY, max(LEAST, int(reading * PATIENCE_S)))
        tried, last, cut, refused = more.read, more, False, False
        for _ in range(MOST_TRIES):
            lines = scale.lines(target)
            seconds = target / reading if reading else 0
            yield Began(Check.CONTEXT, f"reading {target:,} tokens, about {seconds:.0f} s")
            try:
                last = self._see(lines, scale.tokens(lines))
            except ContextFull:
                refused = True
            else:
                is_whole = self._is_whole(last)
                tried = max(tried, last.read) if is_whole else tried
                cut = cut or not (is_whole or (not more.recalled and not last.asked.counted))
                if is_whole or last.asked.counted or not more.recalled:
                    break
            target //= 2
            if target < LEAST:
                break
        held = last.read if last.asked.counted else tried
        tokens = held if cut else tried if refused else self._limit
        speed = last.asked.reading or reading
        return ContextFound(tokens, tried, last.sent, cut, refused, last.recalled, speed)

    def _is_whole(self, seen: Seen) -> bool:
        """Tell whether all of a prompt was read: by the count, or else by the word."""
        return seen.read >= CUT * seen.sent if seen.asked.counted else seen.recalled

    def _see(self, lines: int, sent: int) -> Seen:
        word = secrets.choice(WORDS)
        request = ChatRequest(user(prompt(word, lines)), max_tokens=REPLY)
        asked = ask(self._model, request, self._cancelled)
        self._counted = self._counted and asked.counted
        said = f"{asked.reply.text} {asked.reply.thinking}".lower()
        read = asked.reply.usage.prompt if asked.counted else sent
        return Seen(sent or read, read, word in said, asked)

    def _scale(self, few: Seen, more: Seen) -> Scale:
        if not self._counted or more.read <= few.read:
            return Scale(0, _TOKENS_A_LINE)
        per_line = (more.read - few.read) / (_MORE - _FEW)
        return Scale(few.read - per_line * _FEW, per_line)


def prompt(word: str, lines: int) -> str:
    """Return a prompt that begins with a word to remember and ends with the question for it.

    Its lines are rich in digits: their tokens are short, so that the plugin's own estimate,
    which counts characters, does not take the prompt for too long.
    """
    filler = "\n".join(
        f"Line {at % 10_000:04d}: {at * 7 % 90 + 10} herons, {at * 13 % 90 + 10} elms."
        for at in range(lines)
    )
    return (
        f"The word to remember is {word}.\n{filler}\n"
        "Which word were you told to remember? Reply with that word only."
    )


def _by_clock(seen: Seen) -> float:
    return seen.read / seen.asked.first_s if seen.asked.first_s else 0.0


def finding(found: ContextFound, is_ollama: bool) -> Finding:
    """Say in words what the probe found; `is_ollama` tells of Ollama's OpenAI address."""
    numbers = {"tokens": float(found.tokens), "tried": float(found.tried)}
    size = f"{found.tokens:,} tokens"
    if found.cut:
        meaning = f"The server cut a prompt of {found.sent:,} tokens without a word"
        if is_ollama:
            meaning += ". Use Ollama's own address, or set OLLAMA_CONTEXT_LENGTH there"
        return Finding(Check.CONTEXT, Grade.ERROR, size, meaning, numbers)
    if found.refused:
        meaning = f"Longer prompts than {found.tried:,} tokens are refused"
        return Finding(Check.CONTEXT, Grade.WARNING, size, meaning, numbers)
    if not found.recalled:
        meaning = "A long prompt was read whole, but its first word was not known any more"
        return Finding(Check.CONTEXT, Grade.WARNING, size, meaning, numbers)
    if found.tried < CUT * SHARE * found.tokens:
        meaning = f"Tried up to {found.tried:,} tokens; a longer try would take minutes"
        return Finding(Check.CONTEXT, Grade.NOTE, size, meaning, numbers)
    meaning = "The first word of a long prompt was still known"
    return Finding(Check.CONTEXT, Grade.FINE, size, meaning, numbers)
