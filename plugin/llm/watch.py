# SPDX-License-Identifier: GPL-2.0-or-later
"""What watches over a request while it waits: its limits, the user's stop, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .base import Cancelled

OnWait = Callable[[float], None]
"""Takes the seconds waited so far, about once a second, on the thread that asks."""


def never() -> bool:
    """Nobody stops this."""
    return False


@dataclass
class Watch:
    """Limits in seconds for the connection, the first byte and the pause between bytes.

    One watch belongs to one adapter and its exchange; `cancelled` is set for each request.
    """

    connect_s: float = 5.0
    first_token_s: float = 300.0
    idle_s: float = 60.0
    cancelled: Cancelled = never
    on_wait: OnWait | None = None
