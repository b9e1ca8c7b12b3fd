# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings llama.cpp's server from Debian's packages into a folder, beside its own loader.

The packages come from the suite below through the machine's own mirror and are checked by apt
against Debian's keys. Nothing is installed: they are unpacked, so that any Debian can run them.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from failure import FailureError, say

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


def bring_server(folder: Path) -> Path:
    """Return FOLDER/llama-server, a launcher, after unpacking it when it is not there yet."""
    launcher = folder / "llama-server"
    if os.access(launcher, os.X_OK):
        return launcher
    say(f"bringing llama.cpp's server from Debian {SUITE}")
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    (new / "root").mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="geo-olm-apt-") as scratch:
        for package in _download(Path(scratch)):
            _call(["dpkg", "-x", str(package), str(new / "root")])
    _write_launcher(new)
    _call([str(new / "llama-server"), "--version"])
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    return launcher


def _download(scratch: Path) -> list[Path]:
    """Let apt fetch the package and all it needs into a folder whose path has no blank."""
    for name in ("lists/partial", "archives/partial"):
        (scratch / name).mkdir(parents=True)
    (scratch / "status").touch()
    (scratch / "sources.list").write_text(
        f"deb [signed-by={KEYRING}] {_mirror()} {SUITE} main\n", encoding="utf-8"
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
    _call([*apt, "update"])
    _call([*apt, "install", "-y", "--download-only", "--no-install-recommends", PACKAGE])
    return sorted((scratch / "archives").glob("*.deb"))


def _mirror() -> str:
    setup = Path(__file__).with_name("setup.sh")
    done = subprocess.run(["bash", str(setup), "--mirror"], capture_output=True, text=True)
    if not done.stdout.strip():
        raise FailureError(
            "No Debian mirror is set in /etc/apt, so llama.cpp's server cannot be fetched; "
            "start a model server of your own and set OPENAI_BASE_URL or OLLAMA_HOST."
        )
    return done.stdout.strip()


def _write_launcher(folder: Path) -> None:
    """Write the launcher, and lay the CPU variants where the server looks for them.

    It looks beside its executable, which is the loader here, and takes the best for this CPU.
    """
    root = folder / "root"
    loader = next(root.glob("usr/lib/*/ld-linux*.so*"), None)
    if loader is None:
        raise FailureError(f"The packages of Debian {SUITE} hold no loader; report this, please.")
    for variant in loader.parent.glob("ggml/*/libggml-cpu*.so"):
        (loader.parent / variant.name).symlink_to(variant.relative_to(loader.parent))
    launcher = folder / "llama-server"
    launcher.write_text(
        LAUNCHER.format(lib=loader.parent.relative_to(root), loader=loader.name), encoding="utf-8"
    )
    launcher.chmod(0o755)


def _call(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise FailureError(
            f"llama.cpp's server could not be had: {Path(command[0]).name} says: {lines[-1]} "
            "Look at the network and try again, or start a model server of your own."
        )
