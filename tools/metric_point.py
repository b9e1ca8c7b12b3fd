# SPDX-License-Identifier: GPL-2.0-or-later
"""Points that have a value, brought into metres as a file, for surfaces made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qgis.core import QgsCoordinateReferenceSystem, QgsRectangle

from . import execution, wording
from .base import MendableError
from .condition import field_named, number_of
from .context import Context
from .expression import SourceFields
from .grid import metric_crs
from .source import VectorSource

_STRETCH = 0.002
_MOST_CELLS = 25_000_000


def with_values(
    source: VectorSource, name: str, folder: Path, context: Context
) -> tuple[str, QgsCoordinateReferenceSystem]:
    """Write the points that have a number in a field ("" for all) in metres; return the file and
    its CRS."""
    what = "distances between its points are not known"
    crs = metric_crs(source, what, _STRETCH, metres_only=True)
    given: str = source.id
    if name:
        given = str(folder / "valued.gpkg")
        text = number_of(name, source.type_of(name))
        parameters = {"INPUT": source.id, "EXPRESSION": f"{text} IS NOT NULL", "OUTPUT": given}
        left = source.features - ran_to_file("native:extractbyexpression", parameters, context)
        if left:
            context.note(f"{wording.counted(left, 'point')} without {name} were left out.")
    if crs is None:
        return given, source.crs
    path = str(folder / "metric.gpkg")
    parameters = {"INPUT": given, "TARGET_CRS": crs, "OUTPUT": path}
    ran_to_file("native:reprojectlayer", parameters, context)
    context.note(f"{source.key} was reprojected to {crs.authid() or 'metres around its middle'}.")
    return path, crs


def ran_to_file(algorithm: str, parameters: dict[str, Any], context: Context) -> int:
    """Run an algorithm for the file that it writes; return how many features that has."""
    layers = execution.run(algorithm, parameters, context).layers

    def counted() -> int:
        count = int(layers["OUTPUT"].featureCount())
        layers.clear()
        return count

    return context.call(counted)


def numeric(source: VectorSource, wanted: str, context: Context) -> str:
    """Return the name of a field of numbers. Raises MendableError for another."""
    name = field_named(wanted, SourceFields(source, context.cancelled))
    if source.type_of(name) not in ("integer", "real"):
        raise MendableError(f"{name} of {source.key} is no field of numbers.")
    return name


def refuse_many(box: QgsRectangle, cell: float) -> None:
    """Refuse cells so small that the raster would have too many. Raises MendableError."""
    if (box.width() / cell) * (box.height() / cell) > _MOST_CELLS:
        raise MendableError(f"A cell size of {cell:g} m gives too many cells: take a larger one.")
