# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the kept chats, and the steps from one version of the file to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

_TABLES = """
CREATE TABLE chat (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    title TEXT NOT NULL,
    started REAL NOT NULL
);
CREATE INDEX chat_project ON chat (project);
CREATE TABLE turn (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chat INTEGER NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    answer TEXT NOT NULL DEFAULT '',
    started REAL NOT NULL,
    ended REAL,
    state TEXT NOT NULL,
    owner TEXT NOT NULL
);
CREATE INDEX turn_chat ON turn (chat);
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    turn INTEGER NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX event_turn ON event (turn);
"""


def _first(db: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            db.execute(statement)
    rebuild_search(db)


STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first,)
"""What brings a file from each version to the next; the first makes the tables."""

VERSION = len(STEPS)


def migrate(db: sqlite3.Connection) -> None:
    """Bring a file to this version in one transaction; another window may have done it before."""
    db.execute("BEGIN IMMEDIATE")
    try:
        begun = db.execute("PRAGMA user_version").fetchone()[0]
        for number in range(begun, VERSION):
            STEPS[number](db)
        db.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def has_search(db: sqlite3.Connection) -> bool:
    """Tell whether the file can be searched by words."""
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = 'word'").fetchone())


def rebuild_search(db: sqlite3.Connection) -> None:
    """Make the index of words anew, so that nothing of what was deleted is left in it; where
    SQLite has no FTS5 there is none."""
    db.execute("DROP TABLE IF EXISTS word")
    try:
        db.execute(
            "CREATE VIRTUAL TABLE word USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')"
        )
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):
            raise
        return
    db.execute("INSERT INTO word (rowid, text) SELECT id, question || ' ' || answer FROM turn")
