# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters made fit for an algorithm or brought onto a grid, as virtual files in a folder that lasts
as long as the call."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import QgsCoordinateReferenceSystem

from .base import LastingError
from .context import Context
from .distance import needs_crs
from .grid import Grid
from .raster import Reader, opened, opened_file
from .source import RasterSource


@contextmanager
def workspace(context: Context) -> Iterator[Path]:
    """Give a folder for files that only this call needs; it is removed afterwards."""
    context.temporary_folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=context.temporary_folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def gdal_progress(context: Context) -> Callable[..., int]:
    """Return a callback of GDAL that passes progress on and stops when the user does."""

    def callback(share: float, _message: str, _data: Any) -> int:
        context.progress(100.0 * share)
        return 0 if context.cancelled() else 1

    return callback


def made(what: str, make: Callable[[], Any], context: Context) -> Any:
    """Return what a function of GDAL made. Raises LastingError naming `what`, ToolCancelled."""
    try:
        found = make()
    except RuntimeError as error:
        context.stop_if_cancelled()
        raise LastingError(f"{what} could not be made: {error}") from error
    context.stop_if_cancelled()
    if found is None:
        raise LastingError(f"{what} could not be made: {gdal.GetLastErrorMsg()}")
    return found


def prepared(
    source: RasterSource,
    folder: Path,
    context: Context,
    nodata: float | None = None,
    copy: bool = False,
) -> str:
    """Return what an algorithm may take as the raster: the layer's id, or a virtual copy.

    The copy declares what the file does not: `nodata`, the value that the user set, or a fill
    value found in the cells; scale and offset are applied. With `copy` it is always one.
    Raises MendableError, LastingError.
    """
    dataset = opened(source)
    numbers = [band.number for band in source.bands]
    bands = [dataset.GetRasterBand(number) for number in numbers]
    scaled = any(
        band.GetScale() not in (None, 1.0) or band.GetOffset() not in (None, 0.0) for band in bands
    )
    user = [one for number in numbers for one in source.provider.userNoDataValues(number)]
    hole = nodata
    if hole is None and user:
        hole = user[0].min()
    elif hole is None:
        fills = Reader(source, numbers, context).fills()
        hole = fills[0] if fills else None
        if fills:
            context.note(f"{source.key} holds {fills[0]:g} without declaring it: taken as no data.")
    if hole is None and not scaled and not copy:
        return source.id
    path = _free(folder)
    options = {"format": "VRT", "unscale": scaled}
    if scaled:
        options["outputType"] = gdal.GDT_Float32
    if hole is not None:
        options["noData"] = hole
    made(f"A copy of {source.key}", lambda: gdal.Translate(str(path), dataset, **options), context)
    return str(path)


def opened_given(source: RasterSource, given: str) -> gdal.Dataset:
    """Open what `prepared` gave for a raster. Raises MendableError."""
    return opened(source) if given == source.id else opened_file(given, source.key)


def aligned(
    source: RasterSource, grid: Grid, folder: Path, context: Context, nodata: float | None = None
) -> str:
    """Return a virtual copy of a raster on the grid of another, which is noted.

    Whole numbers keep their values (nearest cell), others are interpolated. Raises as `prepared`.
    """
    needs_crs(source, "it cannot be laid over another raster")
    whole = all(
        band.type.lower().lstrip("u") in ("byte", "int8", "int16", "int32", "int64")
        for band in source.bands
    )
    way = "nearest" if whole else "bilinear"
    path = warped(source, grid.crs, folder, context, way, grid, nodata)
    context.note(
        f"{source.key} was brought onto {grid.words()} ({'nearest cell' if whole else way})."
    )
    return path


def warped(
    source: RasterSource,
    crs: QgsCoordinateReferenceSystem,
    folder: Path,
    context: Context,
    way: str,
    grid: Grid | None = None,
    nodata: float | None = None,
) -> str:
    """Return a virtual copy of a raster in another CRS; without `grid` in cells of its own size.

    Cells without data stay without, whether declared or not.
    """
    given = prepared(source, folder, context, nodata)
    dataset = opened_given(source, given)
    band = dataset.GetRasterBand(1)
    hole = band.GetNoDataValue()
    options: dict[str, Any] = {
        "format": "VRT",
        "srcSRS": source.crs.toWkt(),
        "dstSRS": crs.toWkt(),
        "resampleAlg": way,
        "dstNodata": -9999.0 if hole is None else hole,
        "outputType": gdal.GDT_Float32 if hole is None else gdal.GDT_Unknown,
    }
    if grid is not None:
        options.update(outputBounds=grid.bounds(), width=grid.columns, height=grid.rows)
    path = _free(folder)
    made(f"A copy of {source.key}", lambda: gdal.Warp(str(path), dataset, **options), context)
    return str(path)


def _free(folder: Path) -> Path:
    return folder / f"copy_{len(list(folder.iterdir()))}.vrt"
