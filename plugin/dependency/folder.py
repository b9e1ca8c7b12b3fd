# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of the profile that holds installed packages: swapped in whole, last on sys.path."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ..llm.process import alive
from .interpreter import mark

_CURRENT = "current"
_MADE = "made.json"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class PackageState:
    """One package: its version ("" is not there) and whether it lies in the plugin's folder."""

    name: str
    version: str = ""
    own: bool = False


class PackageFolder:
    """Sets of packages in sub-folders; a small file names the one in use.

    A set is written in a folder of its own and only then named, so that a stop or a fault in
    between leaves what was there before.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._added = ""

    @property
    def present(self) -> Path | None:
        """The set in use, None when there is none or it was made for another Python."""
        try:
            name = (self._root / _CURRENT).read_text(encoding="utf-8").strip()
            made = json.loads((self._root / name / _MADE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        fits = isinstance(made, dict) and made.get("python") == mark()
        return self._root / name if name and fits else None

    def activate(self) -> None:
        """Put the set in use at the end of sys.path, and delete what was left behind."""
        self.deactivate()
        present = self.present
        if present is not None:
            self._added = str(present)
            sys.path.append(self._added)
            importlib.invalidate_caches()
        self._sweep(present)

    def deactivate(self) -> None:
        """Take the set from sys.path; what was imported from it stays until QGIS ends."""
        if self._added in sys.path:
            sys.path.remove(self._added)
            importlib.invalidate_caches()
        self._added = ""

    def begin(self) -> Path:
        """Return an empty folder for a new set, in which nobody looks. Raises OSError."""
        self._root.mkdir(parents=True, exist_ok=True)
        draft = self._root / f"part-{os.getpid()}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        return draft

    def commit(self, draft: Path) -> None:
        """Make a finished draft the set in use. Raises OSError; then the old one stays."""
        numbers = [_numbered(path)[1] for path in self._root.glob("set-*")]
        final = self._root / f"set-{max(numbers, default=0) + 1}"
        (draft / _MADE).write_text(json.dumps({"python": mark()}), encoding="utf-8")
        draft.replace(final)
        self._name(final.name)
        self.activate()

    def discard(self, draft: Path) -> None:
        """Delete an unfinished draft."""
        shutil.rmtree(draft, ignore_errors=True)

    def remove(self) -> None:
        """Delete all sets. Raises OSError when the file that names one cannot be deleted."""
        self.deactivate()
        (self._root / _CURRENT).unlink(missing_ok=True)
        self._sweep(None)

    def state(self, name: str) -> PackageState:
        """Return which version of a package Python would import, without importing it."""
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.origin:
            return PackageState(name)
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "?"
        return PackageState(name, version, self._root in Path(spec.origin).parents)

    def _name(self, name: str) -> None:
        draft = self._root / f"{_CURRENT}.part"
        draft.write_text(name, encoding="utf-8")
        draft.replace(self._root / _CURRENT)

    def _sweep(self, present: Path | None) -> None:
        """Delete old sets and the drafts of processes that are gone."""
        for path in self._root.glob("*-*"):
            kind, number = _numbered(path)
            drafting = kind == "part" and alive(number)
            if kind and path.is_dir() and path != present and not drafting:
                shutil.rmtree(path, ignore_errors=True)
                if path.exists():  # Windows keeps files that are in use
                    _LOG.info("%s stays until the next start", path)


def _numbered(path: Path) -> tuple[str, int]:
    """Return the kind and number of a set or draft, "" and 0 for what is neither."""
    kind, _, number = path.name.partition("-")
    ours = kind in ("set", "part") and number.isdigit()
    return (kind, int(number)) if ours else ("", 0)
