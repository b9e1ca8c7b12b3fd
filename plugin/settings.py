# SPDX-License-Identifier: GPL-2.0-or-later
"""Every setting with its default, in one dataclass, and its store over QgsSettings."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

PREFIX = "geo_olm/"
ENVIRONMENT = "GEO_OLM_SET_"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """What the user can set.

    server: auto, ollama, openai or embedded. address: base URL for ollama and openai ("" is the
    default of each). model: a name that the server lists, a name of the manifest, or the path of a
    GGUF file ("" is the first found). server_program: path of a llama.cpp server ("" looks in the
    plugin's own folder, then on PATH). auth_config: id of an authentication configuration that
    applies the key. context: tokens asked for (0 chooses). reply_tokens bounds one reply,
    run_tokens the evaluated tokens of one question (0 is no cap). approval: what is asked before it
    is done: each change, what is lasting, or nothing (free). tool_mode: auto, schema, native
    or text. plan_first: make and check a plan of each question before anything runs (off: go state
    by state from the start). states: the workflow of states to go by ("" is the plugin's own for
    questions about layers): a name of resources/workflows, or a JSON file of the user's own in
    that form. exposure: filter (only the stage's tools), hint (all tools, the
    stage's examples) or auto; auto takes what the model doctor measured. offline: refuse every
    address but this machine's. allowed_hosts: hosts, one a line, to which questions may go.
    package_index: address of a package index, or a folder of wheels ("" is the index that pip is
    set to). allowed_folders: folders, one a line, whose files a model may have read beside those of
    the project. connect_s, first_token_s and idle_s bound the waits for a server, in seconds.
    think: let a model think first that can. graphics: let the built-in server use graphics cards.
    download_sources: folders or addresses, one a line, that hold models and the server program.
    hourly_rate: what an hour of this machine costs, in dollars (0 is not counted);
    copies_memory_gb: memory whose copies of the model share it, in GB (0 is this machine's).
    price_file: a table of prices of the user's own ("" is the plugin's).
    """

    server: str = "auto"
    address: str = ""
    model: str = ""
    server_program: str = ""
    auth_config: str = ""
    context: int = 8192
    threads: int = 0
    keep_alive: str = "5m"
    think: bool = False
    graphics: bool = True
    temperature: float = 0.0
    seed: int = 7
    plan_first: bool = True
    states: str = ""
    max_steps: int = 12
    max_errors: int = 5
    reply_tokens: int = 512
    run_tokens: int = 0
    approval: str = "lasting"
    tool_mode: str = "auto"
    exposure: str = "auto"
    connect_s: float = 5.0
    first_token_s: float = 300.0
    idle_s: float = 60.0
    output_folder: str = ""
    allowed_folders: str = ""
    offline: bool = False
    allowed_hosts: str = ""
    package_index: str = ""
    download_sources: str = ""
    hourly_rate: float = 0.0
    copies_memory_gb: float = 0.0
    price_file: str = ""
    debug: bool = False


CHOICES = {
    "server": ("auto", "ollama", "openai", "embedded"),
    "tool_mode": ("auto", "schema", "native", "text"),
    "exposure": ("auto", "filter", "hint"),
    "approval": ("each", "lasting", "free"),
}
_AT_LEAST_ONE = {"max_steps", "max_errors", "reply_tokens"}
_MAY_BE_NEGATIVE = {"seed"}
_LONGER_THAN_NOTHING = {"connect_s", "first_token_s", "idle_s"}
_TRUE = {"1", "true", "yes", "on"}


def from_text(name: str, current: Any, text: str) -> Any:
    """Convert `text` to the type of `current`. Raises ValueError when it does not fit `name`."""
    if isinstance(current, bool):
        return text.strip().lower() in _TRUE
    if isinstance(current, str):
        if text not in CHOICES.get(name, (text,)):
            raise ValueError(f"{name} is none of {', '.join(CHOICES[name])}")
        return text
    value = type(current)(text)
    least = -math.inf if name in _MAY_BE_NEGATIVE else int(name in _AT_LEAST_ONE)
    fits = math.isfinite(value) and value >= least
    if not fits or (name in _LONGER_THAN_NOTHING and value == 0):
        raise ValueError(f"{name} cannot be {text}")
    return value


def taken(settings: Settings, texts: Mapping[str, str]) -> Settings:
    """Return the settings with values from texts by field; one that does not fit is left out."""
    changes = {}
    for name, text in texts.items():
        try:
            changes[name] = from_text(name, getattr(settings, name), text)
        except ValueError as error:
            _LOG.warning("a setting was left out: %s", error)
    return replace(settings, **changes)


def overridden(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Apply overrides named GEO_OLM_SET_<FIELD>, as tests and scripts set them."""
    named = {item.name: ENVIRONMENT + item.name.upper() for item in fields(settings)}
    return taken(settings, {name: environ[key] for name, key in named.items() if key in environ})


class SettingsStore:
    """Reads and writes Settings in QGIS's own settings, under one prefix."""

    def load(self) -> Settings:
        """Return the stored settings; a value that does not fit falls back to its default."""
        from qgis.core import QgsSettings

        store, found = QgsSettings(), Settings()
        stored = {item.name: store.value(PREFIX + item.name) for item in fields(found)}
        texts = {name: str(value) for name, value in stored.items() if value is not None}
        return overridden(taken(found, texts), os.environ)

    def save(self, settings: Settings) -> None:
        """Write every field; only values that differ from the default are kept."""
        from qgis.core import QgsSettings

        store = QgsSettings()
        for item in fields(settings):
            value = getattr(settings, item.name)
            if value == item.default:
                store.remove(PREFIX + item.name)
            else:
                store.setValue(PREFIX + item.name, value)
