# SPDX-License-Identifier: GPL-2.0-or-later
"""Installs the official client packages: by pip of QGIS's own Python, else by ourselves."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..llm.address import is_loopback, shown
from ..llm.base import Cancelled, ModelError, RunCancelled
from ..llm.exchange import ExchangeFactory
from ..llm.gate import Gate
from ..llm.holding import Held
from ..llm.ledger import Ledger
from ..llm.ward import PACKAGE
from ..llm.watch import Watch
from .base import NEVER, WANTED, InstallStep, PackageError, Tell
from .folder import PackageFolder
from .interpreter import Interpreter, find_interpreter, index_of
from .pip_setting import configured, configured_index
from .program import Done, run
from .resolver import Resolver, rules
from .wheel import unpack
from .wheel_source import folder_of, source_of

PATIENCE_S = 1800.0
NO_INDEX = (
    "No package index is known on this machine. Type the address of one, or choose a folder of "
    "wheels."
)


@dataclass(frozen=True)
class Supply:
    """Where packages come from, and what watches over it.

    `source` is the address of an index or a folder; "" is the index that pip is set to. `proxy`
    is the address of QGIS's own proxy with its name and password, "" without one. `wanted` are
    the packages with their bounds, `alone` those that come without what they ask for.
    """

    source: str
    exchange: ExchangeFactory
    gate: Gate
    ledger: Ledger
    proxy: str = ""
    wanted: tuple[str, ...] = WANTED
    alone: tuple[str, ...] = ()


def install(folder: PackageFolder, supply: Supply, tell: Tell, cancelled: Cancelled) -> None:
    """Install the packages into the folder, or leave it as it was. Worker thread.

    Raises PackageError and RunCancelled.
    """
    try:
        draft = folder.begin()
    except OSError as error:
        raise _no_room(error) from error
    try:
        tell(InstallStep("Looking for QGIS's Python"))
        interpreter = find_interpreter(cancelled)
        if interpreter is not None and interpreter.has_pip:
            _Pip(interpreter, supply, tell, cancelled).install(draft)
        else:
            _by_ourselves(draft, supply, tell, cancelled)
        if cancelled():
            raise RunCancelled
        folder.commit(draft)
    except OSError as error:
        raise _no_room(error) from error
    finally:
        folder.discard(draft)


def _by_ourselves(draft: Path, supply: Supply, tell: Tell, cancelled: Cancelled) -> None:
    """Fetch the wheels over QGIS's network, or from a folder, and unpack them."""
    text = supply.source or configured_index()
    if not text:
        raise PackageError(NO_INDEX)

    def told(file: str, size: int) -> None:
        if cancelled():
            raise RunCancelled
        tell(InstallStep(f"Fetching {file}: {size / 1e6:.1f} MB"))

    exchange = supply.exchange(Watch(cancelled=cancelled))
    source = source_of(text, exchange, cancelled)
    with tempfile.TemporaryDirectory(prefix="geo-olm-") as name:
        place = Path(name)
        with rules(source, place, told) as found:
            wheels = Resolver(source, found, place, told).wheels(supply.wanted, supply.alone)
        for number, wheel in enumerate(wheels):
            if cancelled():
                raise RunCancelled
            tell(InstallStep(f"Unpacking {wheel.name}", 100.0 * number / len(wheels)))
            unpack(wheel, draft)


class _Pip:
    """One run of pip into a folder of its own."""

    def __init__(
        self, interpreter: Interpreter, supply: Supply, tell: Tell, cancelled: Cancelled
    ) -> None:
        self._python, self._supply = interpreter, supply
        self._tell, self._cancelled = tell, cancelled
        self._lines: list[str] = []

    def install(self, draft: Path) -> None:
        """Let pip install into the draft. Raises PackageError and RunCancelled."""
        aim = folder_of(self._supply.source) if self._supply.source else None
        entry = "" if aim is not None else self._noted()
        limits = draft.with_name(f"{draft.name}.txt")
        limits.write_text("".join(f"{name}<0\n" for name in NEVER), encoding="utf-8")
        try:
            done = self._run([*self._words(draft, limits, aim), *self._supply.wanted])
            if done.code == 0 and self._supply.alone:
                words = self._words(draft, limits, aim)
                done = self._run([*words, "--no-deps", *self._supply.alone])
        finally:
            limits.unlink()
        if entry:
            self._supply.ledger.end(entry, 200 if done.code == 0 else 0, 0)
        if done.code != 0:
            raise self._failure()

    def _run(self, words: list[str]) -> Done:
        return run(
            self._python.path,
            ["-m", "pip", *words],
            self._environment(),
            self._cancelled,
            PATIENCE_S,
            self._note,
        )

    def _words(self, draft: Path, limits: Path, aim: Path | None) -> list[str]:
        words = ["install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
        words += ["--ignore-installed", "--only-binary=:all:", "--no-warn-conflicts"]
        words += ["--constraint", str(limits), "--target", str(draft)]
        if aim is not None:
            words += ["--no-index", "--find-links", str(aim)]
        elif self._supply.source:
            words += ["--index-url", self._supply.source]
        return words

    def _environment(self) -> dict[str, str]:
        """Return what pip is told apart from its words: no other target, and QGIS's proxy.

        A source that the user named is the only one: of pip's own files only how to reach an
        index still counts.
        """
        own = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PYTHONIOENCODING": "utf-8"}
        if self._supply.source:
            own.update(PIP_CONFIG_FILE=os.devnull, PIP_EXTRA_INDEX_URL="", PIP_FIND_LINKS="")
            for name in ("cert", "client-cert", "proxy", "trusted-host", "timeout"):
                own[f"PIP_{name.upper().replace('-', '_')}"] = configured(name)
        if self._supply.proxy:
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
                own[name] = self._supply.proxy
            own["NO_PROXY"] = own["no_proxy"] = "127.0.0.1,localhost,::1"
        return own

    def _noted(self) -> str:
        """Let the index pass the gate, and note in the ledger that pip goes there."""
        url = self._supply.source or self._own_index()
        try:
            self._supply.gate.check(url, with_consent=False)
        except ModelError as error:
            raise PackageError(error.message, error.detail) from error
        parts = urlsplit(url)
        if not parts.hostname:
            return ""
        host, local = shown(url), is_loopback(url)
        return self._supply.ledger.begin(host, local, PACKAGE, "pip", parts.path, 0, Held())

    def _own_index(self) -> str:
        """Return the index that pip would use by itself: its help names it."""
        found = index_of(self._python, self._cancelled)
        if not found:
            raise PackageError(NO_INDEX)
        return found

    def _note(self, line: str) -> None:
        self._lines.append(line)
        word, _, rest = line.strip().partition(" ")
        if word in ("Collecting", "Downloading", "Installing", "Looking", "Using"):
            name = rest.split(" (")[0] if word != "Installing" else "the packages"
            self._tell(InstallStep(f"{word} {_without_secrets(name)}"[:120]))

    def _failure(self) -> PackageError:
        """Return the error for what pip wrote last."""
        if any("not a trusted or secure host" in line for line in self._lines):
            return PackageError(
                "pip does not trust the package index, since its address is not https. Use an "
                "https address, or choose a folder of wheels.",
                _without_secrets("\n".join(self._lines[-30:])),
            )
        faults = [line[6:].strip() for line in self._lines if line.startswith("ERROR:")]
        reason = faults[-1] if faults else (self._lines or ["no message"])[-1]
        return PackageError(
            f"The packages could not be installed: {_without_secrets(reason)[:200].rstrip('.')}. "
            "Check the network and the source, then try again.",
            _without_secrets("\n".join(self._lines[-30:])),
        )


def _without_secrets(text: str) -> str:
    return re.sub(r"//[^/@\s]+@", "//", text)


def _no_room(error: OSError) -> PackageError:
    return PackageError(
        f"The packages could not be written: {error.strerror or error}. Make room in the profile's "
        "folder, then try again.",
        str(error),
    )
