# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a model that detects objects or classifies land cover: its file, the pictures
that it was made for and its classes. No QGIS here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

SENSORS = ("optical", "SAR")
COLOURS = (
    "#1f78b4", "#e31a1c", "#33a02c", "#ff7f00", "#6a3d9a", "#b15928", "#a6cee3", "#fb9a99",
    "#b2df8a", "#fdbf6f", "#cab2d6", "#ffff99",
)  # fmt: skip
"""Of classes that name no colour of their own, by their place."""


class Task(str, Enum):
    """What a detector finds: boxes around objects, a class for each cell of a picture from its
    neighbourhood, or a class for each cell from its own bands alone."""

    OBJECTS = "objects"
    SEGMENTS = "segments"
    PIXELS = "pixels"


@dataclass(frozen=True)
class DetectorClass:
    """A class by its name and a colour such as #1f78b4."""

    name: str
    color: str = ""


@dataclass(frozen=True)
class Normalisation:
    """What a model is fed: (stored / divide - mean) / std, mean and std by band."""

    divide: float = 1.0
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


@dataclass(frozen=True)
class Detector:
    """A detector. `sensor` is one of SENSORS or "" where it is not known, `bands` are what its
    input's channels see, in order, `resolution` the least and largest cell in metres that it was
    made for, (0, 0) where that is not known, `size` the side of its tiles in cells, 0 for any,
    `score` and `overlap` (cells, -1 for a fifth of a tile) how it is run unless said otherwise,
    `sha256` of its file, "" for a file that nobody vouched for."""

    name: str
    file: str
    task: Task
    sensor: str = ""
    bands: tuple[str, ...] = ()
    resolution: tuple[float, float] = (0.0, 0.0)
    classes: tuple[DetectorClass, ...] = ()
    size: int = 0
    normalisation: Normalisation = field(default_factory=Normalisation)
    score: float = 0.5
    overlap: int = -1
    licence: str = ""
    sha256: str = ""
    folder: Path | None = field(default=None, compare=False)

    @property
    def path(self) -> Path:
        """Where the model's file is."""
        return (self.folder or Path()) / self.file

    def class_name(self, number: int) -> str:
        """Return the name of a class, one made of its number where it has none."""
        if 0 <= number < len(self.classes):
            return self.classes[number].name
        return f"class {number}"

    def colour(self, number: int) -> str:
        """Return the colour of a class."""
        own = self.classes[number].color if 0 <= number < len(self.classes) else ""
        return own or COLOURS[number % len(COLOURS)]

    def cells(self) -> str:
        """Say for which size of cells it was made."""
        low, high = self.resolution
        return f"{high:g} m" if low == high else f"{low:g} to {high:g} m"

    def words(self) -> str:
        """Describe the detector in a part of a sentence."""
        cells = f"cells of {self.cells()}" if any(self.resolution) else ""
        bands = f"bands {', '.join(self.bands)}" if self.bands else ""
        said = ", ".join(filter(None, [self.sensor, bands, cells]))
        return f"{self.name} ({said})" if said else self.name
