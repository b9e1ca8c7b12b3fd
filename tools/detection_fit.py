# SPDX-License-Identifier: GPL-2.0-or-later
"""Which detector fits a picture: by sensor, bands and size of the cells; a wrong pairing is refused
with those that fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .base import MendableError
from .context import Context
from .detection_model import DetectionModel
from .detection_picture import Picture
from .detector import Detector, Task
from .detector_store import ENDING, DetectorStore, beside, refuse_changed
from .spelling import listed

_FACTOR = 2.0
"""By how much the cells may be larger or smaller than a detector was made for."""


@dataclass(frozen=True)
class Pairing:
    """A detector, opened, with the numbers of the picture's bands in the order of its input."""

    detector: Detector
    model: DetectionModel
    bands: list[int]


def paired(
    name: str, tasks: Sequence[Task], picture: Picture, asked: list[int], context: Context
) -> Pairing:
    """Return the detector of a name or of a file, opened; without a name the one that fits.

    `asked` are the bands that the user says. Raises MendableError for one that finds something
    else or does not fit, with those that do, and LastingError for a changed file.
    """
    store = DetectorStore(context.detector_folders)
    if _is_file(name):
        path = _file(name, context)
        known = beside(path)
    else:
        known = store.find(name) if name else _only(tasks, picture, asked, store)
        path = known.path
        refuse_changed(known)
    model = DetectionModel(path)
    found = model.described(known, path)
    if found.task not in tasks:
        tool = "detect_objects" if found.task is Task.OBJECTS else "classify_land_cover"
        raise MendableError(f"{found.name} finds {found.task.value}: use it in {tool}.")
    why = misfit(found, picture, asked)
    if why:
        raise MendableError(f"{why} {_fitting(found, tasks, picture, asked, store)}")
    bands = asked or _bands(found, picture)[0]
    channels = model.channels()
    if not bands:
        bands = _all_bands(found, picture, channels)
    if channels is not None and len(bands) != channels:
        raise model.refused(f"takes {channels} bands, and {len(bands)} are given")
    _tell(found, picture, bands, asked, context)
    return Pairing(found, model, bands)


def _is_file(name: str) -> bool:
    return name.lower().endswith(ENDING) or "/" in name or "\\" in name


def _file(name: str, context: Context) -> Path:
    path = context.boundary().readable(name, "The model")
    if not path.is_file():
        raise MendableError(f"There is no file {name}. Check its name.")
    return path


def _only(
    tasks: Sequence[Task], picture: Picture, asked: list[int], store: DetectorStore
) -> Detector:
    there = [one for one in store.all() if one.task in tasks]
    fitting = [one for one in there if not misfit(one, picture, asked)]
    if len(fitting) == 1:
        return fitting[0]
    key = picture.source.key
    if fitting:
        raise MendableError(f"Several detectors fit {key}: say {_described(fitting)}.")
    if there:
        reasons = " ".join(misfit(one, picture, asked) for one in there[:5])
        raise MendableError(f"No detector fits {key}. {reasons} Add one by add_detector.")
    raise MendableError(
        f"There is no detector for {key} yet. Add an ONNX model by add_detector, or name its file."
    )


def _described(several: Sequence[Detector]) -> str:
    return listed([one.words() for one in several], 6)


def _fitting(
    one: Detector, tasks: Sequence[Task], picture: Picture, asked: list[int], store: DetectorStore
) -> str:
    fitting = [
        other for other in store.all()
        if other.name != one.name and other.task in tasks and not misfit(other, picture, asked)
    ]  # fmt: skip
    if fitting:
        return f"Detectors that fit: {_described(fitting)}."
    return "No detector that is here fits: add one by add_detector, or take another raster."


def misfit(one: Detector, picture: Picture, asked: list[int]) -> str:
    """Return the sentence that says why a detector does not fit a picture, "" where it does or
    where nothing tells."""
    key = picture.source.key
    if one.sensor and picture.sensor and one.sensor != picture.sensor:
        return f"{one.name} is for {one.sensor} pictures, and {key} is {picture.sensor}."
    low, high = one.resolution
    if high and not low / _FACTOR <= picture.cell <= high * _FACTOR:
        return (
            f"{one.name} is for cells of {one.cells()}, and those of {key} are "
            f"{picture.cell:.3g} m: more than {_FACTOR:g} times off."
        )
    if asked:
        most = picture.dataset.RasterCount
        wrong = [str(number) for number in asked if not 1 <= number <= most]
        if wrong:
            return f"{key} has no band {', '.join(wrong)}; it has {most}."
        if one.bands and len(asked) != len(one.bands):
            return f"{one.name} takes {len(one.bands)} bands ({', '.join(one.bands)})."
        return ""
    missing = _bands(one, picture)[1]
    if missing:
        return f"{one.name} needs {listed(missing)}, which no band of {key} is told to be."
    return ""


def _bands(one: Detector, picture: Picture) -> tuple[list[int], list[str]]:
    """Return the numbers of the bands that a detector takes, and those that are missing; all in
    order where no name tells anything and there are as many."""
    if not picture.bands and picture.dataset.RasterCount == len(one.bands):
        return list(range(1, len(one.bands) + 1)), []
    found = {name: picture.bands.get(name.lower()) for name in one.bands}
    missing = [name for name, number in found.items() if number is None]
    return [number for number in found.values() if number is not None], missing


def _all_bands(one: Detector, picture: Picture, channels: int | None) -> list[int]:
    """Return all bands of a picture for a detector that names none. Raises MendableError."""
    count = picture.dataset.RasterCount
    if channels in (None, count):
        return list(range(1, count + 1))
    raise MendableError(
        f"{one.name} takes {channels} bands, and {picture.source.key} has {count}. Say which in "
        "bands, in the model's order."
    )


def _tell(
    one: Detector, picture: Picture, bands: list[int], asked: list[int], context: Context
) -> None:
    """Note what was taken on trust."""
    key = picture.source.key
    if one.sensor and not picture.sensor:
        context.note(f"Nothing tells whether {key} is {one.sensor}, for which {one.name} is made.")
    if one.bands and not asked and not picture.bands:
        pairs = ", ".join(f"{name} = band {at}" for name, at in zip(one.bands, bands))
        context.note(f"No name tells the bands of {key}; taken in order: {pairs}.")
    if not any(one.resolution):
        context.note(f"{one.name} does not say for which size of cells it was made.")
