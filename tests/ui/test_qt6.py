# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas on Qt 6, in a process of its own over a shim named qgis.PyQt.

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
def test_the_canvas_works_on_qt_6(tmp_path: Path) -> None:
    (tmp_path / "geo_olm").symlink_to(ROOT)
    done = subprocess.run(
        [PYTHON, str(ROOT / "tests" / "qt6" / "canvas.py"), str(tmp_path), str(tmp_path / "a.svg")],
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
        "linked": True,
        "undone": True,
        "shape": "done",
        "painted": True,
        "svg": True,
    }


@pytest.mark.skipif(not PYTHON, reason="GEO_OLM_PYQT6 names no Python with PyQt6")
def test_library_variables_and_comparison_work_on_qt_6(tmp_path: Path) -> None:
    (tmp_path / "geo_olm").symlink_to(ROOT)
    done = subprocess.run(
        [PYTHON, str(ROOT / "tests" / "qt6" / "library.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": "", "LANG": "C.UTF-8"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen.pop("qt").startswith("6.")
    assert seen == {
        "set": 1250,
        "refused": "far is used by v1 (distance). Put another value there first.",
        "pictures": 2,
        "found": ["Three"],
        "opened": ["Three"],
        "told": [
            "+ New step: count (v2) after buffer (v1)",
            "~ Variable changed: far (500 m → 1250 m)",
        ],
        "left": ["v1"],
    }


@pytest.mark.skipif(not PYTHON, reason="GEO_OLM_PYQT6 names no Python with PyQt6")
def test_runs_stops_and_proposals_work_on_qt_6(tmp_path: Path) -> None:
    (tmp_path / "geo_olm").symlink_to(ROOT)
    done = subprocess.run(
        [PYTHON, str(ROOT / "tests" / "qt6" / "canvas_run.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": "", "LANG": "C.UTF-8"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen.pop("qt").startswith("6.")
    assert seen == {
        "idle": "No step has failed.",
        "dragged": True,
        "busy": [True, False],
        "shapes": ["done", "failed"],
        "retry": True,
        "kept back": "Mend the errors in Problems first.",
        "mended": True,
        "answers": ["v1: v1", "v2: v2"],
        "parts": 3,
        "accepted": [["v1", "v2", "v3"], ""],
        "painted": True,
    }
