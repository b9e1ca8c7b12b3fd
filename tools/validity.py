# SPDX-License-Identifier: GPL-2.0-or-later
"""Invalid geometries named: which feature of which layer, and why."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsFeature, QgsProcessingAlgorithm

from .context import Context
from .source import VectorSource, plain

_NAME_FIELDS = ("name", "nom", "title", "label")


def first_invalid(
    algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any], context: Context
) -> str:
    """Return a sentence about the first invalid geometry among the inputs, "" for none."""
    used = {str(parameters.get(item.name())) for item in algorithm.parameterDefinitions()}
    for source in context.sources():
        if source.id not in used or not isinstance(source, VectorSource):
            continue
        for feature in source.rows(context.cancelled, geometry=True):
            if feature.hasGeometry() and not feature.geometry().isGeosValid():
                return _sentence(feature, source)
    return ""


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
