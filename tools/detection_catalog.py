# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools over pictures by models, in the order in which they are listed to a model."""

from __future__ import annotations

from .detection import DetectObjects
from .detector_adding import AddDetector
from .registry import Tool
from .segmentation import ClassifyLandCover


def detection_tools() -> list[Tool]:
    """Return the tools that detect objects and classify land cover."""
    return [AddDetector(), DetectObjects(), ClassifyLandCover()]
