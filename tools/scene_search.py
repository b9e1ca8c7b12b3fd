# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding scenes of a catalogue by product, measure, place, days and cloud."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCsException,
    QgsFeature,
    QgsGeometry,
    QgsRectangle,
)

from . import argument, wording
from .base import MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import needs_crs, transform
from .new_layer import new_layer
from .observation_product import MEASURES
from .registry import Unchecked
from .scene_choice import catalogue_of, day_of, last_day_of
from .scene_place import place_named
from .selection import titled
from .source import VectorSource, plain
from .spelling import bare, listed

_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}


class FindScenes(Unchecked):
    """Some scenes of a catalogue."""

    definition = ToolDefinition(
        "find_scenes",
        "Pick scenes of a catalogue by product, measure, place, days and cloud.",
        argument.arguments(
            {
                "scenes": argument.layer("polygon"),
                "product": {"type": "string"},
                "measure": argument.choice(*MEASURES),
                "area": argument.layer(),
                "place": {"type": "string"},
                "extent": {**_NUMBERS, "description": "west, south, east, north in degrees"},
                "start": {"type": "string", "description": "a day such as 2024-03-01"},
                "end": {"type": "string"},
                "cloud": {"type": "number", "minimum": 0, "maximum": 100},
            },
            ["scenes"],
        ),
        label="Find scenes",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Keep the rows that fit; tell what removed the last one where none is left."""
        source = catalogue_of(arguments["scenes"], context)
        first = day_of(arguments.get("start", ""), "start")
        last = last_day_of(arguments.get("end", ""), "end")
        if first is not None and last is not None and first > last:
            raise MendableError("start is after end: swap them.")
        area = _area(arguments, source, context)
        rows = list(source.rows(context.cancelled, geometry=True))
        tests = [
            ("product", arguments.get("product"), _of_product),
            ("measure", arguments.get("measure"), _of_measure),
            ("area", area, _in_area),
            ("start", first and first.isoformat(), _from),
            ("end", last and last.isoformat(), _to),
            ("cloud", arguments.get("cloud"), _clear),
        ]
        for name, wanted, test in tests:
            if wanted is None:
                continue
            left = [row for row in rows if test(row, wanted)]
            if not left:
                raise MendableError(_nothing(name, rows, arguments))
            rows = left
        return _told(source, rows, context)


def _of_product(row: QgsFeature, wanted: str) -> bool:
    told = bare(f"{row['product']} {row['sensor']} {row['scene']} {row['bands']}")
    return all(bare(word) in told for word in wanted.split())


def _of_measure(row: QgsFeature, wanted: str) -> bool:
    return wanted.replace(" ", "_") in str(row["measures"]).split()


def _in_area(row: QgsFeature, wanted: QgsGeometry) -> bool:
    return bool(row.geometry().intersects(wanted))


def _from(row: QgsFeature, wanted: str) -> bool:
    day = plain(row["until"]) or plain(row["date"])
    return day is not None and str(day)[:10] >= wanted


def _to(row: QgsFeature, wanted: str) -> bool:
    day = plain(row["date"])
    return day is not None and str(day)[:10] <= wanted


def _clear(row: QgsFeature, wanted: float) -> bool:
    cloud = plain(row["cloud"])
    return cloud is None or cloud <= wanted


def _nothing(name: str, rows: list[QgsFeature], arguments: dict[str, Any]) -> str:
    """Say which condition left nothing, and what there is."""
    if name in ("product", "measure"):
        field = "product" if name == "product" else "measures"
        known = sorted({word for row in rows for word in _words(row, field)})
        return f"No scene has {name} {arguments[name]}. There is {listed(known)}."
    if name in ("start", "end"):
        days = sorted(str(plain(row["date"]))[:10] for row in rows if plain(row["date"]))
        span = f"They go from {days[0]} to {days[-1]}." if days else "None of them has a date."
        return f"No scene lies in that time. {span}"
    if name == "cloud":
        least = min(float(row["cloud"]) for row in rows)
        return (
            f"Every scene has more cloud than {arguments['cloud']:g} %: the least is {least:g} %."
        )
    return "No scene lies in that area: look at the scenes on the map, or index more folders."


def _words(row: QgsFeature, field: str) -> list[str]:
    text = str(plain(row[field]) or "unknown")
    return [text] if field == "product" else [one.replace("_", " ") for one in text.split()]


def _area(arguments: dict[str, Any], source: VectorSource, context: Context) -> QgsGeometry | None:
    """Return the wanted area in the catalogue's CRS, None for none. Raises MendableError."""
    given = [name for name in ("area", "place", "extent") if arguments.get(name)]
    if len(given) > 1:
        raise MendableError(f"Give one of {listed(given)}, not several.")
    if not given:
        return None
    if given[0] == "extent":
        west, south, east, north = arguments["extent"]
        if west >= east or south >= north:
            raise MendableError("extent is west, south, east, north: west < east, south < north.")
        return QgsGeometry.fromRect(QgsRectangle(west, south, east, north))
    if given[0] == "place":
        geometry, crs = place_named(arguments["place"], context)
        return _moved(geometry, crs, source)
    layer = context.layer(arguments["area"])
    needs_crs(layer, f"{layer.key} cannot be laid over scenes")
    if not isinstance(layer, VectorSource):
        return _moved(QgsGeometry.fromRect(layer.extent), layer.crs, source)
    shapes = [
        one.geometry() for one in layer.rows(context.cancelled, geometry=True) if one.hasGeometry()
    ]
    if not shapes:
        raise MendableError(f"{layer.key} has no feature with a geometry.")
    return _moved(QgsGeometry.unaryUnion(shapes), layer.crs, source)


def _moved(
    geometry: QgsGeometry, crs: QgsCoordinateReferenceSystem, source: VectorSource
) -> QgsGeometry:
    found = QgsGeometry(geometry)
    try:
        found.transform(transform(crs, source.crs))
    except QgsCsException as error:
        raise MendableError(f"The area has no place on the catalogue's map: {error}") from error
    return found


def _told(source: VectorSource, rows: list[QgsFeature], context: Context) -> ToolResult:
    made = new_layer(f"scenes of {source.key}", source.fields, source.wkb, source.crs, rows)
    reference = context.call(
        lambda: context.hand_over(made, titled(made.name()), {"scenes": source.id})
    )
    days = sorted({str(plain(row["date"]))[:10] for row in rows if plain(row["date"])})
    products = sorted({str(plain(row["product"]) or "unknown product") for row in rows})
    span = f", {days[0]} to {days[-1]}" if days else ""
    texts = {"first": days[0], "last": days[-1]} if days else {}
    return ToolResult(
        f"{wording.layer(reference)}: {listed(products)}{span}; "
        f"{wording.counted(len(days), 'day')}.",
        numbers={"count": float(len(rows)), "days": float(len(days))},
        texts=texts,
        layers=(reference,),
    )
