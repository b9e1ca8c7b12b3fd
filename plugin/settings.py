# SPDX-License-Identifier: GPL-2.0-or-later
"""Every setting with its default, in one dataclass, and its store over QgsSettings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

PREFIX = "geo_olm/"
ENVIRONMENT = "GEO_OLM_SET_"


@dataclass(frozen=True)
class Settings:
    """What the user can set.

    server: auto, ollama, openai or embedded. address: base URL for ollama and openai ("" is the
    default of each). model: a name that the server lists, a name of the manifest, or the path of
    a GGUF file ("" is the first found). server_program: path of a llama.cpp server ("" looks in
    the plugin's own folder, then on PATH). auth_config: id of an authentication configuration
    that applies the key. context: tokens asked for (0 chooses). reply_tokens bounds one reply,
    run_tokens the evaluated tokens of one question (0 is no cap). tool_mode: auto, schema,
    native or text. exposure: filter (only the stage's tools) or hint (all tools, the stage's
    examples). connect_s, first_token_s and idle_s bound the waits for a server, in seconds.
    """

    server: str = "auto"
    address: str = ""
    model: str = ""
    server_program: str = ""
    auth_config: str = ""
    context: int = 8192
    threads: int = 0
    keep_alive: str = "5m"
    temperature: float = 0.0
    seed: int = 7
    max_steps: int = 12
    max_errors: int = 5
    reply_tokens: int = 512
    run_tokens: int = 0
    tool_mode: str = "auto"
    exposure: str = "filter"
    connect_s: float = 5.0
    first_token_s: float = 300.0
    idle_s: float = 60.0
    output_folder: str = ""
    debug: bool = False


def from_text(current: Any, text: str) -> Any:
    """Convert `text` to the type of `current`. Raises ValueError when it does not fit."""
    if isinstance(current, bool):
        return text.strip().lower() in {"1", "true", "yes", "on"}
    return type(current)(text)


def overridden(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Apply overrides named GEO_OLM_SET_<FIELD>, as tests and scripts set them."""
    changes = {}
    for item in fields(settings):
        text = environ.get(ENVIRONMENT + item.name.upper())
        if text is not None:
            changes[item.name] = from_text(getattr(settings, item.name), text)
    return replace(settings, **changes)


class SettingsStore:
    """Reads and writes Settings in QGIS's own settings, under one prefix."""

    def load(self) -> Settings:
        """Return the stored settings; a broken value falls back to its default."""
        from qgis.core import QgsSettings

        store, found = QgsSettings(), Settings()
        changes: dict[str, Any] = {}
        for item in fields(found):
            value = store.value(PREFIX + item.name)
            if value is None:
                continue
            try:
                changes[item.name] = from_text(getattr(found, item.name), str(value))
            except ValueError:
                continue
        return overridden(replace(found, **changes), os.environ)

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
