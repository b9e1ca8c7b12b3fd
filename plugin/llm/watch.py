# SPDX-License-Identifier: GPL-2.0-or-later
"""What watches over a request while it waits: its limits, the user's stop, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .base import Cancelled
from .failure import client_missing

if TYPE_CHECKING:
    import httpx

OnWait = Callable[[float], None]
"""Takes the seconds waited so far, about once a second, on the thread that asks."""


def never() -> bool:
    """Nobody stops this."""
    return False


@dataclass
class Watch:
    """Limits in seconds for the connection, the first byte and the pause between bytes.

    One watch belongs to one adapter and its transport; `cancelled` is set for each request.
    """

    connect_s: float = 5.0
    first_token_s: float = 300.0
    idle_s: float = 60.0
    cancelled: Cancelled = never
    on_wait: OnWait | None = None


TransportFactory = Callable[[Watch], "httpx.BaseTransport"]
"""Makes the transport of one adapter; None in its place means httpx's own."""


def http_client(watch: Watch, transport: TransportFactory | None) -> httpx.Client:
    """Return an httpx client over the transport, or over httpx's own without a proxy.

    httpx's own transport knows one limit for reading: the longer one. Raises ModelError when
    httpx is not installed.
    """
    try:
        import httpx
    except ImportError as error:
        raise client_missing("httpx") from error
    return httpx.Client(**client_options(watch, transport))


def client_options(watch: Watch, transport: TransportFactory | None) -> dict[str, Any]:
    """Return the keyword arguments of httpx.Client for a watch and a transport."""
    import httpx

    timeout = httpx.Timeout(
        connect=watch.connect_s,
        read=max(watch.first_token_s, watch.idle_s),
        write=watch.idle_s,
        pool=watch.connect_s,
    )
    made = transport(watch) if transport is not None else None
    return {"timeout": timeout, "transport": made, "trust_env": False}
