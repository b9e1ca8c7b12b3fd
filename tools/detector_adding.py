# SPDX-License-Identifier: GPL-2.0-or-later
"""A model of the user's own, looked into and kept among the detectors of the profile."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import argument
from .base import MendableError, ToolDefinition, ToolResult
from .context import Context
from .detection_model import DetectionModel
from .detector import SENSORS, Detector, DetectorClass, Normalisation, Task
from .detector_file import checked
from .detector_store import ENDING, DetectorStore, beside
from .raster_copy import workspace
from .registry import Unchecked
from .spelling import listed

_NUMBERS = {"type": "array", "items": {"type": "number"}}
_TEXTS = {"type": "array", "items": {"type": "string"}}


class AddDetector(Unchecked):
    """Keeps a model as a detector."""

    definition = ToolDefinition(
        "add_detector",
        "Keep an ONNX model file as a detector, with what it was made for.",
        argument.arguments(
            {
                "file": {"type": "string", "description": "the model, such as ships.onnx"},
                "name": {"type": "string"},
                "sensor": argument.choice(
                    *SENSORS, synonyms={"radar": "SAR", "sar": "SAR", "RGB": "optical"}
                ),
                "bands": {**_TEXTS, "description": "in order, such as [red, green, blue] or [VV]"},
                "resolution": {**_NUMBERS, "description": "least and largest cell in metres"},
                "classes": _TEXTS,
                "divide": {"type": "number", "description": "255 for a model of values 0 to 1"},
                "mean": _NUMBERS,
                "std": _NUMBERS,
                "score": {"type": "number"},
                "licence": {"type": "string"},
            },
            ["file"],
        ),
        label="Add a detector",
        lasting=True,
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Open the model, join what it says with what is said of it, and copy it."""
        path = context.boundary().readable(arguments["file"], "The model")
        if not path.is_file() or path.suffix.lower() != ENDING:
            raise MendableError(f"{arguments['file']} is no {ENDING} file. Check its name.")
        with workspace(context) as folder:  # a model that needs other files does not open there
            model = DetectionModel(Path(shutil.copy(path, folder)))
        found = _said(model.described(beside(path), path), arguments)
        channels = model.channels()
        if found.bands and channels is not None and len(found.bands) != channels:
            raise MendableError(
                f"{path.name} takes {channels} bands, and {len(found.bands)} are named: "
                f"{listed(found.bands)}. Correct bands."
            )
        kept = DetectorStore(context.detector_folders).keep(path, checked(found))
        tool = "detect_objects" if kept.task is Task.OBJECTS else "classify_land_cover"
        unsaid = [
            name for name, value in (
                ("sensor", kept.sensor), ("bands", kept.bands), ("classes", kept.classes),
                ("resolution", any(kept.resolution)),
            ) if not value
        ]  # fmt: skip
        if unsaid:
            context.note(f"Not said, so not checked against rasters: {', '.join(unsaid)}.")
        names = listed([one.name for one in kept.classes]) or "without names of classes"
        return ToolResult(
            f"Kept {kept.words()}: finds {kept.task.value}, {names}. Use it in {tool}.",
            numbers={"classes": float(len(kept.classes))},
            texts={"detector": kept.name},
        )


def _said(found: Detector, arguments: dict[str, Any]) -> Detector:
    """Return a description with what the arguments say in place of its own."""
    own = found.normalisation
    given: dict[str, Any] = {
        key: arguments[key] for key in ("name", "sensor", "score", "licence") if key in arguments
    }
    if "bands" in arguments:
        given["bands"] = tuple(arguments["bands"])
    if "classes" in arguments:
        given["classes"] = tuple(DetectorClass(one) for one in arguments["classes"])
    if arguments.get("resolution"):
        cells = [float(one) for one in arguments["resolution"]]
        given["resolution"] = (cells[0], cells[-1])
    given["normalisation"] = Normalisation(
        float(arguments.get("divide", own.divide)),
        tuple(arguments.get("mean", own.mean)),
        tuple(arguments.get("std", own.std)),
    )
    return replace(found, **given)
