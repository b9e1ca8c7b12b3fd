# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds out for the doctor which server answers, and where it has put the model."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from .base import ModelCard, ModelError, Server
from .doctor_ask import Patient
from .doctor_report import Check, Finding, Grade
from .residence import Residence

_MEBIBYTE = 1 << 20
_BUFFER = re.compile(r"(\S+) +(model|KV|compute|output|RS) +buffer size *= *([\d.]+) MiB")
_SPLIT = "A part of it does not fit the graphics card, which slows it down"
_ON_PROCESSOR = "No graphics card is used; longer chats slow down"
_NOT_SAID = Finding(Check.MEMORY, Grade.NOTE, "The server does not say")


@runtime_checkable
class Unloadable(Protocol):
    """A model whose server frees its memory when asked."""

    def unload(self) -> None:
        """Free the model's memory. Raises ModelError."""


@dataclass(frozen=True)
class Identity:
    """Which program serves, its version as it says it, and whether it is Ollama behind /v1."""

    name: str
    version: str = ""
    is_ollama: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


def identify(model: Patient, card: ModelCard) -> Identity:
    """Ask the server's own pages what it is. Raises ModelError when it does not answer."""
    version = _told(model, "/api/version").get("version")
    if card.server is Server.OLLAMA or version:
        name = "Ollama" if card.server is Server.OLLAMA else "Ollama, by its OpenAI address"
        return Identity(name, _short(version), is_ollama=True)
    properties = _told(model, "/props")
    if "default_generation_settings" in properties:
        return Identity("llama.cpp server", _short(properties.get("build_info")))
    version = _told(model, "/version").get("version")
    if version:
        return Identity("vLLM", _short(version))
    if "data" in _told(model, "/api/v0/models"):
        return Identity("LM Studio")
    return Identity("OpenAI-compatible server")


def memory(model: Patient, card: ModelCard) -> Finding:
    """Say how much memory the loaded model takes and where, if the server tells it."""
    if card.server is Server.OLLAMA:
        loaded = _told(model, "/api/ps").get("models")
        for item in loaded if isinstance(loaded, list) else ():
            if isinstance(item, dict) and card.name in (item.get("model"), item.get("name")):
                return _placed(Residence(_whole(item, "size"), _whole(item, "size_vram")))
        return _NOT_SAID
    found = residence_of_log(model.log_text())
    if found is not None:
        return _placed(found)
    return _worded(model.card()) if card.server is Server.EMBEDDED else _NOT_SAID


def residence_of_log(text: str) -> Residence | None:
    """Return the memory that llama.cpp's log tells of, None where it tells of none.

    Buffers of the processor begin with its name; all others lie on graphics cards.
    """
    sizes = {(place, kind): float(size) for place, kind, size in _BUFFER.findall(text)}
    if not any(kind == "model" for _, kind in sizes):
        return None
    off_card = ("CPU", "BLAS", "AMX")
    on_card = sum(
        size for (place, _), size in sizes.items() if not place.upper().startswith(off_card)
    )
    return Residence(int(sum(sizes.values()) * _MEBIBYTE), int(on_card * _MEBIBYTE))


def _placed(found: Residence) -> Finding:
    size = f"{found.size / 1e9:.1f} GB, " if found.size and not found.is_split else ""
    words = size + found.words
    words = words[:1].upper() + words[1:]
    numbers = {"bytes": float(found.size), "bytes_on_card": float(found.on_card)}
    if found.is_split:
        meaning = _SPLIT
    elif not found.on_card:
        meaning = _ON_PROCESSOR
    else:
        return Finding(Check.MEMORY, Grade.FINE, words, "All of it fits", numbers)
    return Finding(Check.MEMORY, Grade.WARNING, words, meaning, numbers)


def _worded(card: ModelCard) -> Finding:
    """Say where a model lies by the words of its card, where no sizes are told."""
    if not card.residence:
        return _NOT_SAID
    words = card.residence[:1].upper() + card.residence[1:]
    if card.residence.startswith("all "):
        return Finding(Check.MEMORY, Grade.FINE, words, "All of it fits")
    slow = card.residence == "on the processor"
    return Finding(Check.MEMORY, Grade.WARNING, words, _ON_PROCESSOR if slow else _SPLIT)


def _told(model: Patient, path: str) -> dict[str, Any]:
    """Return the object that a page answers with, {} where there is no such page.

    Raises ModelError when nothing answers at all.
    """
    status, body = model.page(path)
    if status != 200:
        return {}
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def unload(model: Patient) -> bool:
    """Have a server that can do so unload the model, so that its loading can be timed.

    Tells whether it did. Raises RunCancelled.
    """
    if not isinstance(model, Unloadable):
        return False
    try:
        model.unload()
    except ModelError:
        return False
    return True


def _whole(item: dict[str, Any], key: str) -> int:
    value = item.get(key)
    return int(value) if isinstance(value, (int, float)) else 0


def _short(text: Any) -> str:
    return text[:40] if isinstance(text, str) else ""
