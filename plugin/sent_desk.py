# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the page "What was sent" to the ledger."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QWidget

from ..ui.sent_page import SentPage
from ..ui.sent_row import SentRow
from .egress import ledger
from .llm.ledger import Entry, as_csv

DAYS = 30


def tr(text: str) -> str:
    """Translate a text of this page."""
    return QCoreApplication.translate("SentDesk", text)


def sent_page(parent: QWidget | None, fail: Any) -> SentPage:
    """Return the page over the ledger of this profile; `fail` takes a sentence for the user."""
    page = SentPage(parent)

    def fill() -> None:
        page.set_rows(tuple(map(row_of, ledger().entries())))

    def tried(work: Any, words: str) -> None:
        try:
            work()
        except OSError as error:
            fail(words.format(error.strerror or error))

    def clear() -> None:
        tried(ledger().clear, tr("What was sent could not be cleared: {0}."))
        fill()

    def export(path: str, elsewhere: bool) -> None:
        kept = [one for one in ledger().entries() if not (elsewhere and one.local)]
        words = tr("What was sent could not be exported: {0}. Choose another folder.")
        tried(lambda: _write(Path(path), as_csv(kept)), words)

    page.clear_requested.connect(clear)
    page.export_requested.connect(export)
    tried(fill, tr("What was sent could not be read: {0}."))
    return page


def summary() -> str:
    """Say in one line how much left this machine in the last 30 days."""
    since = time.time() - DAYS * 86400
    try:
        gone = [one for one in ledger().entries() if not one.local and one.time >= since]
    except OSError as error:
        return tr("What was sent could not be read: {0}.").format(error.strerror or error)
    if not gone:
        return tr("Nothing left this machine in the last {0} days").format(DAYS)
    hosts = ", ".join(sorted({one.host for one in gone})[:3])
    return tr("{0} requests left this machine in the last {1} days: {2}").format(
        len(gone), DAYS, hosts
    )


def row_of(entry: Entry) -> SentRow:
    """Return a request as the page shows it."""
    held = entry.held
    return SentRow(
        entry.time,
        entry.host,
        entry.local,
        entry.purpose,
        f"{entry.method} {entry.path}",
        entry.sent,
        entry.received,
        entry.status,
        held.layers,
        held.fields,
        held.values,
        held.more,
    )


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        file.write(text)
