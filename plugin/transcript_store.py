# SPDX-License-Identifier: GPL-2.0-or-later
"""Chats in one SQLite file, written as they go: by project, to be searched, opened and deleted."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .transcript_form import event_of, text_of
from .transcript_schema import VERSION, has_search, migrate, rebuild_search

_LOG = logging.getLogger(__name__)
_BUSY_S = 1.0
_DELETING_S = 3.0
_WITHOUT_BLANKS = "\u2e80"
_BY_WORDS = (
    "AND turn.chat IN (SELECT chat FROM turn WHERE id IN "
    "(SELECT rowid FROM word WHERE word MATCH ?))"
)
_BY_PARTS = (
    "AND turn.chat IN (SELECT chat FROM turn WHERE NOT EXISTS "
    "(SELECT 1 FROM json_each(?) AS part WHERE NOT (question LIKE part.value ESCAPE '\\' "
    "OR answer LIKE part.value ESCAPE '\\')))"
)
"""From here on stand the letters of Chinese, Japanese and Korean."""

RUNNING, INTERRUPTED = "running", "interrupted"


class StoreError(Exception):
    """The file of the transcripts cannot be used; the message is a sentence for the user."""


@dataclass(frozen=True)
class ChatRow:
    """A chat in the list: times in seconds since 1970, `state` the one of its last question."""

    id: int
    project: str
    title: str
    started: float
    last: float
    questions: int
    state: str


@dataclass(frozen=True)
class PastTurn:
    """A question of a kept chat with its events."""

    id: int
    question: str
    state: str
    started: float
    owner: str
    events: tuple[Any, ...]


class TranscriptStore:
    """The kept chats of a profile; used on one thread, by several windows at the same time.

    Every event is its own transaction, so a killed process loses at most the one being written.
    """

    def __init__(self, path: Path, owner: str, clock: Callable[[], float] = time.time) -> None:
        """Open or make the file. Raises StoreError. `owner` tells this process from others."""
        self._path, self._owner, self._clock = path, owner, clock
        with _told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(str(path), timeout=_BUSY_S, isolation_level=None)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise
        self.searches_words = has_search(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # -- writing

    def begin_chat(self, project: str, title: str) -> int:
        """Begin a chat of a project; return its id. Raises StoreError."""
        with _told(self._path):
            found = self._db.execute(
                "INSERT INTO chat (project, title, started) VALUES (?, ?, ?)",
                (project, title, self._clock()),
            )
            return int(found.lastrowid or 0)

    def begin_turn(self, chat: int, question: str) -> int:
        """Begin a question of a chat; return its id. Raises StoreError."""
        with _told(self._path), self._transaction():
            found = self._db.execute(
                "INSERT INTO turn (chat, question, started, state, owner) VALUES (?, ?, ?, ?, ?)",
                (chat, question, self._clock(), RUNNING, self._owner),
            )
            turn = int(found.lastrowid or 0)
            self._note_words(turn, question)
            return turn

    def add(self, turn: int, event: Any) -> bool:
        """Keep an event of a question; tell whether it is of a kind that is kept. Raises
        StoreError."""
        form = text_of(event)
        if form is None:
            return False
        with _told(self._path):
            self._db.execute("INSERT INTO event (turn, kind, body) VALUES (?, ?, ?)", (turn, *form))
        return True

    def end_turn(self, turn: int, state: str, answer: str) -> None:
        """Note how a question ended. Raises StoreError."""
        with _told(self._path), self._transaction():
            self._db.execute(
                "UPDATE turn SET state = ?, answer = ?, ended = ? WHERE id = ?",
                (state, answer, self._clock(), turn),
            )
            asked = self._db.execute("SELECT question FROM turn WHERE id = ?", (turn,)).fetchone()
            if asked is not None:
                self._note_words(turn, f"{asked[0]} {answer}")

    def move(self, before: str, project: str) -> None:
        """Give the chats of an unsaved project to the file that it was saved as. Raises
        StoreError."""
        with _told(self._path):
            self._db.execute("UPDATE chat SET project = ? WHERE project = ?", (project, before))

    # -- reading

    def chats(self, project: str = "", text: str = "") -> tuple[ChatRow, ...]:
        """Return the chats of a project ("" is all) in which a text occurs, newest first. Raises
        StoreError."""
        sql = (
            "SELECT chat.id, project, title, chat.started, MAX(turn.started), COUNT(turn.id), "
            "(SELECT state FROM turn AS one WHERE one.chat = chat.id ORDER BY one.id DESC LIMIT 1) "
            "FROM chat JOIN turn ON turn.chat = chat.id WHERE 1 {} {} "
            "GROUP BY chat.id ORDER BY MAX(turn.started) DESC, chat.id DESC"
        )
        mine, values = ("AND project = ?", [project]) if project else ("", [])
        words = text.split()
        found = ""
        if words:
            found, sought = self._finding(words)
            values = [*values, *sought]
        with _told(self._path):
            return tuple(ChatRow(*row) for row in self._db.execute(sql.format(mine, found), values))

    def turns(self, chat: int) -> tuple[PastTurn, ...]:
        """Return the questions of a chat with their events, in order. Raises StoreError."""
        with _told(self._path):
            rows = self._db.execute(
                "SELECT id, question, state, started, owner FROM turn WHERE chat = ? ORDER BY id",
                (chat,),
            ).fetchall()
            return tuple(PastTurn(*row, self._events(row[0])) for row in rows)

    def running(self) -> tuple[tuple[int, int, str, str], ...]:
        """Return (turn, chat, project, owner) of the questions that have not ended. Raises
        StoreError."""
        with _told(self._path):
            found = self._db.execute(
                "SELECT turn.id, chat, project, owner FROM turn JOIN chat ON chat.id = turn.chat "
                "WHERE state = ? ORDER BY turn.id",
                (RUNNING,),
            )
            return tuple(tuple(row) for row in found)

    # -- deleting

    def delete(self, chats: Sequence[int]) -> None:
        """Delete chats so that none of their bytes is left in the files. Raises StoreError; the
        chats are gone then, but their bytes may be left."""
        with _told(self._path):
            self._db.execute(f"PRAGMA busy_timeout = {int(_DELETING_S * 1000)}")
            try:
                with self._transaction():
                    self._db.executemany("DELETE FROM chat WHERE id = ?", [(one,) for one in chats])
                    if self.searches_words:
                        rebuild_search(self._db)
                self._db.execute("VACUUM")
                busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                self._db.execute(f"PRAGMA busy_timeout = {int(_BUSY_S * 1000)}")
        if busy:
            raise StoreError(
                "The chats are deleted, but another QGIS window still reads the file of the "
                "history. Close it and delete again to remove the last traces."
            )

    # -- inside

    def _open(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise StoreError(
                "The history was written by a newer Geo-OLM, so it is left as it is. Update the "
                "plugin to see it."
            )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("PRAGMA foreign_keys = ON")
        if version < VERSION:
            migrate(self._db)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _note_words(self, turn: int, text: str) -> None:
        if self.searches_words and text:
            self._db.execute(
                "INSERT OR REPLACE INTO word (rowid, text) VALUES (?, ?)", (turn, text)
            )

    def _finding(self, words: Iterable[str]) -> tuple[str, list[str]]:
        """Return a condition on turns, and its values: by words where SQLite can, else by parts.

        Texts without blanks between words, and mere signs, are found by parts."""
        words = list(words)
        plain = all(any(map(str.isalnum, one)) and max(one) < _WITHOUT_BLANKS for one in words)
        if self.searches_words and plain:
            quoted = " ".join(f'"{one.replace(chr(34), chr(34) * 2)}"*' for one in words)
            return _BY_WORDS, [quoted]
        parts = []
        for one in words:
            escaped = one.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            parts.append(f"%{escaped}%")
        return _BY_PARTS, [json.dumps(parts, ensure_ascii=False)]

    def _events(self, turn: int) -> tuple[Any, ...]:
        rows = self._db.execute("SELECT kind, body FROM event WHERE turn = ? ORDER BY id", (turn,))
        found = (event_of(kind, body) for kind, body in rows.fetchall())
        return tuple(one for one in found if one is not None)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system raise into one sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        _LOG.info("the history: %s", error)
        raise StoreError(
            f"The chats are not kept: {path.name} cannot be used ({error})."
        ) from error
    except OSError as error:
        raise StoreError(
            f"The chats are not kept: {path} cannot be used ({error.strerror or error})."
        ) from error
