# SPDX-License-Identifier: GPL-2.0-or-later
"""What a catalogue keeps of a scene, read from headers alone: footprint, date, product, sensor,
bands, resolution and cloud."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, replace
from pathlib import Path

from osgeo import gdal, ogr, osr

from .base import MendableError
from .date_name import date_of
from .observation_product import VALUE, ProductFamily, recognised
from .scene_part import MTL, SAFE, Part, opened_scene, part_named, parts_of, system_of
from .scene_time import band_days

_SIDE = 10
"""Points along each side of a grid by which its footprint is bent into degrees."""
_FEWEST = 4
_DEGREE_M = 111_320.0
_MTL_LINE = re.compile(r"^\s*(\w+)\s*=\s*\"?([^\"\n]*)\"?\s*$", re.MULTILINE)
_CLOUD = re.compile(r"<Cloud_Coverage_Assessment>([\d.]+)<")
_LARGEST_TEXT = 5_000_000


@dataclass(frozen=True)
class SceneRow:
    """A row of the catalogue: a scene of several files, a file, or one of its subdatasets.

    `footprint` is WKB in EPSG:4326; `day` and `until` are None where nothing tells a date;
    `resolution` is in metres; `cloud` in percent; `path` is absolute.
    """

    scene: str
    product: str
    sensor: str
    measures: str
    bands: str
    path: str
    subdataset: str
    crs: str
    footprint: bytes
    resolution: float
    day: datetime.date | None = None
    until: datetime.date | None = None
    cloud: float | None = None


def rows_of(
    path: Path, product: str = "", day: datetime.date | None = None, cloud: float | None = None
) -> list[SceneRow]:
    """Return the rows of a scene by its file, SAFE folder or MTL file.

    `product`, `day` and `cloud` are what a STAC item says where the file does not. Raises
    MendableError for a damaged file and for one without georeference.
    """  # fmt: skip
    family = recognised(path.name) or recognised(product)
    parts = parts_of(str(path))
    if not parts:
        raise MendableError(f"{path.name} holds no raster.")
    told = _told(path, family)
    day, cloud = told[0] or day, told[1] if told[1] is not None else cloud
    whole = any(one.band for one in parts)  # bands of one grid, or files of one scene
    found: list[SceneRow] = []
    reason = ""
    for part in parts[:1] if whole else parts:
        measures = _measures(parts if whole else [part], family, parts)
        if family is not None and not measures and not whole:
            continue  # quality flags, angles
        try:
            found.append(_row(path, part, parts if whole else [part], measures, family))
        except MendableError as error:
            reason = reason or error.message
    if not found:
        raise MendableError(reason or f"{path.name} holds none of the bands of {product or 'it'}.")
    until = family.until(day) if family is not None and day is not None else day
    return [
        replace(one, day=one.day or day, until=one.until or until, cloud=cloud) for one in found
    ]


def _measures(shown: list[Part], family: ProductFamily | None, parts: list[Part]) -> list[str]:
    """Return what some parts measure; NDVI beside red where the scene has near infrared too."""
    if family is None:
        return [VALUE]
    found = [
        one.name for one in family.measures if part_named(shown, one.band, one.number) is not None
    ]
    near = family.measure("nir")
    if "red" in found and near is not None and part_named(parts, near.band, near.number):
        found.append("ndvi")
    return found


def _row(
    path: Path, part: Part, shown: list[Part], measures: list[str], family: ProductFamily | None
) -> SceneRow:
    dataset = opened_scene(part.path, path.name)
    days = sorted(one for one in band_days(dataset) if one is not None) if not family else []
    system, footprint = _footprint(dataset, path.name)
    single = part.path if part.band == 0 else ""
    return SceneRow(
        scene=path.name.removesuffix(MTL).removesuffix(SAFE),
        product=family.id if family else "",
        sensor=family.sensor if family else "",
        measures=" ".join(one.replace(" ", "_") for one in measures),
        bands=", ".join(one.name for one in shown)[:500],
        path=str(path),
        subdataset=single,
        crs=_name(system),
        footprint=footprint,
        resolution=_resolution(dataset, system),
        day=days[0] if days else None,
        until=days[-1] if days else None,
    )


def _footprint(dataset: gdal.Dataset, name: str) -> tuple[osr.SpatialReference, bytes]:
    """Return the CRS and the outline in EPSG:4326. Raises MendableError without georeference."""
    transform = dataset.GetGeoTransform(can_return_null=True)
    system = system_of(dataset)
    if transform is None or system is None:
        raise MendableError(f"{name} has no georeference: nothing tells where it lies.")
    degrees = osr.SpatialReference()
    degrees.ImportFromEPSG(4326)
    degrees.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    way = osr.CoordinateTransformation(system, degrees)
    ring = ogr.Geometry(ogr.wkbLinearRing)
    for column, row in _outline(dataset.RasterXSize, dataset.RasterYSize):
        x, y = gdal.ApplyGeoTransform(transform, column, row)
        place = _place(way, x, y)
        if place is not None:
            ring.AddPoint_2D(*place)
    if ring.GetPointCount() < _FEWEST:
        raise MendableError(f"{name} lies outside the Earth: its CRS or its corners are wrong.")
    ring.CloseRings()
    polygon = ogr.Geometry(ogr.wkbPolygon)
    polygon.AddGeometry(ring)
    return system, bytes(polygon.ExportToIsoWkb())


def _place(way: osr.CoordinateTransformation, x: float, y: float) -> tuple[float, float] | None:
    """Return longitude and latitude, None off the Earth (the corners of a global projection)."""
    try:
        longitude, latitude, _ = way.TransformPoint(x, y)
    except RuntimeError:
        return None
    return (longitude, latitude) if abs(longitude) <= 360 and abs(latitude) <= 90.001 else None


def _outline(columns: int, rows: int) -> list[tuple[float, float]]:
    shares = [place / _SIDE for place in range(_SIDE)]
    return [
        *((columns * one, 0.0) for one in shares),
        *((float(columns), rows * one) for one in shares),
        *((columns * (1 - one), float(rows)) for one in shares),
        *((0.0, rows * (1 - one)) for one in shares),
        (0.0, 0.0),
    ]


def _resolution(dataset: gdal.Dataset, system: osr.SpatialReference) -> float:
    """Return the width of a cell in metres; of degrees on the equator."""
    width = abs(dataset.GetGeoTransform()[1])
    unit = _DEGREE_M if system.IsGeographic() else system.GetLinearUnits()
    return round(width * unit, 3)


def _name(system: osr.SpatialReference) -> str:
    code = system.GetAuthorityCode(None)
    return f"{system.GetAuthorityName(None)}:{code}" if code else system.GetName() or "custom CRS"


def _told(path: Path, family: ProductFamily | None) -> tuple[datetime.date | None, float | None]:
    """Return the date and the cloud in percent that a scene's metadata or name tell."""
    if path.name.endswith(MTL):
        fields = dict(_MTL_LINE.findall(_text(path)))
        cloud = fields.get("CLOUD_COVER", "")
        return date_of(fields.get("DATE_ACQUIRED", "")) or date_of(path.name), _percent(cloud)
    day = family.day(path.name) if family is not None else date_of(path.name)
    if path.suffix == SAFE:
        texts = [_text(one) for one in sorted(path.glob("MTD_*.xml"))]
        found = _CLOUD.search("".join(texts))
        return day, _percent(found.group(1)) if found else None
    return day, None


def _text(path: Path) -> str:
    if path.stat().st_size > _LARGEST_TEXT:
        raise MendableError(f"{path.name} is too large to be the metadata of a scene.")
    return path.read_text(encoding="utf-8", errors="replace")


def _percent(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 100 else None
