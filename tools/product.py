# SPDX-License-Identifier: GPL-2.0-or-later
"""What a satellite product's numbers mean: scale, offset, fill value and which band sees what,
taken from resources/products.json by the names and the metadata of a raster."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from .base import MendableError
from .raster import opened
from .source import RasterSource

_TABLE = Path(__file__).resolve().parent.parent / "resources" / "products.json"
IDS = (
    "sentinel-2",
    "sentinel-2 before 04.00",
    "landsat 8-9",
    "landsat 4-7",
    "landsat 4-7 raw",
    "modis reflectance",
    "modis vegetation index",
    "modis temperature",
    "landsat temperature",
    "none",
)
"""The ids of the table, in its order; a test holds the two together."""

ROLES = ("blue", "green", "red", "nir", "swir1", "swir2")
_ROLE_WORDS = {
    "nir": ("NEAR.?INFRA.?RED",),
    "swir1": ("SWIR.1", "SWIR16"),
    "swir2": ("SWIR.2", "SWIR22"),
}
_BASELINE = re.compile(r"_N(\d{2})(\d{2})(?:_|\b)|BASELINE\W*(\d{1,2})\.(\d{2})", re.IGNORECASE)
_ADDED = re.compile(r"(?:RADIO|BOA)_ADD_OFFSET")
_SENTINEL, _OLD = "sentinel-2", "sentinel-2 before 04.00"
_SENTINEL_BANDS = re.compile(r"(?:^|[^A-Z0-9])B(?:0[1-9]|8A|1[0-2])(?:[^0-9]|$)")
NONE = "none"


@dataclass(frozen=True)
class Product:
    """A product: value = stored * scale + offset; `bands` gives by role the name of the band,
    `order` the roles of the bands of a file without names."""

    id: str
    title: str
    scale: float
    offset: float
    nodata: float | None
    match: str
    bands: dict[str, str]
    order: tuple[str, ...] = ()
    unit: str = ""
    reason: str = field(default="", compare=False)

    def is_raw(self) -> bool:
        """Tell whether the stored values are taken as they are."""
        return (self.scale, self.offset) == (1, 0)

    def words(self) -> str:
        """Say how values are read, for a note."""
        if self.is_raw():
            return "Values are taken as stored, without scale or offset."
        why = f" ({self.reason})" if self.reason else ""
        sign = "-" if self.offset < 0 else "+"
        offset = f" {sign} {abs(self.offset):g}" if self.offset else ""
        return f"{self.title}{why}: value = stored * {self.scale:g}{offset}."


@lru_cache(maxsize=1)
def products() -> dict[str, Product]:
    """Return the known products by id."""
    data = json.loads(_TABLE.read_text(encoding="utf-8"))["products"]
    found = [Product(**{**one, "order": tuple(one.get("order", ()))}) for one in data]
    return {one.id: one for one in found}


def names_of(source: RasterSource) -> str:
    """Return what a raster is called: its name, its file, its bands, in capitals."""
    file = Path(source.source.partition("|")[0].rpartition(":")[2].strip('"')).name
    return " ".join([source.key, file, *(band.name for band in source.bands)]).upper()


def recognised(source: RasterSource) -> Product | None:
    """Return the product that a raster's names or metadata tell, None for an unknown one.

    Raises MendableError for Sentinel-2 whose processing baseline is not known, since the offset
    depends on it.
    """
    text = names_of(source)
    dataset = opened(source)
    metadata = dict(dataset.GetMetadata())
    for band in source.bands:
        metadata.update(dataset.GetRasterBand(band.number).GetMetadata())
    for one in products().values():
        if one.match and re.search(one.match, text):
            return _with_baseline(one, source, text, metadata) if one.id == _SENTINEL else one
    if _SENTINEL_BANDS.search(text) or any(_ADDED.search(key.upper()) for key in metadata):
        return _with_baseline(products()[_SENTINEL], source, text, metadata)
    return None


def _with_baseline(
    product: Product, source: RasterSource, text: str, metadata: dict[str, str]
) -> Product:
    for key, value in metadata.items():
        if _ADDED.search(key.upper()):
            added = float(value) * product.scale
            return replace(product, offset=added, reason=f"{key} {value}")
    told = " ".join([text, *(f"{key} {value}" for key, value in metadata.items())])
    found = _BASELINE.search(told)
    if found:
        major, minor = (int(one) for one in found.groups() if one is not None)
        chosen = products()[_SENTINEL if (major, minor) >= (4, 0) else _OLD]
        return replace(chosen, reason=f"baseline {major:02}.{minor:02}")
    raise MendableError(
        f"{source.key} looks like Sentinel-2, but its processing baseline is not known. Say the "
        f'product: "{_SENTINEL}" when processed since 25 January 2022, else "{_OLD}".'
    )


def is_scaled(source: RasterSource) -> bool:
    """Tell whether the file itself carries scale or offset, which reading applies already."""
    dataset = opened(source)
    bands = [dataset.GetRasterBand(band.number) for band in source.bands]
    return any(
        band.GetScale() not in (None, 1.0) or band.GetOffset() not in (None, 0.0) for band in bands
    )


def role_bands(source: RasterSource, product: Product | None) -> dict[str, int]:
    """Return by role the number of the band that the names tell."""
    found: dict[str, int] = {}
    for band in source.bands:
        for name in (band.name, source.key if len(source.bands) == 1 else ""):
            for role in ROLES:
                if role not in found and _plays(role, name.upper(), product):
                    found[role] = band.number
    if not found and product is not None and len(product.order) == len(source.bands):
        found = {role: place + 1 for place, role in enumerate(product.order)}
    return found


def _plays(role: str, name: str, product: Product | None) -> bool:
    """Tell whether a band's name, in capitals, says that it plays a role."""
    words = [role.upper(), *_ROLE_WORDS.get(role, ())]
    if product is not None and role in product.bands:
        words.append(product.bands[role])
    return re.search(rf"(?:^|[^A-Z0-9])(?:{'|'.join(words)})(?:[^A-Z0-9]|$)", name) is not None
