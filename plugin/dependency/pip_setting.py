# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what pip is set to, its index above all, from its environment and files, without pip."""

from __future__ import annotations

import configparser
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_LOG = logging.getLogger(__name__)
_NAME = "pip.ini" if sys.platform == "win32" else "pip.conf"


def configured_index(environ: Mapping[str, str] = os.environ, prefix: str = sys.prefix) -> str:
    """Return the address of the index that pip is set to, or "" where it is set to none."""
    return configured("index-url", environ, prefix)


def configured(name: str, environ: Mapping[str, str] = os.environ, prefix: str = sys.prefix) -> str:
    """Return what an option of pip is set to, or ""."""
    variable = f"PIP_{name.upper().replace('-', '_')}"
    if environ.get(variable):
        return environ[variable]
    found = ""
    for path in _files(environ, Path(prefix)):
        found = _value_in(path, name) or found  # a later file counts more
    return found


def _files(environ: Mapping[str, str], prefix: Path) -> Iterator[Path]:
    """Yield pip's files in its own order: of the machine, of the user, of the environment."""
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    if environ.get("PIP_CONFIG_FILE") == os.devnull:
        return
    if sys.platform == "win32":
        yield Path(environ.get("PROGRAMDATA", "C:\\ProgramData")) / "pip" / _NAME
        yield home / "pip" / _NAME
        yield Path(environ.get("APPDATA", str(home))) / "pip" / _NAME
    elif sys.platform == "darwin":
        yield Path("/Library/Application Support/pip") / _NAME
        yield home / ".pip" / _NAME
        yield home / "Library" / "Application Support" / "pip" / _NAME
        yield home / ".config" / "pip" / _NAME
    else:
        for folder in reversed((environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")):
            yield Path(folder) / "pip" / _NAME
        yield Path("/etc") / _NAME
        yield home / ".pip" / _NAME
        yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / _NAME
    yield prefix / _NAME
    if environ.get("PIP_CONFIG_FILE"):
        yield Path(environ["PIP_CONFIG_FILE"])


def _value_in(path: Path, name: str) -> str:
    if not path.is_file():
        return ""
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError) as error:
        _LOG.warning("%s cannot be read: %s", path, error)
        return ""
    for section in ("install", "global"):
        value = parser.get(section, name, fallback="").strip()
        if value:
            return value
    return ""
