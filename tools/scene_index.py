# SPDX-License-Identifier: GPL-2.0-or-later
"""Indexing folders of satellite products and STAC catalogues into one catalogue of scenes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qgis.core import QgsVectorLayer

from . import argument, wording
from .base import LastingError, MendableError, ToolDefinition, ToolResult
from .context import Context
from .registry import Unchecked
from .scene_catalogue import SCENES, Entry, Stamp, read, write
from .scene_header import rows_of
from .scene_part import ENDINGS, MTL, SAFE
from .scene_stac import Asset, assets, is_root
from .selection import titled
from .spelling import listed

_FILE = "scenes.gpkg"
_REASONS = 10
_FOLDER = {"type": "string", "x-source": True}


@dataclass
class _Scan:
    """What a scan found: files to read, with what a STAC item says, and sentences of problems."""

    files: dict[str, Asset | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class IndexScenes(Unchecked):
    """A catalogue of scenes."""

    definition = ToolDefinition(
        "index_scenes",
        "Index folders of satellite products, or a STAC catalogue, into a layer of scenes.",
        argument.arguments(
            {
                "folders": {"type": "array", "items": _FOLDER, "minItems": 1},
                "file": {"type": "string", "description": "the catalogue, such as scenes.gpkg"},
            },
            ["folders"],
        ),
        label="Index scenes",
        lasting=True,
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read headers on the calling thread; a damaged file is listed with its reason."""
        folders = [_folder(one, context) for one in arguments["folders"]]
        path = _place(arguments.get("file", _FILE), context)
        before = read(path)
        scan = _scanned(folders, context)
        if not scan.files:
            raise MendableError(
                f"{listed([one.name for one in folders])} hold no file that may be a scene "
                f"({', '.join(ENDINGS)}, {SAFE}). {' '.join(scan.problems[:_REASONS])}".strip()
            )
        entries, fresh = _entries(scan, before, context)
        kept = {
            place: entry for place, entry in before.items()
            if place not in entries and not _is_under(place, folders)
        }  # fmt: skip
        gone = len(before) - len(kept) - len(set(before) & set(entries))
        write(path, {**kept, **entries})
        context.note(*scan.problems[:_REASONS])
        return _told(path, entries, fresh, gone, context)


def _folder(text: str, context: Context) -> Path:
    path = context.boundary().readable(text, "The folder")
    if path.is_file() and is_root(path):
        return path.parent
    if not path.is_dir():
        raise MendableError(f"{text} is no folder: give a folder of scenes.")
    return path


def _place(text: str, context: Context) -> Path:
    """Return the catalogue's file: in the output folder, else among the temporary ones."""
    name = text if Path(text).suffix else f"{text}.gpkg"
    if Path(name).suffix.lower() != ".gpkg":
        raise MendableError(f'"{text}" must be a GeoPackage: give a name such as {_FILE}.')
    if context.output_folder is not None:
        path = context.boundary().inside(name)
    else:
        path = context.temporary_folder / Path(name).name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _is_under(place: str, folders: list[Path]) -> bool:
    return any(folder in Path(place).parents for folder in folders)


def _scanned(folders: list[Path], context: Context) -> _Scan:
    scan = _Scan()
    for folder in folders:
        for path in _walk(folder, context):
            if path.name.endswith(".json"):
                _stac(path, scan, context)
            else:
                scan.files.setdefault(str(path), None)
    return scan


def _walk(folder: Path, context: Context) -> Iterator[Path]:
    """Yield scenes and STAC roots under a folder; a Landsat scene by its MTL file, Sentinel-2 by
    its folder. Links to folders are not followed. Raises ToolCancelled."""
    if folder.suffix == SAFE:
        yield folder
        return
    for place, names, files in os.walk(folder):
        context.stop_if_cancelled()
        here = Path(place)
        for name in sorted(names):
            if name.endswith(SAFE):
                yield here / name
        names[:] = sorted(one for one in names if not one.endswith(SAFE))
        scenes = tuple(one[: -len(MTL)] + "_" for one in files if one.endswith(MTL))
        for name in sorted(files):
            path = here / name
            single = name.lower().endswith(ENDINGS) and not (scenes and name.startswith(scenes))
            if single or name.endswith(MTL) or (name.endswith(".json") and is_root(path)):
                yield path


def _stac(root: Path, scan: _Scan, context: Context) -> None:
    """Take the files of a STAC catalogue; one outside the allowed folders is told, and so is the
    want of pystac: the files beside it are indexed all the same."""
    try:
        for one in assets(root, context.boundary().readable):
            if isinstance(one, str):
                scan.problems.append(one)
            else:
                scan.files[str(one.path)] = one
    except (MendableError, LastingError) as error:
        scan.problems.append(error.message)


def _entries(
    scan: _Scan, before: dict[str, Entry], context: Context
) -> tuple[dict[str, Entry], int]:
    """Return the entries of all files, and how many were read anew."""
    found: dict[str, Entry] = {}
    fresh = 0
    for number, (place, asset) in enumerate(scan.files.items()):
        context.stop_if_cancelled()
        context.progress(100.0 * number / len(scan.files))
        path = Path(place)
        stamp = _stamp(path)
        if place in before and before[place].stamp == stamp:
            found[place] = before[place]
            continue
        fresh += 1
        found[place] = _entry(path, stamp, asset)
    return found, fresh


def _stamp(path: Path) -> Stamp:
    """Return change time and size; of a scene of several files the latest and the sum."""
    several: list[Path] = [path]
    if path.is_dir():
        several = [one for one in path.rglob("*") if one.is_file()]
    elif path.name.endswith(MTL):
        several = list(path.parent.glob(f"{path.name[: -len(MTL)]}_*"))
    stats = [one.stat() for one in several if one.exists()]
    return max((one.st_mtime for one in stats), default=0.0), sum(one.st_size for one in stats)


def _entry(path: Path, stamp: Stamp, asset: Asset | None) -> Entry:
    try:
        if asset is None:
            return Entry(stamp, rows_of(path))
        return Entry(stamp, rows_of(path, asset.product, asset.day, asset.cloud))
    except MendableError as error:
        return Entry(stamp, reason=error.message)
    except (RuntimeError, OSError) as error:
        return Entry(stamp, reason=f"{path.name} cannot be read: {error}")


def _told(
    path: Path, entries: dict[str, Entry], fresh: int, gone: int, context: Context
) -> ToolResult:
    def adopt() -> Any:
        layer = QgsVectorLayer(f"{path}|layername={SCENES}", path.stem, "ogr")
        if not layer.isValid():
            raise LastingError(f"The catalogue {path.name} was written but does not open.")
        return context.hand_over(layer, titled(path.stem), {"file": path.name})

    reference = context.call(adopt)
    rows = [row for entry in entries.values() for row in entry.rows]
    skipped = {Path(key).name: one.reason for key, one in entries.items() if one.reason}
    by_product: dict[str, int] = {}
    for row in rows:
        name = row.product or "unknown product"
        by_product[name] = by_product.get(name, 0) + 1
    table = [{"product": name, "scenes": count} for name, count in sorted(by_product.items())]
    for reason in list(skipped.values())[:_REASONS]:
        context.note(f"Skipped: {reason}")
    files = wording.counted(len(entries), "file")
    return ToolResult(
        f"{wording.layer(reference)}: {wording.counted(len(rows), 'scene')} of {files}, "
        f"{fresh} read anew, {gone} gone, {len(skipped)} skipped.\n{wording.rows(table)}",
        numbers={
            "count": float(len(rows)), "files": float(len(entries)), "read": float(fresh),
            "skipped": float(len(skipped)), "gone": float(gone),
        },
        layers=(reference,),
        files=(str(path),),
    )  # fmt: skip
