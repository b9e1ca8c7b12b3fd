# SPDX-License-Identifier: GPL-2.0-or-later
"""Slope, aspect, hillshade, roughness and contours of an elevation model, in metres whatever its
CRS: one in degrees or in a projection that stretches is reprojected first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qgis.core import Qgis, QgsCoordinateReferenceSystem, QgsUnitTypes

from . import argument, wording
from .band_statistic import tallied
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .grid import metric_crs
from .raster import band_of, opened, raster_of
from .raster_copy import prepared, warped, workspace
from .raster_result import ran, told
from .source import RasterSource

_UNITS = {"m": 1.0, "ft": 0.3048}
_ALGORITHMS = {
    "slope": "gdal:slope",
    "slope percent": "gdal:slope",
    "aspect": "gdal:aspect",
    "hillshade": "gdal:hillshade",
    "roughness": "gdal:roughness",
    "ruggedness": "gdal:triterrainruggednessindex",
}
_CONTOURS = "contours"
_SYNONYMS = {
    "slope in percent": "slope percent",
    "steepness": "slope",
    "exposition": "aspect",
    "shaded relief": "hillshade",
    "tri": "ruggedness",
    "contour lines": _CONTOURS,
    "isolines": _CONTOURS,
}
_RESULT_UNITS = {"slope": "degrees", "slope percent": "%", "aspect": "degrees"}
_MOST_CONTOURS = 1_000


class Terrain:
    """What the ground is like, from heights."""

    definition = ToolDefinition(
        "terrain",
        "Make slope (degrees), slope percent, aspect, hillshade, roughness, ruggedness or contours "
        "from an elevation raster in any CRS; gives mean, min and max.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "what": argument.choice(*_ALGORITHMS, _CONTOURS, synonyms=_SYNONYMS),
                "interval": {"type": "number", "description": "height between contours"},
                "height_unit": argument.choice(*_UNITS, synonyms={"feet": "ft", "metres": "m"}),
                "band": argument.band(),
            },
            ["layer", "what"],
        ),
        label="Terrain",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for an interval with contours, and for none without."""
        wanted = arguments["what"] == _CONTOURS
        if wanted and arguments.get("interval", 0) <= 0:
            raise MendableError("contours need an interval above 0, in the unit of the heights.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Bring the model into metres where needed, and run the algorithm of what is asked."""
        source, what = raster_of(arguments["layer"], context), arguments["what"]
        band = band_of(source, arguments.get("band")).number
        if what == _CONTOURS:
            return _contours(source, band, float(arguments["interval"]), context)
        with workspace(context) as folder:
            given, crs = in_metres(source, folder, context, f"its {what} cannot be computed")
            algorithm = _ALGORITHMS[what]
            parameters = {"BAND": band, "COMPUTE_EDGES": True, "OUTPUT": "TEMPORARY_OUTPUT"}
            if algorithm in ("gdal:slope", "gdal:hillshade"):
                parameters["SCALE"] = _scale(arguments.get("height_unit"), source, crs, context)
            if algorithm == "gdal:slope":
                parameters["AS_PERCENT"] = what == "slope percent"
            title = f"{what} of {source.key}"
            shown = {**parameters, "INPUT": source.id}
            reference = ran(algorithm, {**parameters, "INPUT": given}, title, context, shown)
        return told(reference, context, algorithm, shown, _RESULT_UNITS.get(what, ""))


def in_metres(
    source: RasterSource, folder: Path, context: Context, what: str
) -> tuple[str, QgsCoordinateReferenceSystem]:
    """Return an elevation model as an algorithm takes it, in a CRS of true lengths, and that CRS.

    Raises UnanswerableError without CRS (`what` ends the sentence), MendableError.
    """
    crs = metric_crs(source, what)
    if crs is None:
        return prepared(source, folder, context), source.crs
    reason = "degrees" if source.crs.isGeographic() else "a projection that stretches lengths"
    name = crs.authid() or "a CRS around its middle"
    context.note(f"{source.key} is in {reason}, so it was reprojected to {name} (cubic).")
    return warped(source, crs, folder, context, "cubic"), crs


def _scale(
    wanted: str | None,
    source: RasterSource,
    crs: QgsCoordinateReferenceSystem,
    context: Context,
) -> float:
    """Return how many units of height one unit of the CRS is."""
    across = QgsUnitTypes.fromUnitToUnitFactor(crs.mapUnits(), Qgis.DistanceUnit.Meters)
    dataset = opened(source)  # the band lives no longer than it
    stated = str(dataset.GetRasterBand(1).GetUnitType() or "").lower()
    up = wanted or ("ft" if stated.startswith(("f", "us f")) else "m")
    if wanted is None:
        word = "metres" if up == "m" else "feet"
        context.note(f"Heights are taken as {word}{', as the file says' if stated else ''}.")
    return across / _UNITS[up]


def _contours(source: RasterSource, band: int, interval: float, context: Context) -> ToolResult:
    """Draw lines in the raster's own CRS; heights stay in the unit that they have."""
    tally = tallied(source, band, context)
    if not tally.count:
        raise MendableError(f"Band {band} of {source.key} has no cell with data.")
    lines = (tally.most - tally.least) / interval
    if lines > _MOST_CONTOURS:
        raise MendableError(
            f"Heights of {source.key} go from {tally.least:g} to {tally.most:g}: an interval of "
            f"{interval:g} gives over {_MOST_CONTOURS} contours. Take a larger one."
        )
    algorithm = "gdal:contour"
    with workspace(context) as folder:
        parameters = {
            "INPUT": prepared(source, folder, context),
            "BAND": band,
            "INTERVAL": interval,
            "FIELD_NAME": "ELEV",
            "OUTPUT": "TEMPORARY_OUTPUT",
        }
        shown = {**parameters, "INPUT": source.id}
        title = f"contours of {source.key}"
        reference = ran(algorithm, parameters, title, context, shown)
    made = context.vector(reference.id)
    heights = {feature["ELEV"] for feature in made.rows(context.cancelled, only=["ELEV"])}
    if not heights:
        context.note(f"Heights go from {tally.least:g} to {tally.most:g}: no contour lies between.")
    found = {"count": reference.features, "levels": len(heights)}
    if heights:
        found.update(min=min(heights), max=max(heights))
    shown_numbers = ", ".join(f"{key} = {wording.number(one)}" for key, one in found.items())
    return ToolResult(
        f"{wording.layer(reference)}, heights in ELEV; {shown_numbers}.",
        numbers={key: float(one) for key, one in found.items()},
        layers=(reference,),
        algorithm=algorithm,
        parameters=shown,
        outputs={"OUTPUT": reference.id},
    )
