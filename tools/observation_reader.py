# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scenes of one day measure, read by windows: tiles are laid side by side, NDVI is made of
red and near infrared where the product has none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal
from qgis.core import QgsCoordinateReferenceSystem

from .base import LastingError, MendableError
from .context import Context
from .grid import Grid
from .observation_channel import Channel, Flags, Loss, Window, own_measure
from .observation_product import NDVI, VALUE, Measure, ProductFamily, families
from .scene_choice import Occasion, Scene
from .scene_part import Part, opened_scene, part_named, parts_of, system_of

_STRIP_CELLS = 1_000_000
_SAME = 1e-6


class ObservationReader:
    """The cells of one measure on one day. Made and used on one thread, for one call."""

    def __init__(self, occasion: Occasion, measure: str, context: Context) -> None:
        self.occasion = occasion
        self.measure = measure
        self._context = context
        for scene in occasion.scenes:
            context.boundary().readable(scene.path)
        self.family = families().get(occasion.scenes[0].product)
        self._parts = {one.path: parts_of(one.path) for one in occasion.scenes}
        self._channels = self._made()
        first = self._channels[0].dataset
        left, width, turn, top, twist, height = first.GetGeoTransform()
        if turn or twist:
            raise MendableError(f"The cells of {occasion.scenes[0].scene} do not point north.")
        system = system_of(first)
        if system is None:
            raise MendableError(
                f"{occasion.scenes[0].scene} has no CRS: nothing tells where it is."
            )
        crs = QgsCoordinateReferenceSystem.fromWkt(system.ExportToWkt())
        self.grid = Grid(first.RasterXSize, first.RasterYSize, left, top, width, height, crs)

    @property
    def unit(self) -> str:
        """Return the unit of the values, "" for none."""
        return self._channels[0].measure.unit if len(self._channels) == 1 else ""

    @property
    def is_amount(self) -> bool:
        """Tell whether a cell holds an amount, which is summed over a zone."""
        return self._channels[0].measure.amount

    def loss(self) -> Loss:
        """Return what was lost so far, and begin to count anew; of two bands the larger counts."""
        parts = [one.loss for one in self._channels]
        for one in self._channels:
            one.loss = Loss()
        return Loss(*(max(counts) for counts in zip(*(one.counts() for one in parts))))

    def read(self, window: Window, mask: Any = None) -> Any:
        """Return the values of a window as float64 with NaN; what is lost is counted in the cells
        of a mask alone. Raises MendableError."""
        if len(self._channels) == 1:
            return self._channels[0].read(window, mask)
        red, near = (one.read(window, mask) for one in self._channels)
        with numpy.errstate(invalid="ignore", divide="ignore"):
            found = (near - red) / (near + red)
        found[~(numpy.abs(found) <= 1)] = numpy.nan
        return found

    def strips(self) -> Iterator[tuple[int, Any]]:
        """Yield the first row and the values of each strip, from the top. Raises ToolCancelled."""
        height = max(1, _STRIP_CELLS // self.grid.columns)
        for row in range(0, self.grid.rows, height):
            self._context.stop_if_cancelled()
            rows = min(height, self.grid.rows - row)
            yield row, self.read((0, row, self.grid.columns, rows))

    def _made(self) -> list[Channel]:
        if self.family is None or self.measure == VALUE:
            return [self._own()]
        if self.measure == NDVI and self.family.measure(NDVI) is None:
            return [self._channel(self.family, name) for name in ("red", "nir")]
        return [self._channel(self.family, self.measure)]

    def _own(self) -> Channel:
        scenes = self.occasion.scenes
        datasets = [opened_scene(one.subdataset or one.path, one.scene) for one in scenes]
        number = scenes[0].band or 1
        if datasets[0].RasterCount > 1 and not scenes[0].band:
            raise MendableError(
                f"{scenes[0].scene} has {datasets[0].RasterCount} bands without dates, and its "
                "product is not known: open it with add_layer and name the band."
            )
        measure = own_measure(datasets[0], VALUE, number)
        whole = self._joined(datasets, (number,), measure.fill[:1])
        return Channel(whole, (number,) if whole is datasets[0] else (1,), measure)

    def _channel(self, family: ProductFamily, name: str) -> Channel:
        measure = family.measure(name)
        if measure is None:
            raise MendableError(f"{family.title} does not measure {name}.")
        dataset, bands = self._source(measure.band, measure, measure.number)
        channel = Channel(dataset, bands, measure)
        if family.quality is not None:
            try:
                flags, numbers = self._source(family.quality.band, Measure("quality", bands="mean"))
            except MendableError:
                self._context.note(
                    f"{self.occasion.scenes[0].scene} has no quality flags: clouds were not taken "
                    "out."
                )
            else:
                channel.flags = Flags(flags, numbers, family.quality)
        return channel

    def _source(
        self, pattern: str, measure: Measure, number: int = 0
    ) -> tuple[gdal.Dataset, tuple[int, ...]]:
        """Return the raster of a part of all scenes, and its bands. Raises MendableError."""
        parts = [self._part(one, pattern, measure, number) for one in self.occasion.scenes]
        parts = list(dict.fromkeys(parts))  # two subdatasets of one file lead to the same part
        datasets = [opened_scene(one.path) for one in parts]
        band = parts[0].band
        several = measure.bands == "mean" and not band
        bands = tuple(range(1, datasets[0].RasterCount + 1)) if several else (band or 1,)
        whole = self._joined(datasets, bands, measure.fill[:1])
        return whole, bands if whole is datasets[0] else tuple(range(1, len(bands) + 1))

    def _part(self, scene: Scene, pattern: str, measure: Measure, number: int) -> Part:
        found = part_named(self._parts[scene.path], pattern, number)
        if found is None:
            raise MendableError(f"{scene.scene} has no band for {measure.name}.")
        return found

    def _joined(
        self, datasets: list[gdal.Dataset], bands: tuple[int, ...], fill: tuple[float, ...]
    ) -> gdal.Dataset:
        """Return one raster of tiles; gaps hold the fill. Raises MendableError for mixed ones."""
        if len(datasets) == 1:
            return datasets[0]
        _refuse_mixed(datasets, self.occasion)
        options: dict[str, Any] = {"bandList": list(bands)}
        if fill:
            options.update(srcNodata=fill[0], VRTNodata=fill[0])
        try:
            found = gdal.BuildVRT("", datasets, **options)
        except RuntimeError as error:
            raise LastingError(f"The tiles could not be laid side by side: {error}") from error
        if found is None:
            raise LastingError(
                f"The tiles could not be laid side by side: {gdal.GetLastErrorMsg()}"
            )
        found.tiles = datasets  # a virtual raster reads its tiles later
        return found


def _refuse_mixed(datasets: list[gdal.Dataset], occasion: Occasion) -> None:
    """Refuse tiles of several CRS or cell sizes. Raises MendableError."""
    first, names = datasets[0], [Path(one.path).name for one in occasion.scenes]
    for name, one in zip(names[1:], datasets[1:]):
        crs, wanted = system_of(one), system_of(first)
        if crs is None or wanted is None or not crs.IsSame(wanted):
            what = "CRS"
        elif any(
            abs(one.GetGeoTransform()[place] / first.GetGeoTransform()[place] - 1) > _SAME
            for place in (1, 5)
        ):
            what = "cell sizes"
        else:
            continue
        raise MendableError(
            f"The tiles of {occasion.when or 'no date'} are mixed: {names[0]} and {name} have "
            f"different {what}. Take those of one CRS by find_scenes with an area."
        )
