# SPDX-License-Identifier: GPL-2.0-or-later
"""The model doctor: measures what a model can do on this machine, and what settings fit it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from datetime import datetime, timezone

from . import doctor_call, doctor_context, doctor_question, doctor_server, doctor_verdict
from .base import Cancelled, ChatRequest, ModelCard, ModelError, RunCancelled
from .doctor_ask import Asked, Patient, ask, user
from .doctor_call import CallsFound
from .doctor_context import ContextFound, ContextProbe
from .doctor_note import key_of
from .doctor_question import Answered, QuestionSet
from .doctor_report import Began, Check, Finding, Fitting, Grade, Report, Step
from .doctor_server import Identity
from .doctor_verdict import Speeds, Verdict
from .speaker import Mode

_GREETING = ChatRequest(user("Reply with the single word ready."), max_tokens=256)
_COUNTING = ChatRequest(
    user("Write the numbers from 1 to 60 in words, separated by commas."), max_tokens=128
)
_CACHED = 0.5
"""Share of a prompt from which on the server's cache counts as holding."""
_NOISE_S = 0.25
"""A first word that comes sooner tells nothing by the clock."""


class Doctor:
    """One examination of one model. Findings come in the order of `Check`; nothing is guessed:
    what a server does not tell and cannot be measured is said to be unknown."""

    def __init__(self, model: Patient, questions: QuestionSet, context: int) -> None:
        self._model = model
        self._questions = questions
        self._wanted = context
        self._begun = time.monotonic()
        self._check = Check.SERVER
        self._findings: list[Finding] = []
        self._card: ModelCard | None = None
        self._identity = Identity("")
        self._settings = Fitting()

    def examine(self, cancelled: Cancelled) -> Iterator[Step]:
        """Yield what begins and what was found; the last item is the Report.

        Nothing is raised for what a model or a server does, nor for a stop: the report then says
        why it is not complete, and keeps what is known.
        """
        try:
            done = yield from self._examined(cancelled)
        except RunCancelled:
            text = "What was found before is kept here; nothing was changed."
            yield self._report(Verdict(Grade.NOTE, doctor_verdict.STOPPED, text), False)
        except ModelError as error:
            yield self._found(Finding(self._check, Grade.ERROR, error.message))
            broken = Verdict(Grade.ERROR, doctor_verdict.BROKEN, error.message)
            yield self._report(broken, False)
        else:
            yield self._report(done, True)

    def _examined(self, cancelled: Cancelled) -> Generator[Step, None, Verdict]:
        yield self._begin(Check.SERVER)
        card = self._card = self._model.card()
        unloaded = doctor_server.unload(self._model)
        first = ask(self._model, _GREETING, cancelled)
        self._identity = doctor_server.identify(self._model, card)
        yield self._found(self._server(card))
        context = yield from self._context(card, cancelled)
        yield self._begin(Check.CALLS)
        calls = doctor_call.probe(self._model, cancelled)
        yield self._found(doctor_call.finding(calls))
        yield self._begin(Check.THINKING)
        yield self._found(_thinking(first, calls, card))
        yield self._begin(Check.SPEED)
        writing = ask(self._model, _COUNTING, cancelled).writing
        speeds = Speeds(context.reading, writing)
        yield self._found(doctor_verdict.speed_finding(speeds))
        yield self._begin(Check.LOADING)
        yield self._found(_loading(first, unloaded))
        yield self._begin(Check.MEMORY)
        yield self._found(doctor_server.memory(self._model, card))
        right = yield from self._choices(calls, context, cancelled)
        asked = len(self._questions.questions)
        return doctor_verdict.verdict(right, asked, speeds, self._settings, calls.native)

    def _context(
        self, card: ModelCard, cancelled: Cancelled
    ) -> Generator[Step, None, ContextFound]:
        yield self._begin(Check.CONTEXT)
        probe = ContextProbe(self._model, card.context, self._wanted, cancelled)
        found = yield from probe.measure()
        is_hidden = self._identity.is_ollama and card.server.value != "ollama"
        yield self._found(doctor_context.finding(found, is_hidden))
        return found

    def _choices(
        self, calls: CallsFound, context: ContextFound, cancelled: Cancelled
    ) -> Generator[Step, None, int]:
        """Ask the questions in the ways that work until one is fine; choose mode and exposure."""
        best: list[Answered] = []
        chosen = Mode.TEXT
        for mode in calls.modes[:2]:
            results = yield from self._asked(mode, cancelled)
            if _right(results) > _right(best) or not best:
                best, chosen = results, mode
            if _right(best) >= doctor_question.FINE:
                break
        if not best:
            yield self._found(Finding(Check.CHOICES, Grade.ERROR, "Not asked", "No call works"))
            self._settings = Fitting(context=context.tokens)
            return 0
        shown = yield from self._narrowed(best, chosen, cancelled)
        everything, narrow = _right(best), _right(shown)
        hint = everything >= doctor_question.FINE and narrow <= everything and _is_cached(best)
        reason = f"{everything} of {len(best)} right with all tools, {narrow} with the stage's"
        self._settings = Fitting(
            chosen.value,
            context.tokens,
            "hint" if hint else "filter",
            {"mode": _compared(calls, chosen), "context": "", "exposure": reason},
        )
        yield self._found(doctor_question.finding(best if hint else shown))
        return everything if hint else narrow

    def _asked(self, mode: Mode, cancelled: Cancelled) -> Generator[Step, None, list[Answered]]:
        results: list[Answered] = []
        every = self._questions.questions
        stream = doctor_question.answers(self._model, mode, self._questions, every, True, cancelled)
        for at in range(len(every)):
            yield self._begin(Check.CHOICES, f"question {at + 1} of {len(every)}, {mode.value}")
            results.append(next(stream))
        return results

    def _narrowed(
        self, results: Sequence[Answered], mode: Mode, cancelled: Cancelled
    ) -> Generator[Step, None, list[Answered]]:
        """Ask the missed questions again with only the tools of their stage."""
        missed = [one.question for one in results if not one.right]
        stream = doctor_question.answers(
            self._model, mode, self._questions, missed, False, cancelled
        )
        again: dict[str, Answered] = {}
        for at, question in enumerate(missed):
            detail = f"missed question {at + 1} of {len(missed)}, with fewer tools"
            yield self._begin(Check.CHOICES, detail)
            again[question.label] = next(stream)
        return [again.get(one.question.label, one) for one in results]

    def _server(self, card: ModelCard) -> Finding:
        begun = time.monotonic()
        self._model.page("/health")
        seconds = time.monotonic() - begun
        place = "on this machine" if card.local else f"at {card.address}"
        said = f"{self._identity}, {place}"
        numbers = {"seconds": round(seconds, 4)}
        meaning = f"Answers in {max(1, round(seconds * 1000)):,} ms"
        return Finding(Check.SERVER, Grade.FINE, said, meaning, numbers)

    def _begin(self, check: Check, detail: str = "") -> Began:
        self._check = check
        return Began(check, detail)

    def _found(self, finding: Finding) -> Finding:
        self._findings.append(finding)
        return finding

    def _report(self, verdict: Verdict, complete: bool) -> Report:
        card = self._card
        return Report(
            key_of(card) if card else "",
            card.name if card else "",
            str(self._identity),
            card.address if card else "",
            card.digest if card else "",
            datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            round(time.monotonic() - self._begun, 1),
            complete,
            verdict.grade,
            verdict.title,
            verdict.paragraph,
            tuple(self._findings),
            self._settings,
        )


def _thinking(first: Asked, calls: CallsFound, card: ModelCard) -> Finding:
    thought = first.reply.thinking
    if thought or calls.thought:
        meaning = "It costs time before each answer; it is never shown or run"
        said = "Thinks before it answers, though asked not to"
        return Finding(Check.THINKING, Grade.WARNING, said, meaning)
    if "thinking" in card.capabilities:
        return Finding(Check.THINKING, Grade.FINE, "Can think", "Switched off for short answers")
    return Finding(Check.THINKING, Grade.FINE, "None", "Nothing to switch off")


def _loading(first: Asked, unloaded: bool) -> Finding:
    seconds = first.reply.timing.loading_s or first.loading_s
    if seconds:
        numbers = {"seconds": round(seconds, 2)}
        return Finding(Check.LOADING, Grade.FINE, f"{seconds:.1f} s", "Once, then kept", numbers)
    if unloaded:
        meaning = f"The first word came after {first.first_s:.1f} s"
        return Finding(Check.LOADING, Grade.NOTE, "The server does not say", meaning)
    return Finding(Check.LOADING, Grade.NOTE, "It was loaded already", "Not measured")


def _right(results: Sequence[Answered]) -> int:
    return sum(one.right for one in results)


def _is_cached(results: Sequence[Answered]) -> bool:
    """Tell whether the server reads the common beginning of prompts only once.

    By its count, or where it counts nothing by the clock: the later first words come early.
    """
    first, *later = (one.asked for one in results)
    prompt = sum(one.reply.usage.prompt for one in later)
    cached = sum(one.reply.usage.cached for one in later)
    if cached:
        return cached >= _CACHED * prompt
    waits = sorted(one.first_s for one in later)
    told = first.first_s > _NOISE_S and bool(waits)
    return told and waits[len(waits) // 2] < _CACHED * first.first_s


def _compared(calls: CallsFound, chosen: Mode) -> str:
    """Say why a mode was chosen, when it was not the first that works."""
    return "" if calls.modes[0] is chosen else f"more right choices than {calls.modes[0].value}"
