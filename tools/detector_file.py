# SPDX-License-Identifier: GPL-2.0-or-later
"""Detectors as JSON: a manifest of several, or a file beside a model; every fault is told by file,
detector and key. No QGIS here."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .base import MendableError
from .detector import SENSORS, Detector, DetectorClass, Normalisation, Task

FORMAT = 1


def detectors_of(text: str, name: str, folder: Path | None = None) -> list[Detector]:
    """Return the detectors of a manifest, or the one of a file beside a model.

    Raises MendableError that names the file and the key which is wrong.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise MendableError(f"{name} is no JSON: {error}.") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise MendableError(f'{name} must be an object with "format": {FORMAT}.')
    if "detectors" not in data:
        return [_Reading(data, name, folder).detector()]
    if not isinstance(data["detectors"], list):
        raise MendableError(f'"detectors" in {name} must be a list.')
    return [_Reading(one, name, folder).detector() for one in data["detectors"]]


def written(one: Detector) -> str:
    """Return the text of the file that stands beside a model; its hash stands elsewhere."""
    data = asdict(one)
    for key in ("folder", "sha256"):
        del data[key]
    data["task"] = one.task.value
    return json.dumps({"format": FORMAT, **data}, indent=1, ensure_ascii=False) + "\n"


def checked(one: Detector) -> Detector:
    """Return a detector whose every part is as a file must hold it. Raises MendableError."""
    detectors_of(written(one), f"{one.file} as it is described")
    return one


_KEYS = {
    "format", "name", "file", "task", "sensor", "bands", "resolution", "classes", "size",
    "normalisation", "score", "overlap", "licence",
}  # fmt: skip


class _Reading:
    """Reads one detector from JSON."""

    def __init__(self, data: Any, name: str, folder: Path | None) -> None:
        self._data, self._name, self._folder = data, name, folder
        if not isinstance(data, dict):
            raise MendableError(f"A detector in {name} must be an object.")
        self._who = str(data.get("name") or "a detector")
        strange = sorted(set(data) - _KEYS)
        if strange:
            raise self._wrong(strange[0], f"is none of {', '.join(sorted(_KEYS))}")

    def _wrong(self, key: str, what: str) -> MendableError:
        return MendableError(f'"{key}" of {self._who} in {self._name} {what}.')

    def detector(self) -> Detector:
        """Return the detector. Raises MendableError."""
        tasks = [one.value for one in Task]
        if self._data.get("task") not in tasks:
            raise self._wrong("task", f"must be one of {', '.join(tasks)}")
        sensor = self._data.get("sensor", "")
        if sensor not in ("", *SENSORS):
            raise self._wrong("sensor", f"must be one of {', '.join(SENSORS)}")
        score = self._number("score", 0.5)
        if not 0 <= score <= 1:
            raise self._wrong("score", "must lie between 0 and 1")
        return Detector(
            self._text("name"),
            self._file(),
            Task(self._data["task"]),
            sensor,
            tuple(str(one) for one in self._list("bands")),
            self._resolution(),
            tuple(self._class(one) for one in self._list("classes")),
            self._whole("size", 0),
            self._normalisation(),
            score,
            self._whole("overlap", -1),
            str(self._data.get("licence", "")),
            folder=self._folder,
        )

    def _text(self, key: str) -> str:
        value = self._data.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, "must be a text")
        return value.strip()

    def _file(self) -> str:
        file = self._text("file")
        if Path(file).name != file:
            raise self._wrong("file", "must be the name of a file in the same folder")
        return file

    def _list(self, key: str) -> list[Any]:
        value = self._data.get(key, [])
        if not isinstance(value, list):
            raise self._wrong(key, "must be a list")
        return value

    def _numbers(self, key: str, data: Any) -> tuple[float, ...]:
        if not isinstance(data, list) or not all(_is_number(one) for one in data):
            raise self._wrong(key, "must be a list of numbers")
        return tuple(float(one) for one in data)

    def _number(self, key: str, default: float) -> float:
        value = self._data.get(key, default)
        if not _is_number(value):
            raise self._wrong(key, "must be a number")
        return float(value)

    def _whole(self, key: str, least: int) -> int:
        value = self._data.get(key, least)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._wrong(key, f"must be a whole number from {least}")
        return value

    def _resolution(self) -> tuple[float, float]:
        data = self._data.get("resolution", [0, 0])
        pair = [data, data] if _is_number(data) else data
        found = self._numbers("resolution", pair)
        if len(found) not in (1, 2) or not 0 <= found[0] <= found[-1]:
            raise self._wrong("resolution", "must be one number of metres, or two that rise")
        return found[0], found[-1]

    def _class(self, data: Any) -> DetectorClass:
        if isinstance(data, str):
            data = {"name": data}
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            raise self._wrong("classes", "must be names, or objects with a name and a color")
        return DetectorClass(data["name"], str(data.get("color", "")))

    def _normalisation(self) -> Normalisation:
        data = self._data.get("normalisation", {})
        if not isinstance(data, dict) or set(data) - {"divide", "mean", "std"}:
            raise self._wrong("normalisation", "must hold divide, mean and std")
        mean = self._numbers("normalisation", data.get("mean", []))
        std = self._numbers("normalisation", data.get("std", []))
        divide = data.get("divide", 1)
        if not _is_number(divide) or divide == 0 or 0 in std:
            raise self._wrong("normalisation", "must not divide by 0")
        bands = len(self._data.get("bands", []))
        if any(bands and len(one) not in (0, 1, bands) for one in (mean, std)):
            raise self._wrong("normalisation", "must give mean and std for each band")
        return Normalisation(float(divide), mean, std)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
