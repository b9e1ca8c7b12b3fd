# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters that tools make: run or written into a folder of their own, handed over with what they
were made of, and told with the mean and the range of their cells."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import QgsRasterLayer

from . import execution, wording
from .band_statistic import summary
from .base import LastingError, LayerReference, ToolResult
from .context import Context
from .grid import Grid
from .selection import titled

GEOTIFF = ["COMPRESS=DEFLATE", "TILED=YES", "BIGTIFF=IF_SAFER"]


def ran(
    algorithm: str,
    parameters: dict[str, Any],
    title: str,
    context: Context,
    shown: dict[str, Any] | None = None,
) -> LayerReference:
    """Run an algorithm with one output layer and hand it over; `shown` are the parameters that
    are told, where the true ones name files that do not stay."""
    layer = execution.run(algorithm, parameters, context).layers["OUTPUT"]
    told = {"algorithm": algorithm, **parameters, **(shown or {})}
    return context.call(lambda: context.hand_over(layer, titled(title), told))


def option_index(algorithm: str, parameter: str, option: str) -> int:
    """Return the place of an option in an algorithm's own list, forgiving case."""
    found = execution.find(algorithm)  # the definition lives no longer than it
    options = [one.lower() for one in found.parameterDefinition(parameter).options()]
    return options.index(option.lower())


@contextmanager
def written(context: Context) -> Iterator[Path]:
    """Give the path of a GeoTIFF to write; nothing of it stays when that fails."""
    context.temporary_folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=context.temporary_folder))
    try:
        yield folder / "raster.tif"
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def created(path: Path, grid: Grid, kind: int, nodata: float) -> gdal.Dataset:
    """Create a GeoTIFF of one band on a grid. Raises LastingError."""
    driver = gdal.GetDriverByName("GTiff")
    dataset = driver.Create(str(path), grid.columns, grid.rows, 1, kind, GEOTIFF)
    if dataset is None:
        raise LastingError(f"A raster could not be written: {gdal.GetLastErrorMsg()}")
    dataset.SetGeoTransform((grid.left, grid.width, 0, grid.top, 0, grid.height))
    dataset.SetProjection(grid.crs.toWkt())
    dataset.GetRasterBand(1).SetNoDataValue(nodata)
    return dataset


def adopted(path: Path, title: str, parameters: dict[str, Any], context: Context) -> LayerReference:
    """Hand a written raster over to the project. Raises LastingError when it does not open."""

    def adopt() -> LayerReference:
        layer = QgsRasterLayer(str(path), title)
        if not layer.isValid():
            raise LastingError(f"The raster {title} was written but does not open.")
        return context.hand_over(layer, titled(title), parameters)

    return context.call(adopt)


def told(
    reference: LayerReference,
    context: Context,
    algorithm: str = "",
    parameters: dict[str, Any] | None = None,
    unit: str = "",
) -> ToolResult:
    """Return the result of a tool that made a raster, with mean, min and max of its cells."""
    numbers = summary(reference, context)
    shown = [
        f"{key} = {wording.number(one)}{f' {unit}' if unit and key != 'count' else ''}"
        for key, one in numbers.items()
    ]
    return ToolResult(
        f"{wording.layer(reference)}; {', '.join(shown)}.",
        numbers=numbers,
        units={key: unit for key in numbers if unit and key != "count"},
        layers=(reference,),
        algorithm=algorithm,
        parameters=parameters or {},
        outputs={"OUTPUT": reference.id} if algorithm else {},
    )
