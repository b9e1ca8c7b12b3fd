# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks which model would answer, and says it as the dock and the options page show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ui.model_view import Action, ModelCondition, ModelView
from .link import process_link
from .llm.base import ModelCard, ModelError, ModelMissing, NoModel, Server
from .llm.gate import ConsentNeeded
from .model_note import NoteStore
from .settings import Settings

_SERVERS = {
    Server.OLLAMA: "Ollama",
    Server.OPENAI: "OpenAI-compatible server",
    Server.EMBEDDED: "Built-in server",
}


def _silent(_event: Any) -> None:
    """Nobody listens while a model is only looked for."""


def scout(settings: Settings, cancelled: Callable[[], bool]) -> ModelView:
    """Return the model that the settings lead to, or why there is none. Worker thread."""
    try:
        card = process_link().connect(settings, _silent, cancelled).card()
    except ConsentNeeded as error:
        return ModelView(
            ModelCondition.WAITING,
            name=settings.model,
            server=error.host,
            error=error.message,
            local=False,
            consent=error.host,
        )
    except NoModel as error:
        return ModelView(
            ModelCondition.NONE,
            error=error.message,
            actions=(Action.LOOK_AGAIN, Action.OPTIONS),
        )
    except ModelError as error:
        pulls = isinstance(error, ModelMissing) and error.can_pull
        return ModelView(
            ModelCondition.UNREACHABLE,
            name=settings.model,
            models=error.names if isinstance(error, ModelMissing) else (),
            error=error.message,
            actions=(Action.PULL if pulls else Action.LOOK_AGAIN, Action.OPTIONS),
            can_pull=pulls,
        )
    return view_of(card)


def view_of(card: ModelCard) -> ModelView:
    """Return what the dock shows of a model that is ready."""
    server = _SERVERS.get(card.server, card.server.value)
    detail = [f"{server}, {card.address}, {card.context} tokens of context"]
    if card.size:
        detail.append(f"{card.size / 1e9:.1f} GB")
    if card.residence:
        detail.append(f"loaded {card.residence}")
    note = NoteStore().recall(card)
    if note is not None:
        detail.append(
            f"reads {note.reading:.0f} and writes {note.writing:.0f} tokens a second, "
            f"checked on {note.date[:10]}"
        )
    return ModelView(
        ModelCondition.READY,
        name=card.name,
        server=server,
        detail=", ".join(detail),
        models=card.models,
        local=card.local,
        can_pull=card.server is Server.OLLAMA,
        can_unload=bool(card.residence),
    )


@dataclass(frozen=True)
class Found:
    """What a check found: one sentence, whether the model is ready, and the models to choose.

    `host` is one to which nothing is sent before the user allows it.
    """

    text: str
    ready: bool
    models: tuple[str, ...]
    host: str = ""


def check(settings: Settings, cancelled: Callable[[], bool]) -> Found:
    """Look for the model of these settings. Worker thread."""
    view = scout(settings, cancelled)
    if view.consent:
        text = f"{view.consent} is not on this machine. Nothing was sent to it yet."
        return Found(text, False, (), view.consent)
    if view.error:
        return Found(view.error, False, view.models)
    return Found(f"{view.name} is ready. {view.detail}.", True, view.models)
