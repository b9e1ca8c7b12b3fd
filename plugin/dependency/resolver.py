# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the wheels that belong together and fit this Python, by the rules of the library
`packaging`; where that is not there it is brought first, for the time of the installation."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from .base import NEVER, PackageError
from .wheel import WheelLink, canonical, requirements_of, unpack
from .wheel_source import WheelSource

ROUNDS = 20
_HOMES = ("packaging", "setuptools._vendor.packaging", "pip._vendor.packaging")
Told = Callable[[str, int], None]
"""Takes the file that is being brought and its bytes so far."""


class Rules:
    """The parts of `packaging` that are used here."""

    def __init__(self, home: str) -> None:
        def part(name: str) -> ModuleType:
            return importlib.import_module(f"{home}.{name}")

        self._requirement = part("requirements").Requirement
        self._specifiers = part("specifiers").SpecifierSet
        self._version = part("version").Version
        self._parse = part("utils").parse_wheel_filename
        self._ranks = {tag: rank for rank, tag in enumerate(part("tags").sys_tags())}

    def requirement(self, text: str) -> Any | None:
        """Return a requirement that counts here, None for one of another platform or an extra."""
        made = self._requirement(text)
        counts = made.marker is None or made.marker.evaluate({"extra": ""})
        return made if counts else None

    def specifiers(self, text: str) -> Any:
        """Return a set of version limits."""
        return self._specifiers(text)

    def best(self, links: Sequence[WheelLink], limits: Any) -> WheelLink | None:
        """Return the newest wheel within the limits that fits this Python, None without one."""
        here = ".".join(map(str, sys.version_info[:3]))
        found = []
        for link in links:
            try:
                _, version, _, tags = self._parse(link.file)
                fits = not link.requires_python or here in self._specifiers(link.requires_python)
            except ValueError:
                continue  # a file named after no rule is no candidate
            rank = min((self._ranks[tag] for tag in tags if tag in self._ranks), default=None)
            if fits and rank is not None and limits.contains(version, prereleases=False):
                found.append((version, -rank, link.file, link))
        return max(found, key=lambda item: item[:3])[-1] if found else None


@contextmanager
def rules(source: WheelSource, folder: Path, told: Told) -> Iterator[Rules]:
    """Give the rules; a copy of `packaging` that was brought for it is forgotten afterwards."""
    for home in _HOMES:
        try:
            found = Rules(home)
        except ImportError:
            continue
        yield found
        return
    place = folder / "rules"
    link = _newest_pure(source.links("packaging"))
    if link is None:
        raise PackageError("The source has no wheel of packaging for this Python. Try another.")
    unpack(source.bring(link, folder, lambda size: told(link.file, size)), place)
    sys.path.append(str(place))
    importlib.invalidate_caches()
    try:
        yield Rules("packaging")
    finally:
        sys.path.remove(str(place))
        for name in [one for one in sys.modules if one.partition(".")[0] == "packaging"]:
            del sys.modules[name]
        shutil.rmtree(place)


def _newest_pure(links: Sequence[WheelLink]) -> WheelLink | None:
    """Return the newest wheel for any Python 3 by plain numbers, without the library's help."""
    found = []
    for link in links:
        least = re.search(r">=\s*3\.(\d+)", link.requires_python)
        fits = least is None or int(least.group(1)) <= sys.version_info[1]
        if fits and link.file.endswith("-none-any.whl") and re.fullmatch(r"[\d.]+", link.version):
            found.append((tuple(map(int, link.version.split("."))), link))
    return max(found, key=lambda item: item[0])[1] if found else None


class Resolver:
    """Brings the wheels that fit together into a folder."""

    def __init__(self, source: WheelSource, found: Rules, folder: Path, told: Told) -> None:
        self._source, self._rules, self._folder, self._told = source, found, folder, told
        self._limits: dict[str, Any] = {}
        self._links: dict[str, list[WheelLink]] = {}
        self._brought: dict[str, Path] = {}

    def wheels(self, wanted: Sequence[str], alone: Sequence[str] = ()) -> list[Path]:
        """Return the wheels of the wanted projects and of all that they need, and those of others
        alone.

        A limit that is met late lets all be chosen anew. Raises PackageError and RunCancelled.
        """
        for _ in range(ROUNDS):
            chosen = self._round(wanted, alone)
            if chosen is not None:
                return list(chosen.values())
        raise PackageError("No versions of the packages fit together. Try another source.")

    def _round(self, wanted: Sequence[str], alone: Sequence[str]) -> dict[str, Path] | None:
        """Choose once; None when a limit turned up against what was chosen already."""
        chosen: dict[str, tuple[WheelLink, Path]] = {}
        queue = [*wanted, *alone]
        while queue:
            text = queue.pop(0)
            need = self._rules.requirement(text)
            if need is None:
                continue
            name = canonical(need.name)
            if name in NEVER:
                raise PackageError(
                    f"The packages ask for {name}, which belongs to QGIS. Nothing was installed; "
                    "try another source."
                )
            before = self._limits.get(name, self._rules.specifiers(""))
            self._limits[name] = before & need.specifier
            if name in chosen:
                if not self._limits[name].contains(chosen[name][0].version, prereleases=True):
                    return None
                continue
            link = self._best(name)
            chosen[name] = (link, self._wheel(link))
            queue += [] if text in alone else requirements_of(chosen[name][1])
        return {name: path for name, (_, path) in chosen.items()}

    def _best(self, name: str) -> WheelLink:
        if name not in self._links:
            self._links[name] = self._source.links(name)
        link = self._rules.best(self._links[name], self._limits[name])
        if link is None:
            limits = str(self._limits[name]) or "any version"
            raise PackageError(
                f"The source has no wheel of {name} ({limits}) for this Python. Try another source."
            )
        return link

    def _wheel(self, link: WheelLink) -> Path:
        if link.file not in self._brought:
            self._brought[link.file] = self._source.bring(
                link, self._folder, lambda size: self._told(link.file, size)
            )
        return self._brought[link.file]
