# SPDX-License-Identifier: GPL-2.0-or-later
"""Invalid geometries named: which feature of which layer, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qgis.core import QgsFeature

from .context import Context
from .source import VectorSource, plain

_NAME_FIELDS = ("name", "nom", "title", "label")


@dataclass(frozen=True)
class Fault:
    """The invalid geometries of a layer: how many, and a sentence about the first."""

    source: VectorSource
    count: int
    sentence: str


def invalid_inputs(parameters: dict[str, Any], context: Context) -> list[Fault]:
    """Return the faults of the layers among the parameters. Raises ToolCancelled."""
    used: set[str] = set()
    for value in parameters.values():
        used.update(str(one) for one in (value if isinstance(value, list) else [value]))
    layers = [one for one in context.sources() if one.id in used]
    found = [_fault(one, context) for one in layers if isinstance(one, VectorSource)]
    return [fault for fault in found if fault.count]


def _fault(source: VectorSource, context: Context) -> Fault:
    count, sentence = 0, ""
    for feature in source.rows(context.cancelled, geometry=True):
        if feature.hasGeometry() and not feature.geometry().isGeosValid():
            count += 1
            sentence = sentence or _sentence(feature, source)
    return Fault(source, count, sentence)


def _sentence(feature: QgsFeature, source: VectorSource) -> str:
    problems = feature.geometry().validateGeometry()
    reason = f": {problems[0].what()}" if problems else ""
    return (
        f"Feature {feature.id()}{_named(feature, source)} of {source.key} is invalid{reason}. "
        "Run native:fixgeometries on the layer first."
    )


def _named(feature: QgsFeature, source: VectorSource) -> str:
    for name in source.names():
        if name.lower().startswith(_NAME_FIELDS) and isinstance(plain(feature[name]), str):
            return f" ({feature[name]})"
    return ""
