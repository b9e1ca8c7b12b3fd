# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of an installation share: the packages, the error, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

WANTED = ("ollama>=0.5,<1", "openai>=1.40,<3")
"""What is installed, with what it needs."""

BATCH = ("distributed>=2023.9,<2027",)
"""What is installed beside it when the user wants batches of workflows."""

VISION = ("onnxruntime>=1.17,<2",)
"""What is installed beside it when the user wants detection in pictures: alone, since what it needs
to run is QGIS's own numpy."""

NEVER = ("numpy", "pandas", "scipy", "shapely", "gdal", "pyqt5", "pyqt6")
"""Packages that belong to QGIS's own Python and are never brought beside it."""


@dataclass(frozen=True)
class InstallStep:
    """How far an installation is: one line for the user, and the share done (-1 is unknown)."""

    text: str
    percent: float = -1.0


Tell = Callable[[InstallStep], None]


class PackageError(Exception):
    """An installation failed: a sentence with the next step, details for the log."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
