# SPDX-License-Identifier: GPL-2.0-or-later
"""The detectors of the papers' benchmark, which look nothing up but labels: what a label layer says
of the images that are loaded, as in the released geo_flows. For evaluation alone; no project of a
user is given them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from qgis.core import QgsFeature

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .new_layer import new_layer
from .registry import Unchecked
from .selection import titled
from .source import VectorSource
from .spelling import bare, did_you_mean, listed

_IMAGE, _CLASS = "image_id", "cat_name"

Known = Mapping[str, Sequence[str]]
"""By the name of a label layer, the detectors that may read it."""


class _Oracle(Unchecked):
    """Gives the labels of loaded images as what a detector found."""

    definition: ToolDefinition

    def __init__(self, known: Known) -> None:
        self._known = known

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Take the labels whose image is loaded. Raises MendableError for a detector of other
        labels, with those that fit, and for layers without the fields of the benchmark."""
        labels = context.vector(arguments["labels"], Family.VECTOR)
        images = context.vector(arguments["images"], Family.TABLE)
        detector = self._fitting(arguments["detector"], labels)
        _need(labels, _IMAGE, _CLASS)
        _need(images, _IMAGE)
        loaded = {row[_IMAGE] for row in images.rows(context.cancelled, only=[_IMAGE])}
        counts: Counter[str] = Counter()
        made = new_layer(
            f"{detector} on {labels.key}", labels.fields, labels.wkb, labels.crs,
            _of_images(labels, loaded, counts, context),
        )  # fmt: skip
        shown = {"labels": labels.id, "images": images.id, "detector": detector}
        title = titled(f"{detector} on {labels.key}")
        reference = context.call(lambda: context.hand_over(made, title, shown))
        table = [{"class": name, "count": count} for name, count in counts.most_common()]
        return ToolResult(
            f"{wording.layer(reference)}.\n{wording.rows(table)}".strip(),
            numbers={"count": float(sum(counts.values())), "images": float(len(loaded))},
            layers=(reference,),
        )

    def _fitting(self, name: str, labels: VectorSource) -> str:
        several = self._known.get(labels.key, ())
        found = [one for one in several if bare(one) == bare(name)]
        if found:
            return found[0]
        if not several:
            raise MendableError(
                f"No detector reads {labels.key}. Label layers: {listed(list(self._known))}."
            )
        raise MendableError(
            f"{name} does not read {labels.key}. {did_you_mean(name, list(several))}"
        )


def _need(source: VectorSource, *names: str) -> None:
    missing = [name for name in names if name not in source.names()]
    if missing:
        raise MendableError(f"{source.key} has no field {listed(missing)}: take another layer.")


def _of_images(
    labels: VectorSource, loaded: set[Any], counts: Counter[str], context: Context
) -> Iterator[QgsFeature]:
    for row in labels.rows(context.cancelled, geometry=True):
        if row[_IMAGE] in loaded:
            counts[str(row[_CLASS])] += 1
            yield row


def _arguments() -> dict[str, Any]:
    return argument.arguments(
        {
            "images": argument.layer(Family.VECTOR.value, text="the images that are loaded"),
            "labels": argument.layer(Family.VECTOR.value),
            "detector": {"type": "string"},
        },
        ["images", "labels", "detector"],
    )


class OracleDetector(_Oracle):
    """Objects, by their labels."""

    definition = ToolDefinition(
        "run_detector",
        "Detect the objects in the loaded images by a detector of their data set.",
        _arguments(),
        label="Run a detector",
    )


class OracleClassifier(_Oracle):
    """Land cover, by its labels."""

    definition = ToolDefinition(
        "run_land_coverage_classifier",
        "Classify the land cover of the loaded images by a classifier of their data set.",
        _arguments(),
        label="Run a land cover classifier",
    )
