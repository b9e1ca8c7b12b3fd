# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a world lies: its folder, its seed and size, its grids and its zones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .chance import chance
from .ground import (
    DEGREES,
    UTM,
    Grid,
    Zone,
    box_within,
    degree_grid,
    modis_grid,
    projected,
    rectangle,
)
from .size import Size
from .vector_file import write_zones

DISTRICTS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir")
FIELDS = ("Long Acre", "Mill Field", "North Leys", "Old Meadow", "Park Piece", "Quarry Close")
FORESTS = ("High Wood", "Low Wood", "Kings Chase")
OUTSIDE = "Far Isle"
"""A district that no product covers."""
_LEFT, _TOP, _CELL = 500_000.0, 5_080_000.0, 10.0
_GAP = 0.06
"""Share of a zone's plot that is left free on each side, at most."""


@dataclass(frozen=True)
class Setting:
    """One world; `folder` holds its products, zones and images."""

    seed: int
    size: Size
    folder: Path

    @cached_property
    def modis(self) -> Grid:
        """The 1 km grid of MODIS and VIIRS."""
        return modis_grid(self.size.modis)

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """West, south, east, north in degrees of what every product of the region covers."""
        return box_within(self.modis)

    @cached_property
    def people(self) -> Grid:
        """The grid of GHSL and WorldPop."""
        return degree_grid(self.box, self.size.arcseconds)

    @cached_property
    def scene(self) -> Grid:
        """The 10 m grid of Sentinel-2 and the land cover."""
        return Grid(UTM, _LEFT, _TOP, _CELL, self.size.sentinel, self.size.sentinel)

    @cached_property
    def trees(self) -> Grid:
        """The grid of the tree cover, one arc second."""
        west, _, _, north = self.box
        corner = degree_grid((west, north - 1 / 3600, west + 1 / 3600, north), 1)
        return Grid(DEGREES, corner.left, corner.top, 1 / 3600, self.size.forest, self.size.forest)

    @cached_property
    def districts(self) -> tuple[Zone, ...]:
        """The districts, in degrees."""
        west, south, east, north = self.box
        return self._plots(DISTRICTS, 3, (west, south, east, north), "districts")

    @cached_property
    def sinusoidal_districts(self) -> tuple[Zone, ...]:
        """The districts as they lie on the grid of MODIS."""
        return tuple(projected(one) for one in self.districts)

    @cached_property
    def fields(self) -> tuple[Zone, ...]:
        """The fields, in UTM."""
        return self._plots(FIELDS, 3, _extent(self.scene), "fields")

    @cached_property
    def forests(self) -> tuple[Zone, ...]:
        """The forests, in degrees."""
        return self._plots(FORESTS, 3, _extent(self.trees), "forests")

    def place(self, *parts: str) -> Path:
        """Return a path in the world, with its folder made."""
        path = self.folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_zones(self) -> None:
        """Write the layers of zones."""
        far = Zone(OUTSIDE, rectangle(-60.0, -20.0, -59.5, -19.5))
        write_zones(self.place("zones", "districts.gpkg"), (*self.districts, far), DEGREES)
        write_zones(self.place("zones", "fields.gpkg"), self.fields, UTM)
        write_zones(self.place("zones", "forests.gpkg"), self.forests, DEGREES)

    def _plots(
        self, names: tuple[str, ...], across: int, box: tuple[float, float, float, float], what: str
    ) -> tuple[Zone, ...]:
        """Return rectangles with gaps of chance between them, in rows from the north-west."""
        west, south, east, north = box
        width, height = (east - west) / across, (north - south) * across / len(names)
        numbers = chance(self.seed, what)
        found = []
        for place, name in enumerate(names):
            row, column = divmod(place, across)
            gap = numbers.uniform(_GAP / 3, _GAP, 4)
            left, top = west + column * width, north - row * height
            ring = rectangle(
                left + gap[0] * width, top - (1 - gap[1]) * height,
                left + (1 - gap[2]) * width, top - gap[3] * height,
            )  # fmt: skip
            found.append(Zone(name, ring))
        return tuple(found)


def _extent(grid: Grid) -> tuple[float, float, float, float]:
    return (grid.left, grid.top - grid.rows * grid.cell, grid.left + grid.columns * grid.cell,
            grid.top)  # fmt: skip
