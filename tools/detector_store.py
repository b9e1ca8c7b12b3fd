# SPDX-License-Identifier: GPL-2.0-or-later
"""The detectors there are: those of the manifest in the resources, and the user's own, kept in the
profile's folder with a JSON file beside each model and their hashes in sha256sum form."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import detector_file
from .base import LastingError, MendableError
from .detector import Detector
from .spelling import bare, did_you_mean

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
MANIFEST, SUMS = "detectors.json", "detectors.sha256"
ENDING = ".onnx"
_CHUNK = 1 << 20
_LOG = logging.getLogger(__name__)


class DetectorStore:
    """Detectors by name. `folders` hold the user's own models and those that a manifest names; the
    first of them takes new ones."""

    def __init__(self, folders: Sequence[Path], manifest: Path = RESOURCES / MANIFEST) -> None:
        self._folders, self._manifest = tuple(folders), manifest

    def all(self) -> list[Detector]:
        """Return the detectors whose files are there; a description that is wrong is left out and
        logged. Raises MendableError for a wrong manifest."""
        known = sums(self._manifest.with_name(SUMS))
        text = self._manifest.read_text(encoding="utf-8")
        listed = detector_file.detectors_of(text, self._manifest.name)
        found = []
        for folder in self._folders:
            for one in listed:
                here = replace(one, folder=folder, sha256=known.get(one.file, ""))
                found += [here] if here.path.is_file() else []
            found += _own(folder)
        return list({bare(one.name): one for one in reversed(found)}.values())[::-1]

    def find(self, name: str) -> Detector:
        """Return the detector of a name. Raises MendableError with the closest names."""
        there = self.all()
        found = [one for one in there if bare(one.name) == bare(name)]
        if found:
            return found[0]
        raise MendableError(
            f'There is no detector "{name}". {did_you_mean(name, [one.name for one in there])} '
            "Add a model by add_detector, or name its file."
        )

    def keep(self, model: Path, described: Detector) -> Detector:
        """Copy a model into the first folder, write its description beside it and note its hash;
        one of the same name is replaced. Raises LastingError."""
        if not self._folders:
            raise LastingError("There is no folder for detectors here: name the model's file.")
        folder = self._folders[0]
        stem = "".join(one if one.isalnum() or one in "-_." else "_" for one in described.name)
        kept = replace(described, file=f"{stem}{ENDING}", folder=folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if model.resolve() != kept.path.resolve():
                shutil.copyfile(model, kept.path)
            kept = replace(kept, sha256=hash_of(kept.path))
            text = detector_file.written(kept)
            kept.path.with_suffix(".json").write_text(text, encoding="utf-8")
            known = {**sums(folder / SUMS), kept.file: kept.sha256}
            lines = [f"{value}  {name}\n" for name, value in sorted(known.items())]
            (folder / SUMS).write_text("".join(lines), encoding="utf-8")
        except OSError as error:
            raise LastingError(
                f"The detector {described.name} could not be kept: {error.strerror or error}. Make "
                "room in the profile's folder, then try again."
            ) from error
        return kept


def _own(folder: Path) -> list[Detector]:
    known, found = sums(folder / SUMS), []
    for path in sorted(folder.glob("*.json")):
        try:
            one = beside(path.with_suffix(ENDING))
        except MendableError as error:
            _LOG.warning("%s", error.message)
            continue
        if one is not None and one.path.is_file():
            found.append(replace(one, sha256=known.get(one.file, "")))
    return found


def beside(model: Path) -> Detector | None:
    """Return what the JSON file beside a model says of it, None where there is none.

    Raises MendableError.
    """
    path = model.with_suffix(".json")
    if not path.is_file():
        return None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MendableError(f"{path.name} cannot be read: {error}.") from error
    found = detector_file.detectors_of(text, path.name, path.parent)
    if len(found) != 1:
        raise MendableError(f"{path.name} must describe the one model beside it.")
    return found[0]


def sums(path: Path) -> dict[str, str]:
    """Return the hashes of a file in sha256sum form by names of files; none without one."""
    if not path.is_file():
        return {}
    rows = (line.split(None, 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {row[1].lstrip("*").strip(): row[0].lower() for row in rows if len(row) == 2}


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits. Raises OSError."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            found.update(chunk)
    return found.hexdigest()


def refuse_changed(one: Detector) -> None:
    """Refuse a model whose file is not the one that was vouched for. Raises LastingError."""
    if one.sha256 and hash_of(one.path) != one.sha256:
        raise LastingError(
            f"{one.file} of the detector {one.name} has been changed since it was added: its "
            "SHA-256 differs. Add it again by add_detector."
        )
