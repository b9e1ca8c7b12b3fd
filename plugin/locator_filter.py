# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks from QGIS's locator bar: "ask how many towns are there", and questions asked before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qgis.core import QgsFeedback, QgsLocatorContext, QgsLocatorFilter, QgsLocatorResult

from ..ui.icon import mark, theme_icon

PREFIX = "ask"
MOST_EARLIER = 6
_EARLIER_SCORE = 0.5


@dataclass(frozen=True)
class Choice:
    """A row of the list: the question, and whether its plan is to be seen first."""

    question: str
    plan: bool = False


class LocatorFilter(QgsLocatorFilter):
    """Offers to ask what is typed, or to plan it. Only a chosen row asks anything.

    `earlier` gives the questions asked before, the oldest first; `chosen` takes a question and
    whether its plan comes first. Without the prefix only what looks like a question is offered.
    """

    def __init__(
        self, earlier: Callable[[], tuple[str, ...]], chosen: Callable[[str, bool], None]
    ) -> None:
        super().__init__()
        self._earlier = earlier
        self._chosen = chosen

    def clone(self) -> LocatorFilter:
        """Return the filter that fetches for one search."""
        return LocatorFilter(self._earlier, self._chosen)

    def name(self) -> str:
        """Return the name under which QGIS keeps the user's choices for this filter."""
        return "geo_olm_ask"

    def displayName(self) -> str:
        """Return the name that the user reads."""
        return self.tr("Ask Geo-OLM")

    def prefix(self) -> str:
        """Return what is typed before a question."""
        return PREFIX

    def flags(self) -> QgsLocatorFilter.Flag:
        """Tell QGIS that nothing is waited for here, so that no thread is needed."""
        return QgsLocatorFilter.Flag.FlagFast

    def fetchResults(self, string: str, context: QgsLocatorContext, feedback: QgsFeedback) -> None:
        """Offer the typed question and the earlier ones that hold its words."""
        typed = " ".join(string.split())
        if not context.usingPrefix and not _is_question(typed):
            return
        if typed:
            self._offer(Choice(typed), self.tr("Ask: {0}").format(typed), 1.0)
            text = self.tr("See the plan first: {0}").format(typed)
            self._offer(Choice(typed, plan=True), text, 0.9)
        for question in _fitting(self._earlier(), typed):
            if feedback.isCanceled():
                return
            text = self.tr("Ask again: {0}").format(" ".join(question.split()))
            self._offer(Choice(question), text, _EARLIER_SCORE)

    def triggerResult(self, result: QgsLocatorResult) -> None:
        """Ask the chosen question in the chat."""
        choice = result.userData
        self._chosen(choice.question, choice.plan)

    def _offer(self, choice: Choice, text: str, score: float) -> None:
        result = QgsLocatorResult(self, text, choice)
        earlier = score == _EARLIER_SCORE
        plan = theme_icon("processingModel") if choice.plan else mark()
        result.icon = theme_icon("mIconHistory") if earlier else plan
        result.score = score
        self.resultFetched.emit(result)


def _is_question(text: str) -> bool:
    """Tell whether a text without the prefix is meant as a question: it says so, or has words."""
    return text.endswith(("?", "？", "؟")) or len(text.split()) > 2


def _fitting(earlier: tuple[str, ...], typed: str) -> list[str]:
    """Return the newest questions first that hold every typed word, each once."""
    words = typed.casefold().split()
    found: list[str] = []
    for question in reversed(earlier):
        held = question.casefold()
        fits = held != typed.casefold() and all(word in held for word in words)
        if fits and question not in found:
            found.append(question)
    return found[:MOST_EARLIER]
