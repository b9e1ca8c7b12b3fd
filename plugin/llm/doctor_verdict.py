# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor's verdict: one line, and one plain paragraph that says what to expect."""

from __future__ import annotations

from dataclasses import dataclass

from .doctor_question import FINE, PASSED
from .doctor_report import Check, Finding, Fitting, Grade

QUESTION_READS, QUESTION_WRITES = 2090, 190
"""Tokens evaluated and generated of a question: the means of 30 over real data, tests/results."""

REPLY_READS, REPLY_WRITES = 150, 60
"""Tokens of one short reply in a chat whose beginning the server still knows."""

DAILY_S, CHAT_S = 20.0, 90.0
DAILY_CONTEXT = 8000
SMALL_CONTEXT = 4096

DAILY = "Good for daily work"
SHORT = "Good for short questions on this machine"
SLOW = "Too slow for chat; good for kept workflows"
NOT = "Does not follow the tools; choose another model"
STOPPED = "Stopped before the end"
BROKEN = "The check broke off"

_HELD = {
    "schema": "Every call is held to a schema.",
    "native": "Tools are called by the model's own calls.",
    "text": "Calls are read from the text, which fails more often than a schema.",
}


@dataclass(frozen=True)
class Verdict:
    """A grade, one line and one paragraph."""

    grade: Grade
    title: str
    paragraph: str


@dataclass(frozen=True)
class Speeds:
    """Tokens a second; 0 where they were not measured."""

    reading: float = 0.0
    writing: float = 0.0

    def seconds(self, reads: int, writes: int) -> float:
        """Return the seconds for these tokens, 0 when a speed is not known."""
        if not (self.reading and self.writing):
            return 0.0
        return reads / self.reading + writes / self.writing


def verdict(right: int, asked: int, speeds: Speeds, settings: Fitting, native: bool) -> Verdict:
    """Return what to expect of a model that was examined to the end."""
    seconds = speeds.seconds(QUESTION_READS, QUESTION_WRITES)
    wait = f", in about {_duration(seconds)}" if seconds else ""
    held = _HELD.get(settings.mode, "No way to call a tool worked.")
    if settings.mode == "schema" and not native:
        held = "This model cannot call tools natively, so every call is held to a schema."
    if 0 < settings.context < SMALL_CONTEXT:
        held += f" Its context of {settings.context:,} tokens holds short questions only."
    if right < PASSED or not settings.mode:
        text = f"Only {right} of {asked} small tool questions were right, so its answers are no "
        text += f"help. Larger models do better. {held}"
        return Verdict(Grade.ERROR, NOT, text)
    if seconds > CHAT_S:
        text = f"One question takes about {_duration(seconds)}. {right} of {asked} small tool "
        text += f"questions were right, so work that may take its time can be left to it. {held}"
        return Verdict(Grade.WARNING, SLOW, text)
    if right >= FINE and 0 < seconds <= DAILY_S and settings.context >= DAILY_CONTEXT:
        text = f"Expect right answers for questions of several steps{wait}. {held}"
        return Verdict(Grade.FINE, DAILY, text)
    text = f"Expect right answers for questions of one to three steps{wait}. "
    text += f"Longer chains of tools often fail: ask for one step at a time. {held}"
    return Verdict(Grade.FINE, SHORT, text)


def speed_finding(speeds: Speeds) -> Finding:
    """Say how fast the model reads and writes, and what that makes of a short answer."""
    if not (speeds.reading and speeds.writing):
        return Finding(Check.SPEED, Grade.NOTE, "Too few tokens came to measure it")
    said = f"Reads {speeds.reading:,.0f}, writes {speeds.writing:,.0f} tokens a second"
    seconds = speeds.seconds(REPLY_READS, REPLY_WRITES)
    grade = Grade.FINE if seconds <= 15 else Grade.WARNING if seconds <= 60 else Grade.ERROR
    meaning = f"A short answer takes about {max(1, round(seconds))} s"
    numbers = {"reading": round(speeds.reading, 1), "writing": round(speeds.writing, 1)}
    return Finding(Check.SPEED, grade, said, meaning, numbers)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes"
