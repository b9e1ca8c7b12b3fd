# SPDX-License-Identifier: GPL-2.0-or-later
"""What the dock shows of the model: plain data, filled by whoever knows the model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ModelCondition(Enum):
    """The state word of the model chip."""

    NONE = "No model"
    UNREACHABLE = "Not reachable"
    LOADING = "Loading"
    READY = "Ready"
    READING = "Reading"
    WRITING = "Writing"
    WORKING = "Working"
    WAITING = "Waiting"


class Action(Enum):
    """What a button of a message or an empty page asks for."""

    LOOK_AGAIN = "look_again"
    OPTIONS = "options"
    DOWNLOAD = "download"
    CANCEL_DOWNLOAD = "cancel_download"
    PULL = "pull"
    UNLOAD = "unload"
    MODEL_FILE = "model_file"
    NEW_CHAT = "new_chat"
    ADD_LAYER = "add_layer"
    DEMO = "demo"
    ALLOW = "allow"
    REFUSE = "refuse"
    SENT = "sent"
    DOCTOR = "doctor"


@dataclass(frozen=True)
class ModelView:
    """The model as shown in the chip, its menu and the empty page.

    `seconds` counts while loading. `detail` is the tooltip (server, size, context). `models` are
    the names to choose from. `error` is one sentence for the user, with `actions` as its next
    steps. `download` says what a download would fetch ("Qwen2.5-Coder 1.5B · 1.1 GB ·
    Apache-2.0"); without it the download is not offered. `progress` is the share of a running
    download, 0 to 100, or -1, and `progress_text` its line. `can_pull` tells that the server can
    bring models, `can_unload` that the model can be taken from memory. `local`
    is false when questions leave this machine. `consent` is the host to which nothing is sent
    before the user allows it.
    """

    condition: ModelCondition = ModelCondition.NONE
    name: str = ""
    server: str = ""
    seconds: float = 0.0
    detail: str = ""
    models: tuple[str, ...] = ()
    error: str = ""
    actions: tuple[Action, ...] = ()
    download: str = ""
    progress: float = -1.0
    progress_text: str = ""
    can_pull: bool = False
    can_unload: bool = False
    local: bool = True
    consent: str = ""
