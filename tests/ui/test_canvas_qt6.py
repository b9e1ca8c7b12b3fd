# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups, notes, drops, keys, search, preview and outline of the canvas on Qt 6.

It runs where GEO_OLM_PYQT6 names a Python that has PyQt6 (a throw-away venv does).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("GEO_OLM_PYQT6", "")


@pytest.mark.skipif(not PYTHON, reason="GEO_OLM_PYQT6 names no Python with PyQt6")
def test_groups_notes_drops_and_keys_work_on_qt_6(tmp_path: Path) -> None:
    (tmp_path / "geo_olm").symlink_to(ROOT)
    done = subprocess.run(
        [PYTHON, str(ROOT / "tests" / "qt6" / "canvas_frame.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen.pop("qt").startswith("6.")
    assert seen == {
        "grouped": [["Both", ["v1", "v2"]]],
        "folded": True,
        "note": "Mind it",
        "inserted": True,
        "dropped": True,
        "connecting": True,
        "found": ["v2"],
        "preview": True,
        "outline": ["1. Filter", "2. Filter", "3. Filter", "Note: Mind it"],
        "painted": True,
        "undone": True,
    }
