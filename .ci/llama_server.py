# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings llama.cpp's server from Debian's packages into a folder, as the plugin does."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from failure import FailureError, say
from package_path import geo_olm_on_path

geo_olm_on_path()

from geo_olm.plugin.llm.debian import SUITE, DebianPackages, mirror_of  # noqa: E402
from geo_olm.plugin.llm.transfer import DownloadError  # noqa: E402


def bring_server(folder: Path) -> Path:
    """Return FOLDER/llama-server, a launcher, after unpacking it when it is not there yet."""
    mirror = mirror_of()
    if not mirror:
        raise FailureError(
            "No Debian mirror is set in /etc/apt, so llama.cpp's server cannot be fetched; "
            "start a model server of your own and set OPENAI_BASE_URL or OLLAMA_HOST."
        )
    if not (folder / "llama-server").exists():
        say(f"bringing llama.cpp's server from Debian {SUITE}")
    try:
        return DebianPackages(_call, mirror).bring(folder)
    except DownloadError as error:
        raise FailureError(error.message) from error


def _call(command: Sequence[str]) -> tuple[int, str]:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
