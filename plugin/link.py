# SPDX-License-Identifier: GPL-2.0-or-later
"""The link to a model: chooses it, starts the embedded server when it is needed, ends it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .agent.event import ModelState
from .llm.base import Cancelled
from .llm.holding import AskKnown, nothing_known
from .model_note import NoteStore
from .place import RESOURCES, store_folder
from .settings import Settings

if TYPE_CHECKING:
    from .llm.doctor_ask import Patient
    from .llm.speaker import ModelSpeaker


class ModelLink:
    """Connects to models; owns the embedded servers of this process."""

    def __init__(self, folder: Path) -> None:
        from .llm.server import ServerKeeper
        from .llm.store import Store

        self._store = Store(folder, RESOURCES / "models.json")
        self._keeper = ServerKeeper(folder / "run")

    def connect(
        self,
        settings: Settings,
        emit: Callable[[Any], None],
        cancelled: Cancelled,
        known: AskKnown = nothing_known,
    ) -> ModelSpeaker:
        """Return a speaker for the model that the settings and the machine lead to.

        `known` gives the names and values that the ledger looks for in each request. May probe
        for up to two seconds; call it on a worker thread. Raises ModelError.
        """
        from .llm.speaker import ModelSpeaker

        model = self.model(settings, known)
        model.on_wait = lambda seconds: emit(ModelState("reading", seconds))
        return ModelSpeaker(
            model,
            settings.tool_mode,
            settings.reply_tokens,
            settings.temperature,
            settings.seed,
            NoteStore().recall,
        )

    def model(self, settings: Settings, known: AskKnown = nothing_known) -> Patient:
        """Return the model itself, as the doctor examines it. Raises as `connect`."""
        from .egress import model_exchange
        from .llm.choice import choose_model
        from .llm.server import ServerPlan

        return choose_model(
            settings,
            os.environ,
            self._store,
            lambda program, path, name, context, threads: self._keeper.server(
                ServerPlan(program, path, name, context, threads, settings.graphics)
            ),
            model_exchange(settings, known),
        )

    def unload(self, settings: Settings) -> None:
        """Free the memory of the model, where its server can; worker thread. Raises ModelError."""
        from .llm.embedded import EmbeddedModel
        from .llm.ollama import OllamaModel

        model = self.model(settings)
        if isinstance(model, (OllamaModel, EmbeddedModel)):
            model.unload()
        model.close()

    def stop(self) -> None:
        """End the embedded servers."""
        self._keeper.stop()


@lru_cache(maxsize=1)
def process_link() -> ModelLink:
    """Return the one link of this process, made at the first call."""
    return ModelLink(store_folder())
