# SPDX-License-Identifier: GPL-2.0-or-later
"""Grids of cells in the three systems of the world (MODIS sinusoidal, degrees, UTM), zones on them,
and which cells belong to which zone: by arithmetic alone, without any tool that is under test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

RADIUS = 6371007.181
SINUSOIDAL = f"+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R={RADIUS} +units=m +no_defs"
DEGREES, UTM = "EPSG:4326", "EPSG:32632"
MODIS_CELL = 1111950.519667 / 1200
MODIS_TOP = 5559752.598333
BLOCK = 256
"""Rows that are made and written at once."""

Ring = Sequence[tuple[float, float]]
"""The corners of a convex polygon."""


@dataclass(frozen=True)
class Grid:
    """Square cells from the north-west corner on; left, top and cell in units of the CRS."""

    crs: str
    left: float
    top: float
    cell: float
    columns: int
    rows: int

    @property
    def affine(self) -> tuple[float, float, float, float, float, float]:
        """The transform as GDAL takes it."""
        return (self.left, self.cell, 0.0, self.top, 0.0, -self.cell)

    def blocks(self, step: int = BLOCK) -> Iterator[tuple[int, int]]:
        """Yield first row and number of rows from the top."""
        for row in range(0, self.rows, step):
            yield row, min(step, self.rows - row)

    def shares(self, row: int, rows: int) -> tuple[Any, Any]:
        """Return how far to the east (1, columns) and south (rows, 1) cells lie, from 0 to 1."""
        across = (numpy.arange(self.columns) + 0.5) / self.columns
        down = (row + numpy.arange(rows) + 0.5) / self.rows
        return across[None, :], down[:, None]

    def finer(self, times: int) -> Grid:
        """Return the grid whose cells are parts of these."""
        return Grid(self.crs, self.left, self.top, self.cell / times, self.columns * times,
                    self.rows * times)  # fmt: skip

    def part(self, first: int, columns: int) -> Grid:
        """Return some columns as a tile."""
        left = self.left + first * self.cell
        return Grid(self.crs, left, self.top, self.cell, columns, self.rows)


@dataclass(frozen=True)
class Zone:
    """A zone with its corners in the CRS of its layer."""

    name: str
    ring: Ring


def rectangle(west: float, south: float, east: float, north: float) -> Ring:
    """Return the corners of a rectangle."""
    return ((west, south), (east, south), (east, north), (west, north))


def projected(zone: Zone) -> Zone:
    """Return a zone in degrees in the sinusoidal system, its corners moved and joined straight."""
    ring = []
    for longitude, latitude in zone.ring:
        phi = math.radians(latitude)
        ring.append((RADIUS * math.radians(longitude) * math.cos(phi), RADIUS * phi))
    return Zone(zone.name, tuple(ring))


def labels(zones: Sequence[Zone], grid: Grid, row: int, rows: int) -> Any:
    """Return by cell the place of the zone that holds its middle, -1 for none (rows, columns)."""
    x = grid.left + (numpy.arange(grid.columns) + 0.5) * grid.cell
    y = grid.top - (row + numpy.arange(rows) + 0.5) * grid.cell
    found = numpy.full((rows, grid.columns), -1, dtype=numpy.int32)
    for place, zone in enumerate(zones):
        east, north = zip(*zone.ring)
        across = numpy.flatnonzero((x > min(east)) & (x < max(east)))
        down = numpy.flatnonzero((y > min(north)) & (y < max(north)))
        if across.size and down.size:
            inside = _inside(zone.ring, x[across][None, :], y[down][:, None])
            window = numpy.ix_(down, across)
            found[window] = numpy.where(inside, place, found[window])
    return found


def _inside(ring: Ring, x: Any, y: Any) -> Any:
    """Tell which places lie on the same side of every edge of a convex ring."""
    sides = [
        (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]])
    ]
    left = numpy.logical_and.reduce([side > 0 for side in sides])
    return left | numpy.logical_and.reduce([side < 0 for side in sides])


def modis_grid(cells: int) -> Grid:
    """Return a square of cells of about 1 km within the MODIS tile h18v04; as large as it, the
    whole tile."""
    column, row = min(750, 1200 - cells), min(480, 1200 - cells)
    return Grid(SINUSOIDAL, column * MODIS_CELL, MODIS_TOP - row * MODIS_CELL, MODIS_CELL, cells,
                cells)  # fmt: skip


def box_within(grid: Grid) -> tuple[float, float, float, float]:
    """Return west, south, east, north in degrees of a rectangle that lies within a sinusoidal
    grid of the northern hemisphere."""
    bottom = grid.top - grid.rows * grid.cell
    south, north = bottom / RADIUS, grid.top / RADIUS
    right = grid.left + grid.columns * grid.cell
    west = grid.left / (RADIUS * math.cos(north))
    east = right / (RADIUS * math.cos(south))
    return tuple(math.degrees(one) for one in (west, south, east, north))  # type: ignore[return-value]


def degree_grid(box: tuple[float, float, float, float], arcseconds: int) -> Grid:
    """Return the cells of the global grid of so many arc seconds that hold a box."""
    cell = arcseconds / 3600
    west, south, east, north = box
    first, last = math.floor(west / cell), math.ceil(east / cell)
    top, bottom = math.ceil(north / cell), math.floor(south / cell)
    return Grid(DEGREES, first * cell, top * cell, cell, last - first, top - bottom)
