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


Label = tuple[Image, str, str]
"""The image of a label, its class, and its geometry as WKT."""


def make_vision(setting: Setting, truth: Truth) -> None:
    """Write all images and labels and count what is true of them."""
    for one in OBJECTS:
        _write(setting, one, ogr.wkbPolygon, _objects(setting, one), truth)
    _write(setting, PATCHES, ogr.wkbPoint, _patches(setting), truth)


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


def _write(
    setting: Setting, collection: Collection, kind: int, labels: Iterator[Label], truth: Truth
) -> None:
    """Write the images and the labels of a collection, and count both."""
    counts: Counter[str] = Counter()

    def images() -> Iterator[Row]:
        for one in images_of(setting, collection):
            counts.update(_keys(setting, collection.images, one, ""))
            name = f"{collection.name}_{one.number:06}.tif"
            uoi = f"{collection.name[0]}i{one.number}"
            yield _point(one), [one.number, name, one.day, uoi]

    def rows() -> Iterator[Row]:
        for serial, (one, name, shape) in enumerate(labels, start=1):
            counts.update(_keys(setting, collection.labels, one, name))
            yield shape, [one.number, name, one.day, f"{collection.name[0]}l{serial}"]

    fields = {"image_id": "integer", "filename": "text", "date": "date", "uoi": "text"}
    path = setting.place("vision", f"{collection.images}.gpkg")
    write_layer(path, ogr.wkbPoint, DEGREES, fields, images())
    fields = {"image_id": "integer", "cat_name": "text", "date": "date", "uoi": "text"}
    path = setting.place("vision", f"{collection.labels}.gpkg")
    write_layer(path, kind, DEGREES, fields, rows())
    truth.numbers.update({key: float(counts[key]) for key in sorted(counts)})


def _objects(setting: Setting, collection: Collection) -> Iterator[Label]:
    """Yield the boxes of objects around each image's place."""
    for one in images_of(setting, collection):
        numbers = chance(setting.seed, collection.labels, one.number)
        for _ in range(int(numbers.poisson(setting.size.labels))):
            name = str(numbers.choice(collection.classes, p=collection.shares))
            dx, dy = numbers.uniform(-5 * _SIDE, 5 * _SIDE, 2)
            width, height = numbers.uniform(_SIDE / 4, _SIDE, 2)
            ring = rectangle(one.x + dx, one.y + dy, one.x + dx + width, one.y + dy + height)
            yield one, name, polygon(ring)


def _patches(setting: Setting) -> Iterator[Label]:
    """Yield one to three classes of each image."""
    for one in images_of(setting, PATCHES):
        numbers = chance(setting.seed, PATCHES.labels, one.number)
        size = int(numbers.integers(1, 4))
        for name in numbers.choice(PATCHES.classes, size, replace=False, p=PATCHES.shares):
            yield one, str(name), _point(one)


def _point(image: Image) -> str:
    return f"POINT ({image.x:.17g} {image.y:.17g})"


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


def counted(truth: Truth, layer: str, name: str = "", month: str = "", district: str = "") -> int:
    """Return how many images or objects there are of a class, in a month, in a district."""
    return int(truth.numbers.get(f"count {layer} | {name} | {month} | {district}", 0))
