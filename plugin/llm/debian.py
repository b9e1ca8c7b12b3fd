# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings llama.cpp's server from Debian's packages into a folder, beside its own loader.

The packages come from the suite below through the machine's own mirror and are checked by apt
against Debian's keys. Nothing is installed: they are unpacked, so that any Debian can run them.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .transfer import DownloadError

SUITE = "forky"
PACKAGE = "llama.cpp-tools"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LAUNCHER = """#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts llama.cpp's server with the loader and the libraries it was built with.
root=$(dirname "$(readlink -f "$0")")/root
lib=$root/{lib}
exec "$lib/{loader}" --library-path "$lib:$lib/llama" "$root/usr/bin/llama-server" "$@"
"""
_MIRROR = re.compile(r"\b[a-z+]+://\S+/debian/?(?=\s|$)")

Call = Callable[[Sequence[str]], "tuple[int, str]"]
"""Runs a command to its end; returns its code and what it wrote. Raises RunCancelled."""


class DebianPackages:
    """Debian's packages of llama.cpp, through the mirror that this machine is set to."""

    def __init__(self, call: Call, mirror: str) -> None:
        self._call = call
        self._mirror = mirror

    def bring(self, folder: Path) -> Path:
        """Return FOLDER/llama-server, a launcher, after unpacking it when it is not there yet.

        Raises DownloadError, and RunCancelled; the folder is then as it was.
        """
        launcher = folder / "llama-server"
        if os.access(launcher, os.X_OK):
            return launcher
        new = folder.with_name(folder.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        try:
            (new / "root").mkdir(parents=True)
            with tempfile.TemporaryDirectory(prefix="geo-olm-apt-") as scratch:
                for package in self._downloaded(Path(scratch)):
                    self._run(["dpkg", "-x", str(package), str(new / "root")])
            _write_launcher(new)
            self._run([str(new / "llama-server"), "--version"])
            shutil.rmtree(folder, ignore_errors=True)
            new.rename(folder)
        except OSError as error:
            raise DownloadError(f"{folder.parent} cannot be written: {error.strerror}.") from error
        finally:
            shutil.rmtree(new, ignore_errors=True)
        return launcher

    def _downloaded(self, scratch: Path) -> list[Path]:
        """Let apt fetch the package and all it needs into a folder whose path has no blank."""
        for name in ("lists/partial", "archives/partial"):
            (scratch / name).mkdir(parents=True)
        (scratch / "status").touch()
        (scratch / "sources.list").write_text(
            f"deb [signed-by={KEYRING}] {self._mirror} {SUITE} main\n", encoding="utf-8"
        )
        options = {
            "Dir::State": scratch,
            "Dir::State::lists": scratch / "lists",
            "Dir::State::status": scratch / "status",
            "Dir::Cache": scratch,
            "Dir::Cache::archives": scratch / "archives",
            "Dir::Etc::sourcelist": scratch / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferences": "-",
            "Dir::Etc::preferencesparts": "-",
            "APT::Sandbox::User": "root",
            "APT::Keep-Downloaded-Packages": "true",
            "Acquire::Retries": "4",
            "Acquire::Languages": "none",
        }
        apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in options.items())]
        self._run([*apt, "update"])
        self._run([*apt, "install", "-y", "--download-only", "--no-install-recommends", PACKAGE])
        return sorted((scratch / "archives").glob("*.deb"))

    def _run(self, command: Sequence[str]) -> None:
        code, written = self._call(command)
        if code:
            lines = written.strip().splitlines() or ["nothing"]
            raise DownloadError(
                f"llama.cpp's server could not be had: {Path(command[0]).name} says: {lines[-1]} "
                "Look at the network and try again, or start a model server of your own.",
                written[-2000:],
            )


def mirror_of(folder: Path = Path("/etc/apt")) -> str:
    """Return the address of the Debian mirror that this machine is set to, or ""."""
    for path in _lists(folder):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            found = _MIRROR.search(line)
            if found and line.lstrip().startswith(("deb ", "URIs:")):
                return found.group()
    return ""


def has_apt() -> bool:
    """Tell whether this machine has what brings Debian's packages."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg") and Path(KEYRING).is_file())


def _lists(folder: Path) -> Iterator[Path]:
    """Yield the lists of sources in apt's order."""
    if (folder / "sources.list").is_file():
        yield folder / "sources.list"
    for ending in ("list", "sources"):
        yield from sorted((folder / "sources.list.d").glob(f"*.{ending}"))


def _write_launcher(folder: Path) -> None:
    """Write the launcher, and lay the CPU variants where the server looks for them.

    It looks beside its executable, which is the loader here, and takes the best for this CPU.
    """
    root = folder / "root"
    loader = next(root.glob("usr/lib/*/ld-linux*.so*"), None)
    if loader is None:
        raise DownloadError(
            f"The packages of Debian {SUITE} hold no loader. Start a model server of your own."
        )
    for variant in loader.parent.glob("ggml/*/libggml-cpu*.so"):
        (loader.parent / variant.name).symlink_to(variant.relative_to(loader.parent))
    launcher = folder / "llama-server"
    launcher.write_text(
        LAUNCHER.format(lib=loader.parent.relative_to(root), loader=loader.name), encoding="utf-8"
    )
    launcher.chmod(0o755)
