# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of runs as methods give them, for tests of what is made of them."""

from __future__ import annotations

from typing import Any


def record_of(**changes: Any) -> dict[str, Any]:
    """A record of a run that ended well, with the given parts changed."""
    record = {
        "version": "1",
        "question": "",
        "answer": "",
        "value": None,
        "unit": "",
        "status": "ok",
        "reason": "",
        "calls": [],
        "layers": [],
        "files": [],
        "tokens": {"prompt": 0, "cached": 0, "evaluated": 0, "generated": 0, "estimated": False},
        "seconds": {"model": 0.0, "tools": 0.0, "total": 0.0},
        "model": {"name": "gold", "server": "", "digest": ""},
    }
    return {**record, **changes}
