# SPDX-License-Identifier: GPL-2.0-or-later
"""Has Ollama download a model, and tells how far it is; a pull that was stopped goes on later
from where it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from .address import ollama_root, shown
from .base import Cancelled, ModelError, RunCancelled
from .exchange import ExchangeFactory
from .failure import Place, from_connection, from_status
from .ollama_client import ollama_client, refusal_of
from .plain_exchange import PlainExchange
from .progress import Progress
from .watch import Watch, never

LABEL = "Ollama"
_DONE = "success"
_UNKNOWN = re.compile(r"file does not exist|not found|invalid model name", re.IGNORECASE)
_FULL = re.compile(r"no space left|disk (?:is )?full|not enough space", re.IGNORECASE)
_OFF = re.compile(r"no such host|dial tcp|network is unreachable|i/o timeout", re.IGNORECASE)
_OLD = re.compile(r"newer version of ollama", re.IGNORECASE)


class OllamaPull:
    """Pulls models into the Ollama at an address."""

    def __init__(
        self,
        address: str = "",
        *,
        watch: Watch | None = None,
        transport: ExchangeFactory = PlainExchange,
    ) -> None:
        self._root = ollama_root(address)
        self._watch = watch or Watch()
        self._transport = transport

    def pull(self, name: str, cancelled: Cancelled = never) -> Iterator[Progress]:
        """Download a model, yielding how far it is until all of it is there and checked.

        Raises ModelError, and RunCancelled soon after `cancelled` turns true.
        """
        place = Place(LABEL, shown(self._root), name)
        self._watch.cancelled = cancelled
        client: Any = ollama_client(self._root, self._watch, self._transport)
        last = ""
        try:
            with closing(client.pull(name, stream=True)) as stream:
                sums = _Sums()
                for part in stream:
                    if cancelled():
                        raise RunCancelled
                    last = str(part.status or "")
                    yield sums.taken(part, last)
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise _translated(error, place, cancelled) from error
        finally:
            client.close()
            self._watch.cancelled = never
        if last != _DONE:
            raise ModelError(
                f"{place} broke off the pull of {name}. Pull it again: it goes on from there.",
                f"the last word was {last!r}",
                retry=True,
            )


class _Sums:
    """Adds up the files of a model; each comes with a digest of its own."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[int, int]] = {}

    def taken(self, part: Any, status: str) -> Progress:
        digest = str(part.digest or "")
        if digest:
            self._files[digest] = (int(part.completed or 0), int(part.total or 0))
        done = sum(item[0] for item in self._files.values())
        return Progress(done, sum(item[1] for item in self._files.values()), _words(status))


def _words(status: str) -> str:
    """Return what happens, without the digests that nobody reads."""
    first = status.split(" ", 1)[0]
    known = {"pulling": "Pulling", "downloading": "Pulling", "verifying": "Checking"}
    known.update(writing="Finishing", removing="Finishing", success="Finishing")
    return known.get(first, "Pulling")


def _translated(error: Exception, place: Place, cancelled: Cancelled) -> Exception:
    if cancelled():
        return RunCancelled()
    told = refusal_of(error)
    if told is None:
        return from_connection(error, place, "")
    name, text = place.model, told.text
    if _OLD.search(text):
        return ModelError(f"{name} needs a newer Ollama. Bring {place.label} up to date.", text)
    if _FULL.search(text):
        return ModelError(
            f"The disk of {place} is full, so {name} could not be pulled. Make room, then pull "
            "it again.",
            text,
        )
    if _OFF.search(text):
        return ModelError(
            f"{place} does not reach its library. Look at its network, then pull {name} again.",
            text,
            retry=True,
        )
    if told.status == 404 or _UNKNOWN.search(text):
        return ModelError(
            f"The library of {place.label} has no model named {name}. Check its name.", text
        )
    return from_status(told.status, text, place)
