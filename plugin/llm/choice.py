# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the model that answers: what the user set, else the first of three ways that is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .address import OLLAMA_DEFAULT, ollama_root, openai_base
from .base import ChatModel, ModelError, NoModel, Server
from .embedded import EmbeddedModel, Startable
from .exchange import ExchangeError, ExchangeFactory, fetched
from .gguf import read_model_file
from .ollama import OllamaModel
from .openai import OpenAIModel
from .plain_exchange import PlainExchange
from .store import Store
from .watch import Watch

if TYPE_CHECKING:
    from ..settings import Settings

PROBE_S = 2.0
DEFAULT_CONTEXT = 8192

THREE_WAYS = (
    "No model was found. Start Ollama, or set the address of a server that answers, "
    "or choose a GGUF file and a llama.cpp server program in the options."
)

MakeServer = Callable[[Path, Path, str, int, int], Startable]
"""Gives the embedded server for a program, a model file, its name, context and threads."""


def choose_model(
    settings: Settings,
    environ: Mapping[str, str],
    store: Store,
    make_server: MakeServer,
    transport: ExchangeFactory = PlainExchange,
) -> ChatModel:
    """Return the model to ask, in the contract's order; nothing is started or loaded yet.

    `transport` makes the exchange of a model. The key of the environment goes only to the
    address of the environment. Raises NoModel, ModelMissing, BrokenModelFile or ModelError.
    """
    choice = _Choice(settings, environ, store, make_server, transport)
    return choice.model()


class _Choice:
    """One choice; holds what every way needs."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        store: Store,
        make_server: MakeServer,
        transport: ExchangeFactory,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._store = store
        self._make_server = make_server
        self._transport = transport
        self._watch = Watch(settings.connect_s, settings.first_token_s, settings.idle_s)

    def model(self) -> ChatModel:
        wanted = Server(self._settings.server)
        address = self._settings.address
        ollama_host = self._environ.get("OLLAMA_HOST", "") or OLLAMA_DEFAULT
        openai_url = self._environ.get("OPENAI_BASE_URL", "")
        if wanted is Server.OLLAMA:
            return self._ollama(address or ollama_host)
        if wanted is Server.OPENAI:
            return self._openai(address or openai_url)
        if wanted is Server.EMBEDDED:
            return self._embedded()
        if address:
            return self._ollama(address) if self._is_ollama(address) else self._openai(address)
        if self._is_ollama(ollama_host):
            return self._ollama(ollama_host)
        return self._openai(openai_url) if openai_url else self._embedded()

    def _ollama(self, address: str) -> ChatModel:
        settings = self._settings
        return OllamaModel(
            _normal(ollama_root, address),
            settings.model,
            context=settings.context or DEFAULT_CONTEXT,
            keep_alive=settings.keep_alive,
            think=settings.think,
            watch=self._watch,
            transport=self._transport,
        )

    def _openai(self, address: str) -> ChatModel:
        if not address:
            raise ModelError(
                "No address of a server is set. Type it in the options, or set OPENAI_BASE_URL."
            )
        base = _normal(openai_base, address)
        named = self._environ.get("OPENAI_BASE_URL", "")
        same = bool(named) and _normal(openai_base, named) == base
        return OpenAIModel(
            base,
            self._settings.model,
            api_key=self._environ.get("OPENAI_API_KEY", "") if same else "",
            context=self._settings.context,
            watch=self._watch,
            transport=self._transport,
        )

    def _embedded(self) -> ChatModel:
        settings, store = self._settings, self._store
        program = store.find_server(settings.server_program)
        if program is None:
            if settings.server_program:
                raise NoModel(
                    f"There is no server program {settings.server_program}. Choose another."
                )
            raise NoModel(THREE_WAYS)
        try:
            path, known = store.find_model(settings.model)
        except NoModel as error:
            raise NoModel(THREE_WAYS, error.message) from error
        trained = read_model_file(path).context or DEFAULT_CONTEXT
        context = min(settings.context or DEFAULT_CONTEXT, trained)
        name = known.name if known else path.stem
        server = self._make_server(program, path, name, context, settings.threads)
        return EmbeddedModel(
            server,
            path,
            name,
            context,
            digest=known.sha256 if known else "",
            models=store.names(),
            watch=self._watch,
            transport=self._transport,
        )

    def _is_ollama(self, address: str) -> bool:
        """Tell within two seconds whether an Ollama answers at an address."""
        root = _normal(ollama_root, address)
        exchange = self._transport(Watch(PROBE_S, PROBE_S, PROBE_S))
        try:
            status, body = fetched(exchange, f"{root}/api/version")
            told = json.loads(body) if status == 200 else None
        except (ExchangeError, ValueError):
            return False
        return isinstance(told, dict) and "version" in told


def _normal(form: Callable[[str], str], address: str) -> str:
    try:
        return form(address)
    except ValueError as error:
        raise ModelError(f"{error} Type one like http://127.0.0.1:11434.") from error
