# SPDX-License-Identifier: GPL-2.0-or-later
"""A chat model behind the embedded server, which is started at the first question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from .base import Cancelled, ChatRequest, Chunk, ModelCard, ModelError, Remark, Server, Waiting
from .exchange import ExchangeFactory
from .gguf import read_model_file
from .openai import OpenAIModel
from .plain_exchange import PlainExchange
from .watch import OnWait, Watch


class Startable(Protocol):
    """A server that can be brought up, as server.EmbeddedServer is."""

    @property
    def address(self) -> str:
        """The base address while it runs, else ""."""

    def starting(self, cancelled: Cancelled) -> Iterator[float]:
        """Bring it up, yielding the seconds waited. Raises ModelError and RunCancelled."""

    @property
    def residence(self) -> str:
        """Where the model lies, as a part of a sentence; "" while it is not loaded."""

    def told(self) -> tuple[Remark, ...]:
        """Return what the last start had to say to the user, once."""

    def stop(self) -> None:
        """End the server, which frees the model's memory."""

    def log_text(self) -> str:
        """Return what the server has written into its log, "" without one."""


class EmbeddedModel:
    """A ChatModel over a server of the plugin's own; `path` is the GGUF file that it serves."""

    def __init__(
        self,
        server: Startable,
        path: Path,
        name: str,
        context: int,
        *,
        digest: str = "",
        models: tuple[str, ...] = (),
        watch: Watch | None = None,
        transport: ExchangeFactory = PlainExchange,
    ) -> None:
        self._server = server
        self._path = path
        self._card = ModelCard(
            name,
            Server.EMBEDDED,
            "127.0.0.1",
            context,
            digest,
            local=True,
            native_tools=True,
            models=models,
        )
        self._watch = watch or Watch()
        self._transport = transport
        self._inner: tuple[str, OpenAIModel] | None = None

    @property
    def on_wait(self) -> OnWait | None:
        """Called about once a second, on the asking thread, while the first byte is awaited."""
        return self._watch.on_wait

    @on_wait.setter
    def on_wait(self, listener: OnWait | None) -> None:
        self._watch.on_wait = listener

    def card(self) -> ModelCard:
        """Describe the model without starting the server. Raises BrokenModelFile."""
        if not self._card.size:
            self._card = replace(self._card, size=read_model_file(self._path).bytes)
        return replace(self._card, residence=self._server.residence)

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        """Stream the reply, the Reply last; while the model is loaded, Waiting comes first.

        Raises ModelError, and RunCancelled soon after `cancelled` turns true.
        """
        for seconds in self._server.starting(cancelled):
            yield Waiting(seconds, loading=True)
        yield from self._server.told()
        yield from self._model().chat(request, cancelled)

    def page(self, path: str) -> tuple[int, bytes]:
        """Return status and body of a page of the server. Raises ModelError before a chat."""
        if not self._server.address:
            raise ModelError("The embedded server does not run yet. Ask a question first.")
        return self._model().page(path)

    def log_text(self) -> str:
        """Return the server's log, "" without one."""
        return self._server.log_text()

    def unload(self) -> None:
        """End the server; the next question starts it again."""
        self.close()
        self._server.stop()

    def close(self) -> None:
        """Let go of connections; the server keeps running."""
        if self._inner is not None:
            self._inner[1].close()

    def _model(self) -> OpenAIModel:
        address = self._server.address
        if self._inner is None or self._inner[0] != address:
            self.close()
            model = OpenAIModel(
                address,
                self._card.name,
                context=self._card.context,
                digest=self._card.digest,
                server=Server.EMBEDDED,
                label="The embedded server",
                watch=self._watch,
                transport=self._transport,
            )
            self._inner = (address, model)
        return self._inner[1]
