# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects in a picture found by a model: ships, cars, buildings, as polygons with class, score,
area and date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy
from qgis.core import Qgis, QgsFeature

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .detection_box import Boxes, gathered, objects, placed, suppressed
from .detection_fit import paired
from .detection_layer import FIELDS, colour_polygons
from .detection_output import boxes_of
from .detection_picture import Picture, picture_of
from .detection_run import DetectionRun
from .detector import Detector, Task
from .new_layer import fields_of, new_layer
from .observation_layer import qt_day
from .selection import titled
from .spelling import bare, did_you_mean

BANDS = {
    "type": "array",
    "items": {"type": "integer", "minimum": 1},
    "description": "numbers of the raster's bands in the model's order, where names do not tell",
}
DETECTOR = {"type": "string", "description": "its name, or an .onnx file; the one that fits"}
_MOST_BOXES = 200_000
_EMPTY = 0.5
"""A box of which more than this share has no data is none."""


class DetectObjects:
    """Objects found by a model."""

    definition = ToolDefinition(
        "detect_objects",
        "Detect objects in an image by a model: polygons with class, score, area_m2 and date.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "detector": DETECTOR,
                "classes": {"type": "array", "items": {"type": "string"}},
                "score": {"type": "number", "description": "the least, such as 0.5"},
                "bands": BANDS,
            },
            ["layer"],
        ),
        label="Detect objects",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse a score that is none. Raises MendableError."""
        if not 0 <= arguments.get("score", 0) <= 1:
            raise MendableError("score must lie between 0 and 1.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Detect tile by tile, take each object once, and put the polygons into a layer."""
        picture = picture_of(arguments["layer"], context)
        pairing = paired(
            arguments.get("detector", ""), (Task.OBJECTS,), picture, arguments.get("bands", []),
            context,
        )  # fmt: skip
        detector = pairing.detector
        wanted = _wanted(arguments.get("classes", []), detector)
        run = DetectionRun(pairing, picture, context)
        score = arguments.get("score", detector.score)
        parts: list[Boxes] = []
        for tile, there, outputs in run.outputs():
            found = boxes_of(outputs, pairing.model.outputs, detector, score)
            if wanted:
                found = found.take(numpy.isin(found.classes, wanted))
            parts.append(suppressed(placed(_on_data(found, there), tile)))
            if sum(len(one) for one in parts) > _MOST_BOXES:
                raise MendableError(
                    f"{detector.name} finds more than {_MOST_BOXES} objects with a score of "
                    f"{score:g} or more: give a higher score."
                )
        context.note(run.words())
        shown = {"layer": picture.source.id, "detector": detector.name, "score": score}
        return _told(objects(gathered(parts)), picture, detector, shown, context)


def _wanted(names: list[str], detector: Detector) -> list[int]:
    """Return the numbers of the classes that are asked for. Raises MendableError."""
    known = {bare(one.name): number for number, one in enumerate(detector.classes)}
    for name in names:
        if bare(name) not in known:
            words = did_you_mean(name, [one.name for one in detector.classes])
            raise MendableError(f'{detector.name} finds no "{name}". {words}')
    return [known[bare(name)] for name in names]


def _on_data(found: Boxes, there: Any) -> Boxes:
    """Leave out boxes most of which has no data."""
    if there.all():
        return found
    sums = numpy.pad(there.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    rows, columns = there.shape
    limits = numpy.array([columns, rows, columns, rows])
    left, top, right, bottom = numpy.clip(numpy.rint(found.corners), 0, limits).astype(int).T
    data = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    cells = numpy.maximum((right - left) * (bottom - top), 1)
    return found.take(data >= cells * (1 - _EMPTY))


def _features(found: Boxes, picture: Picture, detector: Detector) -> Iterator[QgsFeature]:
    fields = fields_of(FIELDS)
    day = qt_day(picture.day)
    for place in range(len(found)):
        feature = QgsFeature(fields)
        polygon = picture.polygon(*found.corners[place].tolist())
        feature.setGeometry(polygon)
        feature.setAttributes(
            [
                detector.class_name(int(found.classes[place])),
                round(float(found.scores[place]), 6),
                picture.area(polygon),
                day,
            ]
        )
        yield feature


def _told(
    found: Boxes, picture: Picture, detector: Detector, shown: dict[str, Any], context: Context
) -> ToolResult:
    source = picture.source
    title = f"objects in {source.key}"
    made = new_layer(
        title, fields_of(FIELDS), Qgis.WkbType.Polygon, source.crs,
        _features(found, picture, detector),
    )  # fmt: skip
    classes = found.classes.tolist()

    def adopt() -> Any:
        colour_polygons(made, detector, classes)
        return context.hand_over(made, titled(title), shown)

    reference = context.call(adopt)
    counts = Counter(detector.class_name(number) for number in classes)
    numbers = {"count": float(len(found))}
    numbers.update({f"count_{name}": float(count) for name, count in counts.items()})
    if len(found):
        numbers["mean_score"] = float(found.scores.mean())
    table = [{"class": name, "count": count} for name, count in counts.most_common()]
    objects_found = wording.counted(len(found), "object")
    return ToolResult(
        f"{wording.layer(reference)}: {objects_found}, fields {', '.join(FIELDS)}.\n"
        f"{wording.rows(table)}".strip(),
        numbers=numbers,
        layers=(reference,),
    )
