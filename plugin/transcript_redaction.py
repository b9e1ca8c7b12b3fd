# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes keys and passwords out of texts that are kept, and folders out of texts that leave."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

HIDDEN = "…"
_SECRETS = (
    re.compile(r"(?i)(\bauthorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic)?\s*)[^\s'\",;]+"),
    re.compile(r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(
        r"(?i)(\b(?:api[_-]?key|access[_-]?token|token|secret|passw(?:or)?d|pwd|authcfg|"
        r"signature|sig)['\"]?\s*[:=]\s*['\"]?)[^\s'\"&,;|]+"
    ),
    re.compile(r"()\b(?:sk|pk|ghp|gho|hf|xox[abp])[-_][A-Za-z0-9_-]{12,}"),
    re.compile(r"(\w://)[^/@\s:]+:[^/@\s]+(?=@)"),
)
"""What stands behind the first group is hidden."""

_SECRET_NAMES = re.compile(
    r"(?i)api[_-]?key|access[_-]?token|^token$|secret|passw(?:or)?d|^pwd$|authcfg|authorization"
)
_PATH = re.compile(
    r"(?:file://(?=/)|(?<![\w:/.]))(?:[A-Za-z]:[\\/]|\\\\[^\\/\s]+[\\/]|~?/)"
    r"(?:[^\\/:*?\"<>|\r\n,;()']+[\\/])+"
)
"""The folders of an absolute path, of any system; the file's name behind them stays."""


def without_secrets(value: Any) -> Any:
    """Return a value with all keys, tokens and passwords in its texts hidden, at any depth."""
    return _mapped(value, _hidden)


def without_paths(value: Any) -> Any:
    """Return a value in which of each absolute path only the last name is left."""
    return _mapped(value, lambda text: _PATH.sub(f"{HIDDEN}/", text))


def _hidden(text: str) -> str:
    for pattern in _SECRETS:
        text = pattern.sub(lambda found: found.group(1) + HIDDEN, text)
    return text


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {
            key: HIDDEN
            if change is _hidden and isinstance(one, str) and one and _SECRET_NAMES.search(str(key))
            else _mapped(one, change)
            for key, one in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_mapped(one, change) for one in value]
    return value
