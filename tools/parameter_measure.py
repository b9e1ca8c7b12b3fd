# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters that are numbers: plain ones, and lengths, areas, volumes and times with units."""

from __future__ import annotations

import re
from typing import Any

from qgis.core import Qgis, QgsCoordinateReferenceSystem, QgsUnitTypes

from .base import Family, MendableError
from .distance import needs_crs
from .fitting import Fitting, Way, as_number, is_number, many, one, wrong
from .source import LayerSource, VectorSource
from .unit import AREAS, METRES, SQUARES, parted

_QUANTITY = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([^\d\s].*?)?\.?\s*")
_LARGEST = 1e300
"""What QGIS writes for "no limit" lies beyond this."""
_VOLUMES = {"m3": 1.0, "m³": 1.0, "l": 0.001, "km3": 1e9, "km³": 1e9}
_TIMES = {
    Qgis.TemporalUnit.Milliseconds: ("ms", "millisecond"),
    Qgis.TemporalUnit.Seconds: ("s", "sec", "second"),
    Qgis.TemporalUnit.Minutes: ("min", "minute"),
    Qgis.TemporalUnit.Hours: ("h", "hour"),
    Qgis.TemporalUnit.Days: ("d", "day"),
    Qgis.TemporalUnit.Weeks: ("week",),
    Qgis.TemporalUnit.Months: ("month",),
    Qgis.TemporalUnit.Years: ("year",),
}


def number(fitting: Fitting, definition: Any, value: Any) -> float | int:
    """Return a number within the parameter's range."""
    return _within(definition, as_number(definition, one(definition, value)), value)


def limits(definition: Any) -> tuple[float | None, float | None]:
    """Return the least and the greatest number that a parameter takes, None for no limit."""
    least, most = definition.minimum(), definition.maximum()
    return (least if least > -_LARGEST else None), (most if most < _LARGEST else None)


def _within(definition: Any, found: float, value: Any) -> float | int:
    if definition.dataType() == Qgis.ProcessingNumberParameterType.Integer:
        if found != int(found):
            raise MendableError(f"{definition.name()} must be a whole number, not {value}.")
        found = int(found)
    if not definition.minimum() <= found <= definition.maximum():
        least, most = limits(definition)
        if most is None:
            range_ = f"at least {least:g}"
        elif least is None:
            range_ = f"at most {most:g}"
        else:
            range_ = f"from {least:g} to {most:g}"
        raise MendableError(f"{definition.name()} must be {range_}, not {value}.")
    return found


def distance(fitting: Fitting, definition: Any, value: Any) -> float:
    """Return a length in the units of the layer's CRS; with a unit it is turned into them."""
    given = one(definition, value)
    if not is_number(given) and not isinstance(given, str):
        raise wrong(definition, "a length", value)
    found, unit = (
        (as_number(definition, given), "") if is_number(given) else parted(given, definition.name())
    )
    source = fitting.parent(definition.parentParameterName())
    if source is None:
        crs = _crs_of(fitting, definition)
        return _within(definition, _in_units_of(crs, found, unit, value), value)
    if found == 0:
        return _within(definition, found, value)
    needs_crs(source, f"{definition.name()} has no unit")
    _refuse_degrees(source, f"The distance {value} would be in degrees")
    if isinstance(source, VectorSource) and source.family is Family.POINT and found < 0:
        raise MendableError("A negative distance on points leaves nothing.")
    return _within(definition, _in_units_of(source.crs, found, unit, value), value)


def _crs_of(fitting: Fitting, definition: Any) -> QgsCoordinateReferenceSystem:
    """Return the CRS that another parameter gives, as grids have it."""
    given = fitting.found.get(definition.parentParameterName(), "")
    return QgsCoordinateReferenceSystem(given if isinstance(given, str) else "")


def _in_units_of(crs: QgsCoordinateReferenceSystem, found: float, unit: str, value: Any) -> float:
    """Return a distance in the units of a CRS; without a unit it is in them already."""
    if not unit:
        return found
    if crs.isValid() and crs.isGeographic():
        raise MendableError(
            f"The distance {value} cannot be in metres: the CRS {crs.authid()} is in degrees."
        )
    return found * METRES[unit] * _per_metre(crs)


def _per_metre(crs: QgsCoordinateReferenceSystem) -> float:
    metres = Qgis.DistanceUnit.Meters
    return QgsUnitTypes.fromUnitToUnitFactor(metres, crs.mapUnits()) if crs.isValid() else 1.0


def _refuse_degrees(source: LayerSource, what: str) -> None:
    if source.crs.isGeographic():
        raise MendableError(
            f"{what}: {source.key} is in {source.crs.authid()}. Run native:reprojectlayer to a "
            f"metric CRS first, such as {_metric(source)}."
        )


def _metric(source: LayerSource) -> str:
    """Name the UTM zone around the middle of a layer in degrees."""
    middle = source.extent.center()
    return utm(middle.x(), middle.y())


def utm(longitude: float, latitude: float) -> str:
    """Return the UTM zone of a place in degrees, such as EPSG:32630."""
    zone = min(60, max(1, int((longitude + 180) // 6) + 1))
    return f"EPSG:{(32600 if latitude >= 0 else 32700) + zone}"


def area(fitting: Fitting, definition: Any, value: Any) -> float:
    """Return an area in the square units of the layer's CRS; with a unit it is turned into them."""
    return _power(fitting, definition, value, {**AREAS}, 2)


def volume(fitting: Fitting, definition: Any, value: Any) -> float:
    """Return a volume in the cubic units of the layer's CRS."""
    return _power(fitting, definition, value, _VOLUMES, 3)


def _power(
    fitting: Fitting, definition: Any, value: Any, units: dict[str, float], power: int
) -> float:
    """Return a number of square (2) or cubic (3) units; one without a unit is in them already."""
    kind = {2: "area", 3: "volume"}[power]
    found, unit = _quantity(definition, one(definition, value), kind)
    unit = SQUARES.get(unit, unit)
    if unit and unit not in units:
        raise MendableError(
            f'{definition.name()} has the unknown unit "{unit}". Known: {", ".join(units)}.'
        )
    source = fitting.parent(definition.parentParameterName())
    if found and source is not None:
        degrees = {2: "square degrees", 3: "cubic degrees"}[power]
        _refuse_degrees(source, f"The {kind} {value} would be in {degrees}")
    if unit:
        crs = source.crs if source is not None else _crs_of(fitting, definition)
        found *= units[unit] * _per_metre(crs) ** power
    return _within(definition, found, value)


def _quantity(definition: Any, value: Any, kind: str) -> tuple[float, str]:
    """Return the number and the unit ("" for none) of a quantity. Raises MendableError."""
    if is_number(value):
        return as_number(definition, value), ""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        article = "an" if kind[0] in "aeiou" else "a"
        raise wrong(definition, f"{article} {kind}", value)
    return float(match.group(1)), (match.group(2) or "").strip().lower()


def duration(fitting: Fitting, definition: Any, value: Any) -> float:
    """Return a span of time in the parameter's own unit; a bare number is in it already."""
    found, word = _quantity(definition, one(definition, value), "duration")
    if word:
        short = word.rstrip("s") or "s"
        named = [unit for unit, words in _TIMES.items() if word in words or short in words]
        if not named:
            raise MendableError(
                f'{definition.name()} has the unknown unit "{word}". Known: '
                f"{', '.join(words[-1] for words in _TIMES.values())}."
            )
        found *= QgsUnitTypes.fromUnitToUnitFactor(named[0], definition.defaultUnit())
    return _within(definition, found, value)


def scale(fitting: Fitting, definition: Any, value: Any) -> float:
    """Return the denominator of a map scale, given as 25000 or 1:25000."""
    given = one(definition, value)
    text = given.replace(" ", "") if isinstance(given, str) else given
    if isinstance(text, str) and text.startswith("1:"):
        text = text[2:]
    found = as_number(definition, text)
    if found <= 0:
        raise wrong(definition, "a scale such as 1:25000", value)
    return _within(definition, found, value)


def range_of(fitting: Fitting, definition: Any, value: Any) -> list[float]:
    """Return the two ends of a range, given as a list, as "1,10" or as {"min": 1, "max": 10}."""
    given: Any = many(value)
    if len(given) == 1 and isinstance(given[0], dict):
        given = [given[0].get("min"), given[0].get("max")]
    elif len(given) == 1 and isinstance(given[0], str):
        given = given[0].split(",")
    if len(given) != 2:
        raise wrong(definition, "two numbers, the least and the greatest", value)
    low, high = (as_number(definition, end) for end in given)
    if low > high:
        raise MendableError(f"{definition.name()} goes from {low:g} to {high:g}: swap the two.")
    if definition.dataType() == Qgis.ProcessingNumberParameterType.Integer and (
        low != int(low) or high != int(high)
    ):
        raise wrong(definition, "two whole numbers", value)
    return [low, high]


WAYS: dict[str, Way] = {
    "number": number,
    "distance": distance,
    "area": area,
    "volume": volume,
    "duration": duration,
    "scale": scale,
    "range": range_of,
}
"""How a value of each type of parameter is fitted."""
