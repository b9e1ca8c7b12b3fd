# SPDX-License-Identifier: GPL-2.0-or-later
"""The workflow files that were opened or saved last, kept in the profile."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from .place import store_folder

_LOG = logging.getLogger(__name__)
_FILE = "recent_workflows.json"
_MOST = 30


def recent_files() -> tuple[Path, ...]:
    """Return the files, the last one first; those that are gone are left out."""
    try:
        found = json.loads((store_folder() / _FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        _LOG.warning("the list of recent workflows cannot be read: %s", error)
        return ()
    named = [Path(one) for one in found if isinstance(one, str)] if isinstance(found, list) else []
    return tuple(one for one in named if one.is_file())


def note_recent(path: Path) -> None:
    """Put a file first; a list that cannot be written is told in the log alone."""
    kept = [path, *(one for one in recent_files() if one != path)][:_MOST]
    try:
        store_folder().mkdir(parents=True, exist_ok=True)
        text = json.dumps([str(one) for one in kept], ensure_ascii=False)
        (store_folder() / _FILE).write_text(text, encoding="utf-8")
    except OSError as error:
        _LOG.warning("the list of recent workflows cannot be written: %s", error)
