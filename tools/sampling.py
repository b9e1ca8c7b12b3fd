# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of a raster at points."""

from __future__ import annotations

from typing import Any

from . import argument, wording
from .base import Family, LayerReference, ToolDefinition, ToolResult
from .context import Context
from .feature_name import named, naming_field
from .overlap import refuse_apart
from .raster import raster_of
from .raster_copy import prepared, workspace
from .raster_result import ran
from .registry import Unchecked
from .source import RasterSource, plain
from .statistic import computed

_SAMPLE = "native:rastersampling"


class SampleRaster(Unchecked):
    """The values of a raster at points."""

    definition = ToolDefinition(
        "sample_raster",
        "Read the values of a raster at points, in a new point layer with a field for each band.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POINT.value),
                "raster": argument.layer(Family.RASTER.value),
            },
            ["layer", "raster"],
        ),
        label="Sample a raster",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Sample all bands; points without a value are counted and told."""
        points = context.vector(arguments["layer"], Family.POINT)
        raster = raster_of(arguments["raster"], context)
        refuse_apart(points, raster)
        with workspace(context) as folder:
            parameters = {
                "INPUT": points.id,
                "RASTERCOPY": prepared(raster, folder, context),
                "COLUMN_PREFIX": "value_",
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "RASTERCOPY": raster.id}
            reference = ran(_SAMPLE, parameters, f"{points.key} with {raster.key}", context, shown)
        return _sampled(reference, raster, shown, context)


def _sampled(
    reference: LayerReference, raster: RasterSource, parameters: dict[str, Any], context: Context
) -> ToolResult:
    made = context.vector(reference.id)
    fields = made.names()[-len(raster.bands) :]
    label = naming_field(made, context)
    table, values, empty = [], [], 0
    for feature in made.rows(context.cancelled):
        first = plain(feature[fields[0]])
        empty += first is None
        values += [] if first is None else [float(first)]
        if len(table) <= wording.MOST_ROWS:
            row = {label or "feature": named(feature, label)}
            table.append({**row, **{one: plain(feature[one]) for one in fields[:5]}})
    if empty:
        context.note(f"{wording.counted(empty, 'point')} of {reference.features} got no value.")
    everything = computed(values) if values else {"count": 0.0}
    numbers = {key: everything[key] for key in ("mean", "min", "max", "count") if key in everything}
    shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
    return ToolResult(
        f"{wording.layer(reference)}; {fields[0]}: {shown}.\n{wording.rows(table)}",
        numbers=numbers,
        layers=(reference,),
        algorithm=_SAMPLE,
        parameters=parameters,
        outputs={"OUTPUT": reference.id},
    )
