# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what a chat tells as it goes, and finds the runs that another process left unfinished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from .agent.event import CallFinished, CallStarted, RunFinished, Status
from .transcript_owner import Owner
from .transcript_redaction import without_secrets
from .transcript_store import INTERRUPTED, PastTurn, StoreError, TranscriptStore

_FILE = "transcripts.sqlite"
_TITLE = 80
_UNSAVED = "unsaved:"


@dataclass(frozen=True)
class Interrupted:
    """A run that ended with its process: where it was, and how much of what it made is there."""

    chat: int
    question: str
    step: str
    kept: int


class History:
    """The transcripts of one window, in one file of the profile; main thread only.

    What goes wrong with the file is said once by `fail`, and the chat goes on without it.
    """

    def __init__(
        self, folder: Path, project: Callable[[], str], fail: Callable[[str], None]
    ) -> None:
        """`project` gives the path of the project that is open, "" for an unsaved one."""
        self._folder, self._project, self._fail = folder, project, fail
        self._store: TranscriptStore | None = None
        self._owner: Owner | None = None
        self._unsaved = f"{_UNSAVED}{uuid4().hex}"
        self._chat = self._turn = 0
        self._of = ""
        self._has_failed = False

    @property
    def project(self) -> str:
        """The name under which the chats of the open project are kept."""
        return self._project() or self._unsaved

    def store(self) -> TranscriptStore:
        """Return the store; it is opened when it is first needed. Raises StoreError."""
        if self._store is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            owner = self._owner or Owner(self._folder)
            self._owner = owner
            self._store = TranscriptStore(self._folder / _FILE, owner.name)
        return self._store

    # -- while a question is worked on

    def begin(self, question: str) -> None:
        """Take up a question; one of another project begins a new chat."""
        self._turn = 0
        asked = str(without_secrets(question))

        def work() -> None:
            store = self.store()
            if not self._chat or self._of != self.project:
                title = " ".join(asked.split())[:_TITLE]
                self._chat, self._of = store.begin_chat(self.project, title), self.project
            self._turn = store.begin_turn(self._chat, asked)

        self._try(work)

    def note(self, event: Any) -> None:
        """Keep one event."""
        turn = self._turn
        if turn:
            self._try(lambda: self.store().add(turn, event))

    def end(self, record: dict[str, Any]) -> None:
        """Note how the question ended."""
        turn, self._turn = self._turn, 0
        if turn:
            answer = str(without_secrets(str(record["answer"])))
            self._try(lambda: self.store().end_turn(turn, str(record["status"]), answer))

    def new_chat(self) -> None:
        """Let the next question begin another chat."""
        self._chat = 0

    def go_on(self, chat: int) -> None:
        """Let the next question go on in a kept chat of the open project."""
        self._chat, self._of = chat, self.project

    def saved(self) -> None:
        """The unsaved project was saved: its chats go with it."""
        path = self._project()
        if path and self._store is not None:
            before, store = self._unsaved, self._store
            self._try(lambda: store.move(before, path))
            self._of = path if self._of == before else self._of

    def other_project(self) -> None:
        """Another project is open: it is not the unsaved one of before."""
        self._unsaved = f"{_UNSAVED}{uuid4().hex}"
        self._chat = 0

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._owner is not None:
            self._owner.close()
            self._owner = None

    # -- after a start

    def interrupted(self) -> tuple[Interrupted, ...]:
        """Close the runs whose process is gone, and return them, newest first."""
        found: list[Interrupted] = []
        if (self._folder / _FILE).exists():
            self._try(lambda: found.extend(self._recovered()))
        return tuple(reversed(found))

    def _recovered(self) -> list[Interrupted]:
        store, found = self.store(), []
        owner = self._owner
        for turn, chat, _project, name in store.running():
            if owner is None or turn == self._turn or not owner.is_gone(name):
                continue
            past = next(one for one in store.turns(chat) if one.id == turn)
            run = left(chat, past)
            text = f"The run was interrupted{f' at {run.step}' if run.step else ''}."
            store.add(turn, RunFinished(Status.CANCELLED, text, reason=text, **made(past)))
            store.end_turn(turn, INTERRUPTED, text)
            found.append(run)
        return found

    def _try(self, work: Callable[[], Any]) -> None:
        try:
            work()
            self._has_failed = False
        except (StoreError, OSError) as error:
            self._turn = 0
            if not self._has_failed:
                self._has_failed = True
                self._fail(str(error))


def left(chat: int, turn: PastTurn) -> Interrupted:
    """Return where a run stood and how many of its files and stored layers are still there."""
    started = [one for one in turn.events if isinstance(one, CallStarted)]
    step = (started[-1].label or started[-1].tool) if started else ""
    things = made(turn)
    sources = [one.source.partition("|")[0] for one in things["layers"]]
    kept = sum(1 for one in {*things["files"], *sources} if one and Path(one).is_file())
    return Interrupted(chat, turn.question, step, kept)


def made(turn: PastTurn) -> dict[str, Any]:
    """Return the layers and files that the calls of a run had made."""
    results = [
        one.result
        for one in turn.events
        if isinstance(one, CallFinished) and one.result is not None
    ]
    layers = {one.id: one for result in results for one in (*result.extracted, *result.layers)}
    files = dict.fromkeys(path for result in results for path in result.files)
    return {"layers": tuple(layers.values()), "files": tuple(files)}
