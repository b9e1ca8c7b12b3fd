# SPDX-License-Identifier: GPL-2.0-or-later
"""One request as the page "What was sent" shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SentRow:
    """When (seconds since 1970), where, how much, and what it held.

    `sent` and `received` are bytes; `status` 0 means that no reply has ended; `purpose` is model,
    package or download; `more` counts names and values beyond those listed.
    """

    time: float
    host: str
    local: bool
    purpose: str
    request: str
    sent: int
    received: int = 0
    status: int = 0
    layers: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    more: int = 0
