# SPDX-License-Identifier: GPL-2.0-or-later
"""Lengths and areas with units: "1 km" in, square kilometres out."""

from __future__ import annotations

import re

from .base import MendableError

METRES = {
    "m": 1.0,
    "km": 1000.0,
    "cm": 0.01,
    "mm": 0.001,
    "mi": 1609.344,
    "ft": 0.3048,
    "yd": 0.9144,
    "nmi": 1852.0,
}
_WORDS = {
    "": "m",
    "metre": "m",
    "meter": "m",
    "mt": "m",
    "kilometre": "km",
    "kilometer": "km",
    "kilometro": "km",
    "kilómetro": "km",
    "kilomètre": "km",
    "centimetre": "cm",
    "centimeter": "cm",
    "millimetre": "mm",
    "millimeter": "mm",
    "mile": "mi",
    "foot": "ft",
    "feet": "ft",
    "yard": "yd",
    "nautical mile": "nmi",
    "nm": "nmi",
}
LENGTHS = {"m": 1.0, "km": 1000.0, "mi": 1609.344, "ft": 0.3048}
AREAS = {"m2": 1.0, "km2": 1e6, "ha": 1e4, "acre": 4046.8564224, "mi2": 2589988.110336}
SQUARES = {"m²": "m2", "km²": "km2", "sqm": "m2", "sqkm": "km2", "hectare": "ha", "hectares": "ha"}
_NUMBER = re.compile(r"^\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([^\d]*?)\.?\s*$")


def metres(value: float | str, name: str = "distance") -> float:
    """Return a length in metres; a bare number is metres. Raises MendableError."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    number, unit = parted(str(value), name)
    return number * METRES[unit or "m"]


def is_measure(text: str) -> bool:
    """Tell whether a word is a unit of length or area."""
    word = text.strip().lower()
    lengths = {*METRES, *filter(None, _WORDS)}
    return word in {*lengths, *AREAS, *SQUARES} or word.rstrip("s") in lengths


def parted(text: str, name: str) -> tuple[float, str]:
    """Return the number and the unit ("" for none) of a length as text. Raises MendableError."""
    found = _NUMBER.match(text)
    if not found:
        raise MendableError(
            f'{name} cannot be "{text}". Write a number with a point, and m, km or miles.'
        )
    word = found.group(2).strip().lower()
    unit = word if word in METRES else _WORDS.get(word, _WORDS.get(word.rstrip("s")))
    if unit is None:
        raise MendableError(f'{name} has the unknown unit "{word}". Known: {", ".join(METRES)}.')
    return float(found.group(1)), unit if word else ""
