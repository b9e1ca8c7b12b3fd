# SPDX-License-Identifier: GPL-2.0-or-later
"""Land cover classified by a model, cell by cell, as a raster of classes or as polygons, with the
names and colours of the classes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal

from . import argument, wording
from .base import Family, LayerReference, ToolDefinition, ToolResult
from .context import Context
from .detection import BANDS, DETECTOR
from .detection_fit import Pairing, paired
from .detection_layer import colour_raster
from .detection_output import cells_of, pixels_of
from .detection_picture import Picture, picture_of
from .detection_run import DetectionRun
from .detector import Task
from .grid import Grid
from .observation_layer import timed
from .raster_class import class_table
from .raster_copy import workspace
from .raster_result import adopted, created, written
from .registry import Unchecked
from .segmentation_polygon import polygons
from .tiling import Tile

NODATA = -1
_RASTER, _POLYGONS = "raster", "polygons"


class ClassifyLandCover(Unchecked):
    """Classes of cells found by a model."""

    definition = ToolDefinition(
        "classify_land_cover",
        "Classify land cover in an image by a model; gives the area of each class.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "detector": DETECTOR,
                "result": argument.choice(_RASTER, _POLYGONS),
                "bands": BANDS,
            },
            ["layer"],
        ),
        label="Classify land cover",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Classify tile by tile; each cell is taken from the tile in whose core it lies."""
        picture = picture_of(arguments["layer"], context)
        pairing = paired(
            arguments.get("detector", ""), (Task.SEGMENTS, Task.PIXELS), picture,
            arguments.get("bands", []), context,
        )  # fmt: skip
        cover = _Cover(picture, pairing, context)
        shown = {"layer": picture.source.id, "detector": pairing.detector.name}
        if arguments.get("result") == _POLYGONS:
            with workspace(context) as folder:
                path = folder / "classes.tif"
                cover.write(path)
                reference = polygons(path, picture, pairing.detector, shown, context)
        else:
            with written(context) as path:
                cover.write(path)
                reference = adopted(path, f"land cover of {picture.source.key}", shown, context)
            _dress(reference, cover, context)
        names = {float(one): pairing.detector.class_name(one) for one in cover.areas}
        areas = {float(one): cover.areas[one] for one in sorted(cover.areas)}
        text, numbers, units = class_table(areas, names, "m2")
        return ToolResult(
            f"{wording.layer(reference)}:\n{text}",
            numbers=numbers,
            units=units,
            layers=(reference,),
        )


def _dress(reference: LayerReference, cover: _Cover, context: Context) -> None:
    """Give the raster its colours and its day."""
    picture, detector = cover.picture, cover.pairing.detector

    def dress() -> None:
        colour_raster(context.project.mapLayer(reference.id), detector, cover.areas)

    context.call(dress)
    timed(reference.id, picture.day, picture.day, context)


class _Cover:
    """The classes of one picture. `areas` gives cells and square metres by class once written."""

    def __init__(self, picture: Picture, pairing: Pairing, context: Context) -> None:
        self.picture, self.pairing, self._context = picture, pairing, context
        self.areas: dict[int, tuple[int, float]] = {}
        left, across, self._turn, top, self._twist, down = picture.affine
        crs = picture.source.crs
        self._grid = Grid(picture.columns, picture.rows, left, top, across, down, crs)

    def write(self, path: Path) -> None:
        """Write the classes into a GeoTIFF. Raises MendableError and ToolCancelled."""
        run = DetectionRun(self.pairing, self.picture, self._context)
        dataset = created(path, self._grid, gdal.GDT_Int32, NODATA)
        dataset.SetGeoTransform(self.picture.affine)
        band = dataset.GetRasterBand(1)
        band.Fill(NODATA)
        counts: Counter[int] = Counter()
        sizes: Counter[int] = Counter()
        row_areas = self._row_areas()
        for tile, there, outputs in run.outputs():
            classes = self._classes(outputs, there)
            column, row, columns, rows = tile.core
            part = _core(classes, tile)
            band.WriteArray(part, column, row)
            size = row_areas[row : row + rows, None].repeat(columns, axis=1)
            for one in numpy.unique(part[part != NODATA]).tolist():
                counts[one] += int((part == one).sum())
                sizes[one] += float(size[part == one].sum())
        dataset.FlushCache()
        dataset = None
        self._context.note(run.words())
        self.areas = {one: (counts[one], sizes[one]) for one in counts}

    def _classes(self, outputs: list[Any], there: Any) -> Any:
        """Return the class of each cell of a tile as int32, NODATA where there is no data."""
        detector, model = self.pairing.detector, self.pairing.model
        classes = numpy.full(there.shape, NODATA, numpy.int32)
        if detector.task is Task.PIXELS:
            classes[there] = pixels_of(outputs, int(there.sum()), detector)
            return classes
        rows, columns = there.shape
        wide, high = model.fed(columns, rows)
        found = cells_of(outputs[0], (high, wide), detector)[:rows, :columns]
        classes[there] = found[there]
        return classes

    def _row_areas(self) -> Any:
        """Return the square metres of a cell of each row; of a turned picture, of its middle."""
        if not (self._turn or self._twist):
            return self._grid.row_areas(self._context)
        picture, middle = self.picture, self.picture.columns // 2
        cells = [picture.polygon(middle, row, middle + 1, row + 1) for row in range(picture.rows)]
        return numpy.array([picture.area(cell) for cell in cells])


def _core(classes: Any, tile: Tile) -> Any:
    column, row, columns, rows = tile.core
    first, above = column - tile.window[0], row - tile.window[1]
    return classes[above : above + rows, first : first + columns]
