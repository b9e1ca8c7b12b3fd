# SPDX-License-Identifier: GPL-2.0-or-later
"""The ledger keeps what was sent, within its size, and gives it back as a table."""

from __future__ import annotations

import csv
import io
import logging
import threading
from pathlib import Path

import pytest

from geo_olm.plugin.llm.holding import Held
from geo_olm.plugin.llm.ledger import Entry, Ledger, as_csv


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ticks = iter(range(1_700_000_000, 1_800_000_000))
    return Ledger(tmp_path / "ledger", clock=lambda: float(next(ticks)))


def note(ledger: Ledger, host: str = "api.example.org", held: Held | None = None) -> str:
    return ledger.begin(host, False, "model", "POST", "/v1/chat", 100, held or Held())


def test_an_entry_is_there_before_and_after_its_reply(ledger: Ledger) -> None:
    entry = note(ledger, held=Held(("roads",), ("name",), ("Ely",), 3))
    assert ledger.entries() == [
        Entry(entry, 1.7e9, "api.example.org", False, "model", "POST", "/v1/chat", 100, 0, 0,
              Held(("roads",), ("name",), ("Ely",), 3)),
    ]  # fmt: skip
    ledger.end(entry, 200, 4000)
    (kept,) = ledger.entries()
    assert (kept.status, kept.received, kept.held.layers) == (200, 4000, ("roads",))


def test_the_newest_comes_first_and_another_ledger_sees_it(ledger: Ledger, tmp_path: Path) -> None:
    note(ledger, "one.example")
    note(ledger, "two.example")
    other = Ledger(tmp_path / "ledger")
    assert [entry.host for entry in other.entries()] == ["two.example", "one.example"]
    other.clear()
    assert ledger.entries() == []


def test_the_oldest_go_when_the_size_is_reached(tmp_path: Path) -> None:
    small = Ledger(tmp_path, limit=8000)
    for number in range(200):
        note(small, f"host{number}.example")
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    kept = [entry.host for entry in small.entries()]
    assert size <= 8000
    assert kept[0] == "host199.example"
    assert "host0.example" not in kept
    assert len(kept) > 10


def test_many_threads_write_whole_lines(ledger: Ledger) -> None:
    def write() -> None:
        for _ in range(50):
            ledger.end(note(ledger), 200, 1)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = ledger.entries()
    assert (len(entries), {entry.status for entry in entries}) == (200, {200})


def test_a_line_that_was_cut_is_told_and_the_others_stay(
    ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    note(ledger)
    part = next((tmp_path / "ledger").iterdir())
    part.write_text(part.read_text() + '{"id": "x", "ho\n[1]\n{"id": "y", "status": 200}\n')
    with caplog.at_level(logging.WARNING):
        assert len(ledger.entries()) == 1
    assert caplog.text.count("cannot be read") == 2


def test_the_table_reads_back_and_runs_no_formula(ledger: Ledger) -> None:
    held = Held(("=cmd()", "roads, old"), ("naïve",), ('a "b"',))
    ledger.end(note(ledger, "-host", held), 200, 7)
    (row,) = csv.DictReader(io.StringIO(as_csv(ledger.entries())))
    assert row["time"] == "2023-11-14T22:13:20Z"
    assert (row["host"], row["sent"], row["received"], row["status"]) == (
        "'-host",
        "100",
        "7",
        "200",
    )
    assert row["layers"] == "'=cmd(); roads, old"
    assert (row["fields"], row["values"]) == ("naïve", 'a "b"')
