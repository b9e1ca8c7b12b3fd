# SPDX-License-Identifier: GPL-2.0-or-later
"""A made-up earthquake: four towns by the names of the papers' study, their buildings, rasters of
damage classes of two days, and people. No number in it is of the real event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy
from osgeo import ogr

from .chance import chance
from .ground import Grid, Zone, rectangle
from .raster_file import raster_file
from .setting import Setting
from .vector_file import Row, polygon, write_layer, write_zones

CRS = "EPSG:32637"
CITIES = ("Kahramanmaraş", "Nurdağı", "İslahiye", "Türkoğlu")
DAYS = ("2023-02-07", "2023-02-09")
BACKGROUND, BUILDING, DAMAGED, UNKNOWN = 1, 2, 3, 4
_LEFT, _TOP = 300_000.0, 4_150_000.0
_BLOCK = 100
"""Metres, and cells of damage, along a block."""
_PLOT = 50
_SEVERITY = {"Kahramanmaraş": (0.34, 0.46), "Nurdağı": (0.2, 0.3), "İslahiye": (0.12, 0.2),
             "Türkoğlu": (0.05, 0.1)}  # fmt: skip
"""Chance of damage of a building by the first day, and by the second."""
_CLOUD = 0.04
_PEOPLE = {"Kahramanmaraş": 120, "Nurdağı": 60, "İslahiye": 75, "Türkoğlu": 40}
_CORNER = 0.25
"""Footprints lie a quarter of a cell off the grid, so that no cell's middle is on an edge."""


def damage_layer(day: str) -> str:
    """Return the name of the raster of a day."""
    return f"damage_{day.replace('-', '_')}"


@dataclass(frozen=True)
class Building:
    """A building by its cells: first column, row below its block's top, width and height."""

    number: int
    column: int
    row: int
    width: int
    height: int


@dataclass
class Block:
    """A block of 100 m: its city, its people, the buildings in it, and of those that are damaged
    on each day how many columns of cells are."""

    city: str
    place: tuple[int, int]
    people: float
    buildings: list[Building]
    damaged: dict[str, dict[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """What is true: every block with its buildings."""

    blocks: tuple[Block, ...]

    def of(self, city: str) -> list[Block]:
        """Return the blocks of a city, all for ""."""
        return [one for one in self.blocks if city in ("", one.city)]

    def total(self, city: str) -> int:
        """Return the number of buildings."""
        return sum(len(one.buildings) for one in self.of(city))

    def damaged(self, city: str, day: str) -> int:
        """Return the number of damaged buildings."""
        return sum(len(one.damaged[day]) for one in self.of(city))

    def heavy(self, city: str, day: str) -> int:
        """Return the number of buildings with more than half of their footprint damaged."""
        return sum(
            2 * block.damaged[day].get(one.number, 0) > one.width
            for block in self.of(city)
            for one in block.buildings
        )

    def percent(self, city: str, day: str) -> float:
        """Return the share of damaged buildings in percent."""
        return 100 * self.damaged(city, day) / self.total(city)

    def affected(self, city: str, day: str) -> float:
        """Return the people of the blocks that hold a damaged building."""
        return sum(one.people for one in self.of(city) if one.damaged[day])

    def correlation(self, city: str, day: str) -> float:
        """Return Pearson's correlation of people and damaged buildings over blocks."""
        blocks = self.of(city)
        people = [one.people for one in blocks]
        return float(numpy.corrcoef(people, [len(one.damaged[day]) for one in blocks])[0, 1])


def make_earthquake(setting: Setting) -> Scenario:
    """Write cities, blocks, buildings, people and damage; return what is true."""
    side = max(4, round(setting.size.modis / 12))
    across = 2 * (side + 1)
    scenario = Scenario(tuple(_blocks(setting.seed, side)))
    place = setting.place
    cities = [Zone(name, _city(number, side)) for number, name in enumerate(CITIES)]
    write_zones(place("earthquake", "cities.gpkg"), cities, CRS)
    fields = {"block": "integer", "city": "text"}
    write_layer(place("earthquake", "blocks.gpkg"), ogr.wkbPolygon, CRS, fields,
                _block_rows(scenario))  # fmt: skip
    fields = {"building": "integer", "city": "text"}
    write_layer(place("earthquake", "buildings.gpkg"), ogr.wkbPolygon, CRS, fields,
                _building_rows(scenario))  # fmt: skip
    _write_people(setting, scenario, across)
    for day in DAYS:
        _write_damage(setting, scenario, across, day)
    return scenario


def _city(number: int, side: int) -> Any:
    """Return the corners of a city: the four stand in a square, a block apart."""
    left = _LEFT + (number % 2) * (side + 1) * _BLOCK
    top = _TOP - (number // 2) * (side + 1) * _BLOCK
    return rectangle(left, top - side * _BLOCK, left + side * _BLOCK, top)


def _blocks(seed: int, side: int) -> Iterator[Block]:
    serial = 0
    for number, city in enumerate(CITIES):
        for place in range(side * side):
            numbers = chance(seed, f"earthquake {city}", place)
            column = (number % 2) * (side + 1) + place % side
            row = (number // 2) * (side + 1) + place // side
            buildings = []
            for plot in range(4):
                if numbers.random() < 0.75:
                    serial += 1
                    width, height = (int(one) for one in numbers.integers(8, 26, 2))
                    x = (plot % 2) * _PLOT + int(numbers.integers(5, _PLOT - 5 - width))
                    y = (plot // 2) * _PLOT + int(numbers.integers(5, _PLOT - 5 - height))
                    buildings.append(Building(serial, x, y, width, height))
            people = round(float(numbers.uniform(0.3, 1.7)) * _PEOPLE[city], 1)
            block = Block(city, (column, row), people, buildings)
            _strike(block, numbers)
            yield block


def _strike(block: Block, numbers: Any) -> None:
    """Decide which buildings are damaged by each day, more where more people live."""
    crowded = 0.6 + 0.4 * block.people / _PEOPLE[block.city]
    luck = {one.number: float(numbers.random()) for one in block.buildings}
    for day, chance_of in zip(DAYS, _SEVERITY[block.city]):
        block.damaged[day] = {
            one.number: max(1, int(one.width * numbers.uniform(0.1, 1.0)))
            for one in block.buildings
            if luck[one.number] < chance_of * crowded
        }


def _block_rows(scenario: Scenario) -> Iterator[Row]:
    for number, one in enumerate(scenario.blocks, start=1):
        left, top = _LEFT + one.place[0] * _BLOCK, _TOP - one.place[1] * _BLOCK
        yield polygon(rectangle(left, top - _BLOCK, left + _BLOCK, top)), [number, one.city]


def _building_rows(scenario: Scenario) -> Iterator[Row]:
    for block in scenario.blocks:
        for one in block.buildings:
            left = _LEFT + block.place[0] * _BLOCK + one.column + _CORNER
            top = _TOP - block.place[1] * _BLOCK - one.row - _CORNER
            ring = rectangle(left, top - one.height, left + one.width, top)
            yield polygon(ring), [one.number, block.city]


def _write_people(setting: Setting, scenario: Scenario, across: int) -> None:
    grid = Grid(CRS, _LEFT, _TOP, float(_BLOCK), across, across)
    values = numpy.zeros((across, across), dtype=numpy.float32)
    for one in scenario.blocks:
        values[one.place[1], one.place[0]] = one.people
    with raster_file(setting.place("earthquake", "people.tif"), grid, "float32", -99999.0) as file:
        file.write(0, values)


def _write_damage(setting: Setting, scenario: Scenario, across: int, day: str) -> None:
    """Write the classes of a day, a row of blocks at a time."""
    cells = across * _BLOCK
    grid = Grid(CRS, _LEFT, _TOP, 1.0, cells, cells)
    by_row: dict[int, list[Block]] = {}
    for one in scenario.blocks:
        by_row.setdefault(one.place[1], []).append(one)
    path = setting.place("earthquake", f"{damage_layer(day)}.tif")
    with raster_file(path, grid, "uint8", 0.0) as file:
        for row in range(across):
            strip = numpy.full((_BLOCK, cells), BACKGROUND, dtype=numpy.uint8)
            for block in by_row.get(row, ()):
                for one in block.buildings:
                    _draw(strip, block, one, day, setting.seed)
            file.write(row * _BLOCK, strip)


def _draw(strip: Any, block: Block, one: Building, day: str, seed: int) -> None:
    """Draw a building: damaged cells from its west side on, or a corner that cloud hides."""
    left = block.place[0] * _BLOCK + one.column
    footprint = strip[one.row : one.row + one.height, left : left + one.width]
    footprint[:] = BUILDING
    numbers = chance(seed, f"damage {day}", one.number)
    if one.number in block.damaged[day]:
        footprint[:, : block.damaged[day][one.number]] = DAMAGED
    elif numbers.random() < _CLOUD:
        footprint[: one.height // 2] = UNKNOWN
