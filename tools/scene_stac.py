# SPDX-License-Identifier: GPL-2.0-or-later
"""The items of STAC catalogues on the disk, read by pystac; addresses are never followed."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import MendableError
from .package import package
from .scene_part import ENDINGS

ROOTS = ("catalog.json", "collection.json")
_PURPOSE = "Reading a STAC catalogue"
_METADATA_ROLES = {"thumbnail", "overview", "metadata"}


@dataclass(frozen=True)
class Asset:
    """A raster file of an item, with what the item says of it."""

    path: Path
    product: str
    day: datetime.date | None
    cloud: float | None


def is_root(path: Path) -> bool:
    """Tell whether a file is a STAC catalogue or collection that no other beside it holds."""
    return path.name == ROOTS[0] or (
        path.name == ROOTS[1] and not (path.parent.parent / ROOTS[0]).exists()
        and not (path.parent / ROOTS[0]).exists()
    )  # fmt: skip


def assets(root: Path, readable: Callable[[str], Path]) -> Iterator[Asset | str]:
    """Yield the raster files of a catalogue, and a sentence for each one that is not there.

    `readable` returns the file of a path that may be read, or raises MendableError. Raises
    LastingError when pystac is missing, MendableError for a file that is no catalogue.
    """
    pystac = package("pystac", _PURPOSE, "index the folder of its pictures")
    try:
        catalogue = pystac.read_file(str(root), stac_io=_local(pystac, readable))
        items = list(catalogue.get_items(recursive=True))
    except (OSError, ValueError, KeyError, TypeError, pystac.STACError) as error:
        raise MendableError(f"{root.name} cannot be read as a STAC catalogue: {error}") from error
    for item in items:
        yield from _files(item, readable)


def _local(pystac: Any, readable: Callable[[str], Path]) -> Any:
    """Return a reader of files alone: an address in a catalogue is refused."""

    class Local(pystac.stac_io.DefaultStacIO):  # type: ignore[misc]
        """Reads files on the disk."""

        def read_text(self, source: Any, *rest: Any, **named: Any) -> str:
            """Read a file. Raises OSError for an address, MendableError for one elsewhere."""
            text = str(source)
            if "://" in text:
                raise OSError(f"{text} is an address, not a file")
            return readable(text).read_text(encoding="utf-8")

    return Local()


def _files(item: Any, readable: Callable[[str], Path]) -> Iterator[Asset | str]:
    day = item.datetime or item.common_metadata.start_datetime
    cloud = item.properties.get("eo:cloud_cover")
    for key, asset in item.assets.items():
        place = asset.get_absolute_href() or asset.href
        if set(asset.roles or ()) & _METADATA_ROLES or not place.lower().endswith(ENDINGS):
            continue
        if "://" in place and not place.startswith("file://"):
            yield f"{item.id}, {key}: {place} is an address; only files are indexed."
            continue
        try:
            path = readable(place.removeprefix("file://"))
        except MendableError as error:
            yield f"{item.id}, {key}: {error.message}"
            continue
        if not path.is_file():
            yield f"{item.id}, {key}: there is no file {path}."
            continue
        yield Asset(
            path,
            item.collection_id or "",
            day.date() if day is not None else None,
            float(cloud) if isinstance(cloud, (int, float)) else None,
        )
