# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks the user before a call leaves something behind, and remembers what was allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Protocol

from ..tools.base import RefusedError, ToolCancelled
from .agent.event import ApprovalAsked, ApprovalGiven, Deed, Reach

EACH, LASTING, FREE = "each", "lasting", "free"
_LOOK_S = 0.1
Cancelled = Callable[[], bool]
Judge = Callable[[str, dict[str, Any]], Deed]
"""Tells what a call of a tool with these arguments would do."""


@dataclass(frozen=True)
class Intent:
    """A call that is meant; `open` ones have arguments that other steps will give."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    open: bool = False


class Word(Protocol):
    """Whoever has the word on deeds; any thread."""

    def on(self, deeds: tuple[Deed, ...], cancelled: Cancelled) -> ApprovalGiven:
        """Return the word; waits for it. Raises ToolCancelled."""


class Approver:
    """Stands between the calls of one chat and the tools; implements tools.toolbox.Approval.

    What is allowed or refused holds for the very same call until the run ends; what is allowed
    for ever, for the tool until the chat ends. Any thread.
    """

    def __init__(self, mode: Callable[[], str], judge: Judge, word: Word) -> None:
        self._mode, self._judge, self._word = mode, judge, word
        self._asking = Lock()
        self._allowed: list[Deed] = []
        self._refused: list[Deed] = []
        self._tools: set[tuple[Reach, str]] = set()

    def begin(self) -> None:
        """Forget what was said of single calls, before a run."""
        self._allowed, self._refused = [], []

    def new_chat(self) -> None:
        """Forget what was allowed for the whole chat."""
        self.begin()
        self._tools = set()

    def grant(self, meant: Iterable[Intent]) -> None:
        """Take calls for asked for by the user: in no mode but the first is asked about them."""
        if self._mode() != EACH:
            self._allowed += [self._deed(one) for one in meant]

    def announce(self, meant: Iterable[Intent], cancelled: Cancelled) -> None:
        """Ask once about all that the calls of a plan would leave behind. Raises ToolCancelled."""
        if self._mode() != LASTING:
            return
        deeds = tuple(one for one in map(self._deed, meant) if self._asks(one))
        if deeds:
            self._decide(deeds, cancelled)

    def check(self, name: str, arguments: dict[str, Any], cancelled: Cancelled) -> None:
        """Let a call pass. Raises RefusedError where the user does not allow it, ToolCancelled."""
        deed = self._judge(name, arguments)
        if self._asks(deed) and not self._is_refused(deed):
            self._decide((deed,), cancelled)
        if self._is_refused(deed):
            raise RefusedError(refusal(deed))
        self._use_up(deed)

    def _deed(self, meant: Intent) -> Deed:
        return replace(self._judge(meant.tool, meant.arguments), open=meant.open)

    def _asks(self, deed: Deed) -> bool:
        """Tell whether a deed needs the user's word in this mode."""
        mode = self._mode()
        if mode == FREE or deed.reach is Reach.READ:
            return False
        if mode != EACH and not deed.reach.lasts:
            return False
        known = (deed.reach, deed.tool) in self._tools
        return not known and not any(one.covers(deed) for one in self._allowed)

    def _is_refused(self, deed: Deed) -> bool:
        return any(one.covers(deed) for one in self._refused)

    def _use_up(self, deed: Deed) -> None:
        """Let a word on a call that was not wholly known hold for one call alone."""
        for one in self._allowed:
            if one.open and one.covers(deed):
                self._allowed.remove(one)
                return

    def _decide(self, deeds: tuple[Deed, ...], cancelled: Cancelled) -> None:
        """Wait for the word; calls of other lanes wait for theirs behind it."""
        while not self._asking.acquire(timeout=_LOOK_S):
            if cancelled():
                raise ToolCancelled()
        try:
            still = tuple(one for one in deeds if self._asks(one) and not self._is_refused(one))
            if not still:
                return
            given = self._word.on(still, cancelled)
            (self._allowed if given.allowed else self._refused).extend(still)
            if given.allowed and given.ever:
                self._tools.update((one.reach, one.tool) for one in still)
        finally:
            self._asking.release()


class AskingWord:
    """Tells what it waits for and waits for the user's reply."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        """`tell` takes events on the asking thread."""
        self._tell = tell
        self._replies: SimpleQueue[ApprovalGiven] = SimpleQueue()
        self._count = 0

    def on(self, deeds: tuple[Deed, ...], cancelled: Cancelled) -> ApprovalGiven:
        """Return what the user says. Raises ToolCancelled when the run is stopped meanwhile."""
        self._count += 1
        identity = f"approval{self._count}"
        self._tell(ApprovalAsked(identity, deeds))
        while not cancelled():
            try:
                given = self._replies.get(timeout=_LOOK_S)
            except Empty:
                continue
            if given.identity == identity:
                self._tell(given)
                return given
        self._tell(ApprovalGiven(identity, False))
        raise ToolCancelled()

    def reply(self, given: ApprovalGiven) -> None:
        """Give the user's word. Any thread; one for what nothing waits for is let go."""
        self._replies.put(given)


class NobodysWord:
    """Where nobody can be asked: files go where the user said, the rest is refused.

    The project of such a run is its own copy, so how its layers are drawn lasts nowhere.
    """

    def __init__(self, has_folder: bool) -> None:
        """`has_folder` tells that the user named a folder for files, which bounds the tools."""
        self._has_folder = has_folder

    def on(self, deeds: tuple[Deed, ...], cancelled: Cancelled) -> ApprovalGiven:
        """Return the word at once."""
        return ApprovalGiven("", all(self._allows(one) for one in deeds))

    def _allows(self, deed: Deed) -> bool:
        if deed.reach in (Reach.MAKE, Reach.PROJECT, Reach.REMOVE):
            return True
        return deed.reach is Reach.FILE and self._has_folder and deed.tool != "add_detector"


def refusal(deed: Deed) -> str:
    """Return the sentence for a call that was not allowed."""
    said = {
        Reach.FILE: "was not written",
        Reach.NETWORK: "was not contacted",
        Reach.REMOVE: "was not taken back",
    }.get(deed.reach, "was not changed")
    return (
        f"{deed.target or 'What was made'} {said}: {deed.label} was not allowed. Go on without it; "
        "what was made so far is kept."
    )
