# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of a raster within polygons, in the raster's own grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import argument, execution, wording
from .base import Family, LayerReference, ToolDefinition, ToolResult
from .condition import field_named, quoted_name
from .context import Context
from .expression import SourceFields
from .feature_name import named, naming_field
from .overlap import refuse_apart
from .raster import band_of, raster_of
from .raster_copy import prepared, workspace
from .raster_result import option_index, ran
from .registry import Unchecked
from .source import VectorSource, plain

_ZONAL = "native:zonalstatisticsfb"
_PREFIX = "z_"
STATISTICS = {
    "mean": "mean",
    "sum": "sum",
    "min": "minimum",
    "max": "maximum",
    "median": "median",
    "stdev": "st dev",
    "count": "count",
    "majority": "majority",
    "minority": "minority",
    "variety": "variety",
}
"""By our words, the names that the algorithm lists; its fields end with our words."""

_SYNONYMS = {
    "average": "mean",
    "total": "sum",
    "maximum": "max",
    "minimum": "min",
    "mode": "majority",
}


class ZonalStatistics(Unchecked):
    """Statistics of a raster for each polygon."""

    definition = ToolDefinition(
        "zonal_statistics",
        "Compute the mean (or sum, min, max, median, count, majority ...) of a raster for each "
        "polygon, in a new layer; by merges the polygons of one value first.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POLYGON.value),
                "raster": argument.layer(Family.RASTER.value),
                "statistic": argument.choice(*STATISTICS, synonyms=_SYNONYMS),
                "band": argument.band("raster"),
                "by": argument.field(),
            },
            ["layer", "raster"],
        ),
        label="Zonal statistics",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Let Processing bring the polygons into the raster's CRS; rank them and tell the empty."""
        zones = context.vector(arguments["layer"], Family.POLYGON)
        raster = raster_of(arguments["raster"], context)
        refuse_apart(zones, raster)
        band = band_of(raster, arguments.get("band"))
        statistic = arguments.get("statistic", "mean")
        by = arguments.get("by", "")
        if by:
            by = field_named(by, SourceFields(zones, context.cancelled))
        with workspace(context) as folder:
            parameters = {
                "INPUT": _merged(zones, by, folder, context) if by else zones.id,
                "INPUT_RASTER": prepared(raster, folder, context),
                "RASTER_BAND": band.number,
                "COLUMN_PREFIX": _PREFIX,
                "STATISTICS": [
                    option_index(_ZONAL, "STATISTICS", STATISTICS[one])
                    for one in dict.fromkeys(["count", statistic])
                ],
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "INPUT": zones.id, "INPUT_RASTER": raster.id}
            title = f"{statistic} of {raster.key} by {by or zones.key}"
            reference = ran(_ZONAL, parameters, title, context, shown)
        return _told(reference, statistic, by, shown, context)


def _merged(zones: VectorSource, by: str, folder: Path, context: Context) -> str:
    """Merge the polygons of each value of a field, keeping that field alone, in its order.

    Processing gives merged polygons in an order that differs from one start of QGIS to another.
    """
    whole, in_order, path = (str(folder / f"{one}.gpkg") for one in ("merged", "sorted", "zones"))
    parameters = {"INPUT": zones.id, "FIELD": [by], "OUTPUT": whole}
    _run("native:dissolve", parameters, context)
    order = {"INPUT": whole, "EXPRESSION": quoted_name(by), "OUTPUT": in_order}
    _run("native:orderbyexpression", order, context)
    _run("native:retainfields", {"INPUT": in_order, "FIELDS": [by], "OUTPUT": path}, context)
    return path


def _run(algorithm: str, parameters: dict[str, Any], context: Context) -> None:
    """Run an algorithm for the file that it writes; its layer goes where it was made."""
    layers = execution.run(algorithm, parameters, context).layers
    context.call(layers.clear)


def _told(
    reference: LayerReference,
    statistic: str,
    by: str,
    parameters: dict[str, Any],
    context: Context,
) -> ToolResult:
    made = context.vector(reference.id)
    field, count = f"{_PREFIX}{statistic}", f"{_PREFIX}count"
    label = by or naming_field(made, context)
    found: list[tuple[str, float]] = []
    empty = nameless = 0
    for feature in made.rows(context.cancelled):
        if by and plain(feature[by]) in (None, ""):
            nameless += 1
        elif plain(feature[count]) in (None, 0) or plain(feature[field]) is None:
            empty += 1
        else:
            found.append((named(feature, label), float(feature[field])))
    if nameless:
        context.note(f"Polygons without {by} were left out of the ranking.")
    if empty:
        context.note(f"{wording.counted(empty, 'polygon')} hold no cell with data: not ranked.")
    if not found:
        return ToolResult(
            f"{wording.layer(reference)}: no polygon holds a cell with data.",
            numbers={"zones": 0.0},
            layers=(reference,),
            algorithm=_ZONAL,
            parameters=parameters,
        )
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    numbers = {"highest": found[0][1], "lowest": found[-1][1], "zones": float(len(found))}
    if statistic in ("sum", "count"):
        numbers["total"] = sum(value for _, value in found)
    if len(found) == 1:
        numbers = {statistic: found[0][1], "zones": 1.0}
    table = [{label or "feature": name, field: value} for name, value in found]
    totals = f"; total = {wording.number(numbers['total'])}" if "total" in numbers else ""
    return ToolResult(
        f"{wording.layer(reference)}, {statistic} in {field}{totals}. Highest first:\n"
        f"{wording.rows(table)}",
        numbers=numbers,
        texts={"highest": found[0][0], "lowest": found[-1][0]},
        layers=(reference,),
        algorithm=_ZONAL,
        parameters=parameters,
        outputs={"OUTPUT": reference.id},
    )
