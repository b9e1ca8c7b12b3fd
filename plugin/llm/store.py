# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder that holds model files and the embedded server, and the manifest of known models."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import BrokenModelFile, ModelMissing, NoModel

STORE_VARIABLE = "GEO_OLM_STORE"
SERVER_NAMES = ("llama-server", "llama-server.exe")

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Parts:
    """Packages of an index that hold a file in parts: PACKAGE1 to PACKAGEcount."""

    package: str
    version: str
    count: int


@dataclass(frozen=True)
class KnownModel:
    """A model of the manifest; `bytes` 0 and `sha256` "" mean unknown."""

    name: str
    file: str
    bytes: int = 0
    licence: str = ""
    context: int = 0
    sha256: str = ""
    parts: Parts | None = None


class Store:
    """Finds models and the server in one folder, with `models` and `server` below it.

    Reads files only; any thread may call it.
    """

    def __init__(self, folder: Path, manifest: Path | None = None) -> None:
        self.folder = folder.absolute()
        self._manifest = manifest

    @classmethod
    def at(cls, profile_folder: Path, environ: Mapping[str, str], manifest: Path) -> Store:
        """Return the store named by GEO_OLM_STORE, else the one in the profile's folder."""
        named = environ.get(STORE_VARIABLE, "")
        return cls(Path(named) if named else profile_folder / "geo_olm", manifest)

    @property
    def models_folder(self) -> Path:
        """Where model files lie."""
        return self.folder / "models"

    @property
    def server_folder(self) -> Path:
        """Where the embedded server lies."""
        return self.folder / "server"

    def known(self) -> tuple[KnownModel, ...]:
        """Return the models of the manifest, in its order; none without a manifest."""
        if self._manifest is None or not self._manifest.is_file():
            return ()
        value: Any = json.loads(self._manifest.read_text(encoding="utf-8"))
        listed = value.get("models", []) if isinstance(value, dict) else value
        sums = checksums(self._manifest.with_suffix(".sha256"))
        return tuple(
            KnownModel(
                str(item["name"]),
                str(item["file"]),
                int(item.get("bytes", 0)),
                str(item.get("licence", "")),
                int(item.get("context", 0)),
                sums.get(str(item["file"]), ""),
                _parts(item.get("parts")),
            )
            for item in listed
        )

    def find_model(self, name_or_path: str = "") -> tuple[Path, KnownModel | None]:
        """Return the file of a model by manifest name, file name or path; "" is the first there.

        The file of a known model is verified. Raises ModelMissing when there is none of that
        name, NoModel when there is none at all, BrokenModelFile when it is not the file meant.
        """
        present = [(self.models_folder / item.file, item) for item in self.known()]
        present = [(path, item) for path, item in present if path.is_file()]
        if not name_or_path:
            if present:
                return self._verified(*present[0])
            others = sorted(self.models_folder.glob("*.gguf"))
            if not others:
                raise NoModel("No model file is in the store. Download one, or choose a GGUF file.")
            return others[0], None
        wanted = name_or_path.lower()
        for path, item in present:
            if wanted in (item.name.lower(), item.file.lower()):
                return self._verified(path, item)
        direct = Path(name_or_path).expanduser().absolute()
        for path in (direct, self.models_folder / name_or_path):
            if path.is_file():
                match = [item for place, item in present if _same(place, path)]
                return self._verified(path, match[0]) if match else (path, None)
        if direct.suffix.lower() == ".gguf":
            raise BrokenModelFile(f"There is no model file {direct.name}. Choose another file.")
        there = [item.name for _, item in present]
        raise ModelMissing(self._missing(name_or_path, there), names=tuple(there))

    def names(self) -> tuple[str, ...]:
        """Return the models that are here: those of the manifest by name, then other files."""
        there = [item for item in self.known() if (self.models_folder / item.file).is_file()]
        files = {item.file for item in there}
        others = sorted(path.name for path in self.models_folder.glob("*.gguf"))
        return (*(item.name for item in there), *(name for name in others if name not in files))

    def find_server(self, program: str = "") -> Path | None:
        """Return the llama.cpp server: the one set, else the store's, else the one on PATH.

        None when there is none. A program that is set but missing is not replaced by another.
        """
        if program:
            path = Path(program).expanduser().absolute()
            return path if path.is_file() else None
        for name in SERVER_NAMES:
            direct = self.server_folder / name
            for path in (direct, *sorted(self.server_folder.glob(f"*/{name}"))):
                if path.is_file() and os.access(path, os.X_OK):
                    return path
        on_path = shutil.which(SERVER_NAMES[0])
        return Path(on_path) if on_path else None

    def _verified(self, path: Path, model: KnownModel) -> tuple[Path, KnownModel]:
        if model.bytes and path.stat().st_size != model.bytes:
            raise BrokenModelFile(
                f"{path.name} is not a complete model file. Download it again or choose another.",
                f"{path.stat().st_size} bytes, {model.bytes} expected",
            )
        if model.sha256 and not is_verified(path, model.sha256):
            raise BrokenModelFile(
                f"{path.name} is not the file that was meant. Download it again or choose another.",
                "the checksum differs",
            )
        return path, model

    def _missing(self, name: str, present: list[str]) -> str:
        known = [item.name for item in self.known()]
        if name in known:
            return f"The model {name} is not downloaded yet. Download it, or choose another."
        there = f" Here are: {', '.join(present)}." if present else ""
        return f"There is no model named {name}.{there} Choose one of them, or a GGUF file."


def checksums(path: Path) -> dict[str, str]:
    """Return the hashes of a file in sha256sum's form, by file name; {} when it is missing."""
    if not path.is_file():
        return {}
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition(" ")
        if name and not digest.startswith("#"):
            found[name.strip().lstrip("*")] = digest.lower()
    return found


def is_verified(path: Path, sha256: str) -> bool:
    """Tell whether a file has this hash; a stamp beside it spares reading it again.

    The stamp `.ok` holds size, time of change and hash, and counts only while all are the same.
    """
    stamp = _stamp(path)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == _mark(path, sha256):
        return True
    if file_sha256(path) != sha256:
        return False
    mark_verified(path, sha256)
    return True


def mark_verified(path: Path, sha256: str) -> None:
    """Note beside a file that it was read and has this hash, where the folder can be written."""
    if os.access(path.parent, os.W_OK):
        _stamp(path).write_text(_mark(path, sha256), encoding="utf-8")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while block := source.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _stamp(path: Path) -> Path:
    return path.with_name(path.name + ".ok")


def _mark(path: Path, sha256: str) -> str:
    state = path.stat()
    return f"{state.st_size} {state.st_mtime_ns} {sha256}\n"


def _parts(value: Any) -> Parts | None:
    if not isinstance(value, dict):
        return None
    return Parts(str(value["package"]), str(value["version"]), int(value["count"]))


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
