# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns texts into vectors by a model that Ollama holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .address import ollama_root, shown
from .base import ModelError, RunCancelled
from .exchange import ExchangeFactory
from .failure import Place
from .ollama_client import ollama_client, refusal_of
from .ollama_form import duration, error_of, missing
from .plain_exchange import PlainExchange
from .watch import Watch

LABEL = "Ollama"


class OllamaEmbedder:
    """Embeds texts with one model; it is kept loaded as long as the chat's model is."""

    def __init__(
        self,
        address: str,
        model: str,
        *,
        keep_alive: str = "5m",
        watch: Watch | None = None,
        transport: ExchangeFactory = PlainExchange,
    ) -> None:
        self._place = Place(LABEL, shown(ollama_root(address)), model)
        self._keep_alive = duration(keep_alive)
        self._client: Any = ollama_client(ollama_root(address), watch or Watch(), transport)

    def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one vector for each text, in order, all of one length.

        A text too long for the model is refused, not cut. Raises ModelError and RunCancelled.
        """
        if not texts:
            return ()
        try:
            told = self._client.embed(
                self._place.model, list(texts), truncate=False, keep_alive=self._keep_alive
            )
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise self._translated(error) from error
        found = tuple(tuple(float(number) for number in vector) for vector in told.embeddings)
        if len(found) != len(texts) or len({len(vector) for vector in found}) != 1:
            raise ModelError(
                f"{self._place} gave no vector for each text. Choose another model to search with.",
                f"{len(found)} vectors for {len(texts)} texts",
            )
        return found

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _translated(self, error: Exception) -> Exception:
        told = refusal_of(error)
        if told is not None and "does not support embed" in told.text:
            return ModelError(
                f"{self._place.model} makes no vectors. Choose a model for embeddings.", told.text
            )
        found = error_of(error, self._place, "")
        if found is not None:
            return found
        names = [str(item.model) for item in self._client.list().models]
        return missing(self._place, names, self._place.model)
