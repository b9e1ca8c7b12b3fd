# SPDX-License-Identifier: GPL-2.0-or-later
"""What scenes measure as rows of coordinates, date, band, value and unit, a row for each cell with
a value: as a layer of points and as a pandas frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from osgeo import osr
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
)

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .new_layer import fields_of, new_layer
from .observation_channel import Window
from .observation_layer import qt_day
from .observation_product import MEASURES
from .observation_reader import ObservationReader
from .observation_zone import ZoneGrid
from .package import package
from .registry import Unchecked
from .scene_choice import Occasion, catalogue_of, occasions, scenes_of
from .selection import titled

_MOST_ROWS = 200_000
_COLUMNS = ("x", "y", "date", "band", "value", "unit")
_KINDS = dict(zip(_COLUMNS, ("real", "real", "date", "text", "real", "text")))
_STRIP_CELLS = 1_000_000


@dataclass(frozen=True)
class Block:
    """Cells of one day: longitudes and latitudes of their middles in EPSG:4326, and values."""

    occasion: Occasion
    unit: str
    x: Any
    y: Any
    values: Any


class ObservationRows(Unchecked):
    """The cells of scenes as rows."""

    definition = ToolDefinition(
        "observation_rows",
        "Turn what scenes measure into a point for each cell with x, y, date, band, value, unit.",
        argument.arguments(
            {
                "scenes": argument.layer("polygon"),
                "measure": argument.choice(*MEASURES),
                "zones": argument.layer(Family.POLYGON.value, Family.POINT.value),
                "start": {"type": "string", "description": "a day such as 2024-03-01"},
                "end": {"type": "string"},
            },
            ["scenes", "measure"],
        ),
        label="Cells as rows",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Put the rows into a layer of points in EPSG:4326."""
        source = catalogue_of(arguments["scenes"], context)
        measure = arguments["measure"]
        start, end = arguments.get("start", ""), arguments.get("end", "")
        found = occasions(scenes_of(source, context), measure, start, end, context)
        name = arguments.get("zones", "")
        zones = ZoneGrid(context.vector(name, Family.VECTOR), context) if name else None
        blocks = list(blocks_of(found, measure, zones, context))
        count = sum(len(one.values) for one in blocks)
        if not count:
            raise MendableError(f"{measure} has no value there on any of {len(found)} days.")
        fields = fields_of(_KINDS)
        crs = QgsCoordinateReferenceSystem("EPSG:4326")
        title = f"{measure} of {source.key}"
        made = new_layer(title, fields, Qgis.WkbType.Point, crs, _features(blocks, measure, fields))
        shown = {"scenes": source.id, "measure": measure}
        reference = context.call(lambda: context.hand_over(made, titled(title), shown))
        values = numpy.concatenate([one.values for one in blocks])
        numbers = {
            "count": float(count), "mean": float(values.mean()), "min": float(values.min()),
            "max": float(values.max()),
        }  # fmt: skip
        unit = blocks[0].unit
        said = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
        return ToolResult(
            f"{wording.layer(reference)}: {', '.join(_COLUMNS)}; {said}.",
            numbers=numbers,
            units={key: unit for key in numbers if unit and key != "count"},
            layers=(reference,),
        )


def blocks_of(
    found: Sequence[Occasion], measure: str, zones: ZoneGrid | None, context: Context
) -> Iterator[Block]:
    """Yield the cells with a value by day. Raises MendableError for too many, ToolCancelled."""
    count = 0
    for occasion in found:
        reader = ObservationReader(occasion, measure, context)
        way = _to_degrees(reader)
        for window, mask in _windows(reader, zones):
            context.stop_if_cancelled()
            values = reader.read(window, mask)
            there = ~numpy.isnan(values) & mask
            count += int(there.sum())
            if count > _MOST_ROWS:
                raise MendableError(
                    f"That is more than {_MOST_ROWS} cells: give zones or fewer days, or compute "
                    "zones by observation_series."
                )
            if there.any():
                yield _block(occasion, reader, window, there, values[there], way)
        context.note(reader.loss().words())


def _windows(reader: ObservationReader, zones: ZoneGrid | None) -> Iterator[tuple[Window, Any]]:
    grid = reader.grid
    if zones is not None:
        for place in range(len(zones.zones)):
            yield from zones.cells(place, grid)
        return
    height = max(1, _STRIP_CELLS // grid.columns)
    for row in range(0, grid.rows, height):
        rows = min(height, grid.rows - row)
        yield (0, row, grid.columns, rows), numpy.ones((rows, grid.columns), dtype=bool)


def _to_degrees(reader: ObservationReader) -> osr.CoordinateTransformation:
    systems = []
    for text in (reader.grid.crs.toWkt(), "EPSG:4326"):
        system = osr.SpatialReference()
        system.SetFromUserInput(text)
        system.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        systems.append(system)
    return osr.CoordinateTransformation(*systems)


def _block(
    occasion: Occasion, reader: ObservationReader, window: Window, there: Any, values: Any,
    way: osr.CoordinateTransformation,
) -> Block:  # fmt: skip
    down, across = numpy.nonzero(there)
    x = reader.grid.left + (window[0] + across + 0.5) * reader.grid.width
    y = reader.grid.top + (window[1] + down + 0.5) * reader.grid.height
    degrees = numpy.asarray(way.TransformPoints(numpy.column_stack([x, y])))
    return Block(occasion, reader.unit, degrees[:, 0], degrees[:, 1], values)


def _features(blocks: Sequence[Block], measure: str, fields: Any) -> Iterator[QgsFeature]:
    for block in blocks:
        day = qt_day(block.occasion.day)
        for x, y, value in zip(block.x.tolist(), block.y.tolist(), block.values.tolist()):
            feature = QgsFeature(fields)
            feature.setAttributes([x, y, day, measure, value, block.unit or None])
            feature.setGeometry(QgsGeometry.fromPointXY(QgsPointXY(x, y)))
            yield feature


def observation_frame(blocks: Sequence[Block], measure: str) -> Any:
    """Return blocks as a pandas frame with the columns x, y, date, band, value and unit.

    Raises LastingError when pandas is missing.
    """
    pandas = package("pandas", "A table of cells", "take the layer of points")
    parts = [
        pandas.DataFrame(
            {"x": one.x, "y": one.y, "date": pandas.Timestamp(one.occasion.when or None),
             "band": measure, "value": one.values, "unit": one.unit}
        )
        for one in blocks
    ]  # fmt: skip
    return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=_COLUMNS)
