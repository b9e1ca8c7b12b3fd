# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms in which people write a server's address, brought to one form."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

OLLAMA_PORT = 11434
OLLAMA_DEFAULT = f"http://127.0.0.1:{OLLAMA_PORT}"

_ENDPOINTS = ("/chat/completions", "/completions", "/models", "/embeddings")


def ollama_root(text: str) -> str:
    """Return scheme, host and port of an Ollama address; "" is the default on this machine.

    Takes OLLAMA_HOST's forms, and addresses with /v1 or /api… at their end. Raises ValueError
    when the text is no address.
    """
    parts = _split(text or OLLAMA_DEFAULT)
    path = parts.path.rstrip("/")
    for ending in ("/v1", "/api"):
        if path == ending or path.startswith(ending + "/"):
            path = ""
        elif ending + "/" in path + "/":
            path = path[: (path + "/").index(ending + "/")]
    default = None if parts.scheme == "https" else OLLAMA_PORT
    return f"{parts.scheme}://{_place(parts, default)}{path}"


def openai_base(text: str) -> str:
    """Return the base address of an OpenAI-compatible server, ending in its version (/v1).

    Endpoints at the end are cut off; a path of its own is kept. Raises ValueError when the text
    is no address.
    """
    parts = _split(text)
    path = parts.path.rstrip("/")
    for ending in _ENDPOINTS:
        path = path[: -len(ending)] if path.endswith(ending) else path
    if path in ("", "/api") or path.startswith("/api/chat"):
        path = "/v1"
    return f"{parts.scheme}://{_place(parts, None)}{path}"


def shown(address: str) -> str:
    """Return host and port as a user reads them, without scheme, path, name or password."""
    return _place(_split(address), None)


def is_loopback(address: str) -> bool:
    """Tell whether an address is on this machine."""
    host = _split(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(text: str) -> SplitResult:
    text = text.strip().strip("\"'")
    if "://" not in text:
        text = "http://" + (f"127.0.0.1{text}" if text.startswith(":") else text)
    parts = urlsplit(text)
    _ = parts.port  # Raises ValueError for a port that is no number.
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f'"{text}" is not the address of a server.')
    return parts


def _place(parts: SplitResult, default_port: int | None) -> str:
    host = _reachable(parts.hostname or "")
    host = f"[{host}]" if ":" in host else host
    port = parts.port or default_port
    return f"{host}:{port}" if port else host


def _reachable(host: str) -> str:
    """Return this machine's own address for names that mean it; others stay."""
    if host == "localhost":
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"
