# SPDX-License-Identifier: GPL-2.0-or-later
"""How damaged each building is, by a raster of damage classes: shares of its footprint, and of the
ground around it, as Microsoft's building damage assessment keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy
from osgeo import gdal
from qgis.core import Qgis, QgsFeature, QgsGeometry, QgsUnitTypes

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import moved, transform
from .grid import Grid, grid_of
from .new_layer import extended, new_layer, row
from .observation_channel import read_band
from .observation_zone import cells_in, window_of
from .overlap import refuse_apart
from .raster import band_of, opened, raster_of
from .registry import Unchecked
from .selection import titled
from .source import VectorSource

_NO_DATA, _BUILDING, _DAMAGED, _UNKNOWN = 0, 2, 3, 4
_CLASSES = range(5)
_DISTANCES = (0, 10, 20)
_SEGMENTS = 16
_BINS = 5
_FIELDS = {
    **{f"damage_pct_{distance}m": "real" for distance in _DISTANCES},
    "built_pct_0m": "real", "damaged": "integer", "unknown_pct": "real",
}  # fmt: skip
_TOLD_EVERY = 200


@dataclass
class _Sum:
    """What was found over all buildings; `bins` count them by the share of damage."""

    judged: int = 0
    damaged: int = 0
    unknown: int = 0
    outside: int = 0
    bins: list[int] = field(default_factory=lambda: [0] * _BINS)


class BuildingDamage(Unchecked):
    """The damage of each building."""

    definition = ToolDefinition(
        "building_damage",
        "Judge each building's damage by a raster of classes (1 background, 2 building, 3 damaged, "
        "4 unknown): shares within 0, 10 and 20 m.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POLYGON.value),
                "raster": argument.layer(Family.RASTER.value),
                "band": argument.band("raster"),
            },
            ["layer", "raster"],
        ),
        label="Building damage",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Count the classes under each footprint; a building without a cell of data is told."""
        source = context.vector(arguments["layer"], Family.POLYGON)
        raster = raster_of(arguments["raster"], context)
        refuse_apart(source, raster)
        grid = grid_of(raster)
        metres = _metres(grid)
        if not metres:
            raise MendableError(
                f"The cells of {raster.key} are in degrees, and distances in metres are needed: "
                "bring it into a projected CRS first, by gdal:warpreproject."
            )
        band = band_of(raster, arguments.get("band")).number
        found = _Sum()
        fields, names = extended(source, _FIELDS)
        dataset = opened(raster)
        features = _judged(source, fields, _Reader(dataset, band, grid, metres), found, context)
        title = f"damage of {source.key}"
        made = new_layer(title, fields, source.wkb, source.crs, features)
        if not found.judged:
            raise MendableError(
                f"{raster.key} has no data under any building of {source.key}: take another one."
            )
        shown = {"layer": source.id, "raster": raster.id}
        reference = context.call(lambda: context.hand_over(made, titled(title), shown))
        return _told(reference, found, names, context)


def _metres(grid: Grid) -> float:
    """Return how many metres a unit of the grid's CRS is, 0.0 for degrees."""
    if grid.crs.isGeographic():
        return 0.0
    return float(QgsUnitTypes.fromUnitToUnitFactor(grid.crs.mapUnits(), Qgis.DistanceUnit.Meters))


class _Reader:
    """Reads which classes lie in a geometry of the grid's CRS."""

    def __init__(self, dataset: gdal.Dataset, band: int, grid: Grid, metres: float) -> None:
        self._dataset, self._band, self.grid, self._metres = dataset, band, grid, metres

    def counts(self, footprint: QgsGeometry, distance: int) -> Any:
        """Return how many cells of each class lie within a distance in metres of a footprint."""
        shape = footprint.buffer(distance / self._metres, _SEGMENTS) if distance else footprint
        window = window_of(shape, self.grid)
        if window is None:
            return numpy.zeros(len(_CLASSES), dtype=int)
        values = read_band(self._dataset, self._band, window)
        mask = cells_in(shape, window, self.grid)
        if not mask.any():  # smaller than a cell: the one under it
            place = window_of(shape.pointOnSurface(), self.grid) or window
            mask = numpy.zeros(values.shape, dtype=bool)
            mask[place[1] - window[1], place[0] - window[0]] = True
        found = values[mask]
        wrong = ~numpy.isin(found, _CLASSES)
        if wrong.any():
            raise MendableError(
                f"The raster holds {found[wrong][0]:g}, which is no class of damage: they are 0 no "
                "data, 1 background, 2 building, 3 damaged, 4 unknown. Bring it to them by "
                "reclassify."
            )
        return numpy.bincount(found.astype(int), minlength=len(_CLASSES))


def _judged(
    source: VectorSource, fields: Any, reader: _Reader, found: _Sum, context: Context
) -> Iterator[QgsFeature]:
    way = transform(source.crs, reader.grid.crs)
    whole = max(source.features, 1)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        if number % _TOLD_EVERY == 0:
            context.progress(100.0 * number / whole)
        if feature.hasGeometry() and not feature.geometry().isEmpty():
            values = _values(moved(feature.geometry(), way), reader, found)
        else:
            found.outside += 1
            values = [None] * len(_FIELDS)
        yield row(fields, feature, values)


def _values(footprint: QgsGeometry, reader: _Reader, found: _Sum) -> list[Any]:
    """Return the values of one building in the order of the fields, and add it up."""
    by_distance = [reader.counts(footprint, distance) for distance in _DISTANCES]
    own = by_distance[0]
    known = own.sum() - own[_NO_DATA]
    if not known:
        found.outside += 1
        return [None] * len(_FIELDS)
    shares = [_share(one, _DAMAGED) for one in by_distance]
    damaged = int(own[_DAMAGED] > 0)
    unknown = _share(own, _UNKNOWN)
    found.judged += 1
    found.damaged += damaged
    found.unknown += unknown == 1
    found.bins[min(int(shares[0] * _BINS), _BINS - 1)] += 1
    return [*shares, _share(own, _BUILDING), damaged, unknown]


def _share(counts: Any, kind: int) -> float:
    return float(counts[kind] / max(counts.sum() - counts[_NO_DATA], 1))


def _told(reference: Any, found: _Sum, names: list[str], context: Context) -> ToolResult:
    if found.outside:
        context.note(
            f"Without a cell of data, so not judged: {wording.counted(found.outside, 'building')}."
        )
    if found.unknown:
        context.note(
            "Wholly in the class unknown, such as cloud, and counted as not damaged: "
            f"{wording.counted(found.unknown, 'building')}."
        )
    percent = 100.0 * found.damaged / found.judged
    table = [
        {"damage": f"{100 * place // _BINS} to {100 * (place + 1) // _BINS} %", "buildings": count}
        for place, count in enumerate(found.bins)
    ]
    return ToolResult(
        f"{wording.layer(reference)}, {', '.join(names)}: {found.damaged} of {found.judged} "
        f"buildings are damaged = {wording.number(percent)} %.\n{wording.rows(table)}",
        numbers={
            "damaged": float(found.damaged), "percent": percent, "count": float(found.judged),
            "unknown": float(found.unknown), "outside": float(found.outside),
        },
        units={"percent": "%"},
        layers=(reference,),
    )  # fmt: skip
