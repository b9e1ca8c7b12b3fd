# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the Python program that QGIS's own Python belongs to, and checks that it is that one.

sys.executable is QGIS itself on Windows and macOS, so the program is looked for from the prefix.
"""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..llm.base import Cancelled
from .program import run

_ASK = (
    "import importlib.util, json, sys, sysconfig; "
    "print(json.dumps([list(sys.version_info[:2]), sysconfig.get_config_var('EXT_SUFFIX'), "
    "sysconfig.get_platform(), importlib.util.find_spec('pip') is not None]))"
)
_PATIENCE_S, _HELP_S = 20.0, 60.0


@dataclass(frozen=True)
class Interpreter:
    """A Python program of the same version and binary interface as this process."""

    path: Path
    has_pip: bool


def mark() -> str:
    """Return what compiled packages must fit: version, ending of extensions, platform."""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{version} {sysconfig.get_config_var('EXT_SUFFIX')} {sysconfig.get_platform()}"


def find_interpreter(cancelled: Cancelled) -> Interpreter | None:
    """Return the first program below the prefixes that answers as this Python does, else None.

    Runs each candidate for a moment; call it on a worker thread. Raises RunCancelled.
    """
    for path in _candidates():
        done = run(path, ["-c", _ASK], {}, cancelled, _PATIENCE_S)
        try:
            version, ending, platform, has_pip = json.loads(done.output.splitlines()[-1])
        except (ValueError, IndexError):
            continue
        if f"{'.'.join(map(str, version))} {ending} {platform}" == mark():
            return Interpreter(path, bool(has_pip))
    return None


def index_of(python: Interpreter, cancelled: Cancelled) -> str:
    """Return the package index that pip would use by itself, which its help names; "" if none.

    Call it on a worker thread. Raises RunCancelled.
    """
    done = run(python.path, ["-m", "pip", "install", "--help"], {}, cancelled, _HELP_S)
    found = re.search(r"--index-url\s.*?\(default\s+([^)\s]+)\s*\)", done.output, re.DOTALL)
    return found.group(1) if found else ""


def _candidates() -> Iterator[Path]:
    """Yield programs that exist, the likeliest first."""
    major, minor = sys.version_info[:2]
    beside = str(Path(sys.executable or sys.prefix).parent)
    prefixes = dict.fromkeys(
        (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, beside)
    )
    if sys.platform == "win32":
        folders, names = ("", "Scripts"), ("python.exe", "python3.exe")
    else:
        folders, names = ("bin", "MacOS/bin", ""), (f"python{major}.{minor}", "python3", "python")
    for prefix in prefixes:
        for folder in folders:
            for name in names:
                path = Path(prefix) / folder / name
                if path.is_file():
                    yield path
