# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept chats: written as they go, found, opened, exported and deleted to the last byte; no QGIS."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin import transcript_schema
from geo_olm.plugin.agent.event import (
    AnswerDelta,
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    CallProgress,
    CallStarted,
    Deed,
    Notice,
    Reach,
    Reflected,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
)
from geo_olm.plugin.llm.base import Usage
from geo_olm.plugin.transcript_export import exported
from geo_olm.plugin.transcript_form import event_of, text_of
from geo_olm.plugin.transcript_redaction import without_paths, without_secrets
from geo_olm.plugin.transcript_store import StoreError, TranscriptStore
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.plan_event import PlanDone
from geo_olm.plugin.workflow.value import Layer
from geo_olm.tools.base import LayerReference, ToolResult

MADE = LayerReference("L1", "near", "/home/ana/out/near.gpkg|layername=near", "Point", "", 3)
RESULT = ToolResult(
    "r1: 3 points", "r1", {"count": 3.0}, layers=(MADE,), files=("/home/ana/out/near.gpkg",),
    outputs={"OUTPUT": "L1"}, parameters={"DISTANCE": [1, 2]},
)  # fmt: skip
EVENTS = (
    RunStarted("How many?", "small", "embedded", ("Init", "End"), 12),
    StageChanged("Init", "Count"),
    CallStarted("c1", "buffer", "Buffer", "towns", {"layer": "towns", "list": [1, 2]}, 1),
    ApprovalAsked("a1", (Deed(Reach.FILE, "save_layer", details=(("file", "x.csv"),)),)),
    ApprovalGiven("a1", True, True),
    CallFinished("c1", "buffer", {"layer": "towns"}, True, "", 0.5, RESULT),
    Reflected("c1", "{}"),
    Notice("Check the result.", warning=True),
    PlanDone(Graph("How many?", (Vertex("v1", tool="count", parameters={"layer": Layer("t")}),))),
    RunFinished(
        Status.OK, "There are **3**.", 3.0, "", layers=(MADE,), usage=Usage(1, 2, 3, 4),
        seconds={"total": 2.0},
    ),
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "transcripts.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[TranscriptStore]:
    made = TranscriptStore(path, "me")
    yield made
    made.close()


def keep(
    store: TranscriptStore, question: str, answer: str = "Three.", project: str = "/p.qgz"
) -> int:
    chat = store.begin_chat(project, question)
    turn = store.begin_turn(chat, question)
    for event in EVENTS:
        store.add(turn, event)
    store.end_turn(turn, "ok", answer)
    return chat


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
def test_an_event_comes_back_as_it_was(event: Any) -> None:
    form = text_of(event)
    assert form is not None
    assert event_of(*form) == event


def test_what_passes_is_not_kept(store: TranscriptStore) -> None:
    turn = store.begin_turn(store.begin_chat("", "q"), "q")
    assert not store.add(turn, CallProgress("c1", 50.0))
    assert not store.add(turn, AnswerDelta("The"))


def test_an_event_of_another_version_is_left_out_and_the_rest_is_shown(
    store: TranscriptStore, path: Path
) -> None:
    chat = keep(store, "q")
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO event (turn, kind, body) VALUES (1, 'Dreamt', '{}')")
        db.execute("INSERT INTO event (turn, kind, body) VALUES (1, 'Notice', '{broken')")
        db.execute("""INSERT INTO event (turn, kind, body) VALUES (1, 'Notice',
            '{"text": "kept", "warning": false, "new": 1}')""")
    db.close()
    assert store.turns(chat)[0].events == (*EVENTS, Notice("kept"))


def test_chats_are_listed_by_project_newest_first(store: TranscriptStore) -> None:
    first = keep(store, "one")
    second = keep(store, "two")
    keep(store, "elsewhere", project="/other.qgz")
    assert [one.id for one in store.chats("/p.qgz")] == [second, first]
    assert len(store.chats()) == 3
    row = store.chats("/p.qgz")[0]
    assert (row.title, row.questions, row.state) == ("two", 1, "ok")


@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize(("text", "found"), [
    ("river", True), ("RIVERS near", True), ("three", True), ("rivers three", True), ("riv", True),
    ("lake", False), ('"', False), ("100%", False), ("湖", True), ("OR NOT (", False),
])  # fmt: skip
def test_a_chat_is_found_by_what_was_asked_and_answered(
    path: Path, monkeypatch: pytest.MonkeyPatch, by_words: bool, text: str, found: bool
) -> None:
    if not by_words:
        monkeypatch.setattr(transcript_schema, "rebuild_search", lambda db: None)
    store = TranscriptStore(path, "me")
    assert store.searches_words is by_words
    keep(store, "Which rivers are near 大湖 here?", "There are three of them.")
    keep(store, "How many towns?", "Five.")
    assert [one.title[:5] for one in store.chats("/p.qgz", text)] == (["Which"] if found else [])
    store.close()


def test_a_chat_of_an_unsaved_project_moves_with_it(store: TranscriptStore) -> None:
    keep(store, "one", project="unsaved:1")
    store.move("unsaved:1", "/saved.qgz")
    assert len(store.chats("/saved.qgz")) == 1


@pytest.mark.parametrize("by_words", [True, False])
def test_deleting_leaves_no_byte_of_a_chat_in_any_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, by_words: bool
) -> None:
    if not by_words:
        monkeypatch.setattr(transcript_schema, "rebuild_search", lambda db: None)
        monkeypatch.setattr("geo_olm.plugin.transcript_store.rebuild_search", lambda db: None)
    store = TranscriptStore(path, "me")
    kept = keep(store, "An open question")
    chat = keep(store, "Zanzibarquestion", "Zanzibaranswer")
    for number in range(200):
        turn = store.begin_turn(chat, f"Zanzibarturn {number}")
        store.add(turn, Notice("Zanzibarnotice " * 50))
    assert any(b"anzibar" in one.read_bytes().lower() for one in path.parent.iterdir())
    store.delete([chat])
    held = {one.name: one.read_bytes().lower() for one in path.parent.iterdir()}
    assert [name for name, data in held.items() if b"anzibar" in data] == []
    assert any(b"an open question" in data for data in held.values())
    assert [one.id for one in store.chats()] == [kept]
    assert not store.chats(text="zanzibarquestion")
    store.close()
    assert not any(b"anzibar" in one.read_bytes().lower() for one in path.parent.iterdir())


def test_two_windows_write_and_read_at_the_same_time(path: Path) -> None:
    faults: list[BaseException] = []

    def work(name: str) -> None:
        try:
            store = TranscriptStore(path, name)
            for number in range(10):
                keep(store, f"{name} {number}")
            store.close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(f"window{n}",)) for n in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert faults == []
    store = TranscriptStore(path, "reader")
    assert len(store.chats()) == 20
    assert all(store.turns(one.id)[0].events == EVENTS for one in store.chats())
    store.close()


def test_a_window_that_reads_hinders_the_last_traces_and_that_is_said(
    store: TranscriptStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geo_olm.plugin.transcript_store._DELETING_S", 0.1)
    chat = keep(store, "Zanzibar")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT COUNT(*) FROM chat").fetchone()
    with pytest.raises(StoreError, match=r"another QGIS window|cannot be used"):
        store.delete([chat])
    other.execute("COMMIT")
    other.close()
    store.delete([chat])
    assert not any(b"Zanzibar" in one.read_bytes() for one in path.parent.iterdir())


CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
import conftest
from pathlib import Path
from geo_olm.plugin.transcript_store import TranscriptStore
from geo_olm.plugin.agent.event import Notice
store = TranscriptStore(Path(sys.argv[1]), "child")
turn = store.begin_turn(store.begin_chat("/p.qgz", "q"), "q")
number = 0
while True:
    store.add(turn, Notice(f"event {number}"))
    print(number, flush=True)
    number += 1
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a kill that cannot be caught")
def test_a_killed_process_loses_at_most_the_event_that_it_was_writing(path: Path) -> None:
    for after in (1, 17, 60):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(Path(__file__).parents[1])],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for _ in range(after):
            told = int(child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
        rest = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        told = int(rest[-1]) if rest and rest[-1].isdigit() else told
        store = TranscriptStore(path, "me")
        turn = store.running()[-1]
        (past,) = store.turns(turn[1])
        kept = [one.text for one in past.events]
        assert kept[: told + 1] == [f"event {n}" for n in range(told + 1)]
        assert len(kept) <= told + 2
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
        store.close()


def test_a_file_of_a_newer_version_is_left_as_it_is(path: Path, store: TranscriptStore) -> None:
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {transcript_schema.VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="newer"):
        TranscriptStore(path, "other")


def test_an_older_file_is_brought_to_this_version_with_its_chats(
    path: Path, store: TranscriptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, "old")
    steps = (*transcript_schema.STEPS, lambda db: db.execute("ALTER TABLE chat ADD tags TEXT"))
    monkeypatch.setattr(transcript_schema, "STEPS", steps)
    monkeypatch.setattr(transcript_schema, "VERSION", 2)
    monkeypatch.setattr("geo_olm.plugin.transcript_store.VERSION", 2)
    newer = TranscriptStore(path, "me")
    assert [one.title for one in newer.chats()] == ["old"]
    newer.close()


@pytest.mark.parametrize("data", [b"", b"no database at all" * 100])
def test_a_file_that_is_no_database_is_told_and_left(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    if not data:
        TranscriptStore(path, "me").close()
        return
    with pytest.raises(StoreError, match="not kept"):
        TranscriptStore(path, "me")
    assert path.read_bytes() == data


SECRET = "sk-abcdefghijklmnop1234"  # pragma: allowlist secret
HIDING = (
    f"Authorization: Bearer {SECRET}",
    f"use api_key={SECRET} now",
    f"the key is {SECRET}",
    f"postgres://ana:{SECRET}@db/roads",
    f"dbname='x' user='ana' password='{SECRET}' table=\"roads\"",
    f"https://x.example/wms?token={SECRET}&layer=1",
)


@pytest.mark.parametrize("text", HIDING)
def test_keys_and_passwords_are_never_written(
    store: TranscriptStore, path: Path, text: str
) -> None:
    turn = store.begin_turn(store.begin_chat("", ""), "q")
    store.add(turn, Notice(text))
    store.add(turn, CallStarted("c", "add_layer", "", "", {"source": text, "token": SECRET}, 1))
    assert SECRET not in without_secrets(text)
    assert not any(SECRET.encode() in one.read_bytes() for one in path.parent.iterdir())


@pytest.mark.parametrize(("text", "left"), [
    ("saved in /home/ana/maps/near.gpkg.", "saved in …/near.gpkg."),
    ("C:\\Users\\Ana Lu\\maps\\near.gpkg", "…/near.gpkg"),
    ("\\\\server\\share\\near.gpkg", "…/near.gpkg"),
    ("file:///home/ana/near.gpkg", "…/near.gpkg"),
    ("12 km/h and 3/4 of it", "12 km/h and 3/4 of it"),
    ("see https://example.org/a/b", "see https://example.org/a/b"),
])  # fmt: skip
def test_of_a_path_only_the_name_of_the_file_is_exported(text: str, left: str) -> None:
    assert without_paths(text) == left


@pytest.mark.parametrize("ending", [".md", ".html", ".json"])
def test_an_export_tells_the_chat_without_keys_paths_or_markup_of_the_data(
    store: TranscriptStore, ending: str
) -> None:
    chat = store.begin_chat("/p.qgz", "<script>alert(1)</script> towns")
    turn = store.begin_turn(chat, f"<script>alert(1)</script> towns in /home/ana/x.gpkg {SECRET}")
    for event in EVENTS:
        store.add(turn, event)
    store.end_turn(turn, "ok", "There are 3.")
    (row,) = store.chats()
    text = exported(row, store.turns(chat), ending)
    assert "There are **3**." in text
    assert "near" in text
    for hidden in (SECRET, "/home/ana"):
        assert hidden not in text
    if ending == ".json":
        assert json.loads(text)["turns"][0]["events"][0]["kind"] == "RunStarted"
    else:
        assert "<script>" not in text
