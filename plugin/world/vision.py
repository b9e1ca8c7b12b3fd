# SPDX-License-Identifier: GPL-2.0-or-later
"""Images with labelled objects and land cover, as the papers' agents have them: GeoPackages of
points, boxes, and a row for each image and class."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from osgeo import ogr

from .chance import chance
from .ground import DEGREES, rectangle
from .setting import OUTSIDE, Setting
from .truth import Truth
from .vector_file import Row, polygon, write_layer

START, DAYS = datetime.date(2024, 1, 1), 240
_SIDE = 0.0004
"""Degrees of the largest box."""


@dataclass(frozen=True)
class Collection:
    """A collection of images, its classes with their shares, and who may read its labels."""

    name: str
    classes: tuple[str, ...]
    shares: tuple[float, ...]
    readers: tuple[str, ...]

    @property
    def images(self) -> str:
        """The name of the layer of images."""
        return f"{self.name}_images"

    @property
    def labels(self) -> str:
        """The name of the layer of labels."""
        return f"{self.name}_labels"


SKYVIEW = Collection(
    "skyview", ("Small Car", "Truck", "Building", "Aircraft"), (0.45, 0.2, 0.3, 0.05),
    ("Swin-L", "YOLO-v8"),
)  # fmt: skip
HARBOUR = Collection(
    "harbour", ("Cargo Ship", "Fishing Boat", "Crane"), (0.3, 0.55, 0.15), ("Swin-L",)
)
PATCHES = Collection(
    "landpatch", ("Broadleaf forest", "Pasture", "Inland water", "Urban fabric", "Vineyard"),
    (0.3, 0.3, 0.1, 0.2, 0.1), ("ResNet-32",),
)  # fmt: skip
OBJECTS = (SKYVIEW, HARBOUR)


@dataclass(frozen=True)
class Image:
    """An image of a collection."""

    number: int
    day: str
    x: float
    y: float


def make_vision(setting: Setting, truth: Truth) -> None:
    """Write all images and labels and count what is true of them."""
    for collection in OBJECTS:
        _objects(setting, collection, truth)
    _patches(setting, truth)


def images_of(setting: Setting, collection: Collection) -> Iterator[Image]:
    """Yield the images of a collection, in their order."""
    west, south, east, north = setting.box
    for block in range(0, setting.size.images, 1000):
        numbers = chance(setting.seed, collection.images, block)
        count = min(1000, setting.size.images - block)
        days = numbers.integers(0, DAYS, count)
        x, y = numbers.uniform(west, east, count), numbers.uniform(south, north, count)
        for place in range(count):
            day = START + datetime.timedelta(int(days[place]))
            yield Image(block + place + 1, day.isoformat(), float(x[place]), float(y[place]))


def zone_of(setting: Setting, x: float, y: float) -> str:
    """Return the name of the district that holds a place in degrees, "" for none."""
    for zone in setting.districts:
        east, north = zip(*zone.ring)
        if min(east) < x < max(east) and min(north) < y < max(north):
            return zone.name
    return ""


def _objects(setting: Setting, collection: Collection, truth: Truth) -> None:
    counts: Counter[str] = Counter()

    def images() -> Iterator[Row]:
        for one in images_of(setting, collection):
            counts.update(_keys(setting, collection.images, one, ""))
            name = f"{collection.name}_{one.number:06}.tif"
            yield f"POINT ({one.x:.17g} {one.y:.17g})", [
                one.number, name, one.day, f"{collection.name[0]}i{one.number}",
            ]  # fmt: skip

    def labels() -> Iterator[Row]:
        serial = 0
        for one in images_of(setting, collection):
            numbers = chance(setting.seed, collection.labels, one.number)
            for _ in range(int(numbers.poisson(setting.size.labels))):
                serial += 1
                name = str(numbers.choice(collection.classes, p=collection.shares))
                counts.update(_keys(setting, collection.labels, one, name))
                dx, dy = numbers.uniform(-5 * _SIDE, 5 * _SIDE, 2)
                width, height = numbers.uniform(_SIDE / 4, _SIDE, 2)
                ring = rectangle(one.x + dx, one.y + dy, one.x + dx + width, one.y + dy + height)
                uoi = f"{collection.name[0]}l{serial}"
                yield polygon(ring), [one.number, name, one.day, uoi]

    fields = {"image_id": "integer", "filename": "text", "date": "date", "uoi": "text"}
    path = setting.place("vision", f"{collection.images}.gpkg")
    write_layer(path, ogr.wkbPoint, DEGREES, fields, images())
    fields = {"image_id": "integer", "cat_name": "text", "date": "date", "uoi": "text"}
    path = setting.place("vision", f"{collection.labels}.gpkg")
    write_layer(path, ogr.wkbPolygon, DEGREES, fields, labels())
    _keep(counts, truth)


def _patches(setting: Setting, truth: Truth) -> None:
    counts: Counter[str] = Counter()

    def images() -> Iterator[Row]:
        for one in images_of(setting, PATCHES):
            counts.update(_keys(setting, PATCHES.images, one, ""))
            place = f"POINT ({one.x:.17g} {one.y:.17g})"
            yield place, [one.number, f"patch_{one.number:06}.tif", one.day, f"pi{one.number}"]

    def labels() -> Iterator[Row]:
        serial = 0
        for one in images_of(setting, PATCHES):
            numbers = chance(setting.seed, PATCHES.labels, one.number)
            size = int(numbers.integers(1, 4))
            for name in numbers.choice(PATCHES.classes, size, replace=False, p=PATCHES.shares):
                serial += 1
                counts.update(_keys(setting, PATCHES.labels, one, str(name)))
                place = f"POINT ({one.x:.17g} {one.y:.17g})"
                yield place, [one.number, str(name), one.day, f"pl{serial}"]

    fields = {"image_id": "integer", "filename": "text", "date": "date", "uoi": "text"}
    path = setting.place("vision", f"{PATCHES.images}.gpkg")
    write_layer(path, ogr.wkbPoint, DEGREES, fields, images())
    fields = {"image_id": "integer", "cat_name": "text", "date": "date", "uoi": "text"}
    path = setting.place("vision", f"{PATCHES.labels}.gpkg")
    write_layer(path, ogr.wkbPoint, DEGREES, fields, labels())
    _keep(counts, truth)


def _keys(setting: Setting, layer: str, image: Image, name: str) -> list[str]:
    """Return under what an image, or an object in it, is counted: by month, by district, by both,
    each with and without its class."""
    month, zone = image.day[:7], zone_of(setting, image.x, image.y) or OUTSIDE
    kinds = ["", name] if name else [""]
    return [
        f"count {layer} | {kind} | {when} | {where}"
        for kind in kinds
        for when in ("", month)
        for where in ("", zone)
    ]


def _keep(counts: Counter[str], truth: Truth) -> None:
    truth.numbers.update({key: float(counts[key]) for key in sorted(counts)})


def counted(truth: Truth, layer: str, name: str = "", month: str = "", district: str = "") -> int:
    """Return how many images or objects there are of a class, in a month, in a district."""
    return int(truth.numbers.get(f"count {layer} | {name} | {month} | {district}", 0))
