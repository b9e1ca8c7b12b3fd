# SPDX-License-Identifier: GPL-2.0-or-later
"""One day of a product as a raster layer that holds what it measures, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy
from osgeo import gdal

from . import argument
from .base import MendableError, ToolDefinition, ToolResult
from .context import Context
from .observation_layer import timed
from .observation_product import MEASURES
from .observation_reader import ObservationReader
from .raster_result import adopted, created, told, written
from .registry import Unchecked
from .scene_choice import catalogue_of, occasions, scenes_of, shown_days

_NODATA = -99999.0


class LoadScene(Unchecked):
    """A day of a product as a raster."""

    definition = ToolDefinition(
        "load_scene",
        "Load what scenes measure on one day as a raster, scaled, without fill and cloud.",
        argument.arguments(
            {
                "scenes": argument.layer("polygon"),
                "measure": argument.choice(*MEASURES),
                "date": {"type": "string", "description": "a day such as 2024-03-01"},
            },
            ["scenes", "measure"],
        ),
        label="Load a scene",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Write the clean values of one day; refuse a day of which nothing is left."""
        source = catalogue_of(arguments["scenes"], context)
        measure, date = arguments["measure"], arguments.get("date", "")
        found = occasions(scenes_of(source, context), measure, date, date, context)
        if len(found) > 1:
            raise MendableError(
                f"{measure} was measured on {len(found)} days: give a date, such as one of "
                f"{shown_days(found)}."
            )
        reader = ObservationReader(found[0], measure, context)
        title = f"{measure} {found[0].when}".strip()
        shown = {"scenes": source.id, "measure": measure, "date": found[0].when}
        with written(context) as path:
            left = 0
            dataset = created(path, reader.grid, gdal.GDT_Float32, _NODATA)
            for row, values in reader.strips():
                left += int(numpy.count_nonzero(~numpy.isnan(values)))
                dataset.GetRasterBand(1).WriteArray(_filled(values), 0, row)
                context.progress(100.0 * (row + len(values)) / reader.grid.rows)
            dataset.FlushCache()
            dataset = None
            loss = reader.loss()
            if not left:
                raise MendableError(
                    f"{measure} of {found[0].when or found[0].scenes[0].scene} has no value: every "
                    f"cell was lost, mostly to {loss.reason()}."
                )
            context.note(loss.words())
            reference = adopted(path, title, shown, context)
        timed(reference.id, found[0].day, found[0].until, context)
        return told(reference, context, unit=reader.unit)


def _filled(values: Any) -> Any:
    return numpy.where(numpy.isnan(values), _NODATA, values).astype(numpy.float32)
