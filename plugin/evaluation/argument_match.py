# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether an argument is the expected one: as the papers define it, and as the released scorer
of GeoFlow computes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .answer_grade import folded
from .same_call import Made, SameCalls
from .task_fault import is_number

Agrees = Callable[[Any, Any, SameCalls], bool]
"""Takes the expected value, the found one, and the table of same calls."""

SHARE = 0.10
OVERLAP = 0.5
DEGREES = 2.0
_MEASURE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:[A-Za-z]{1,2}[23\u00b2]?)?\s*")
_BOX = re.compile(r"\s*" + r"\s*,\s*".join([r"(-?\d+(?:\.\d+)?)"] * 4) + r"\s*(?:\[[\w:]+\])?\s*")
_EMBEDDED = re.compile(r"\$[A-Za-z_]\w*\.\w+")
"""A result within a longer text, as in arithmetic."""
_OPERAND = re.compile(r"\$?\b[A-Za-z_]\w*\.\w+|(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\$\w+")
"""What stands for a number there: a result by its name or its id, or the number itself."""
_LOOSE = re.compile(r"[\s\"']+")


def as_defined(expected: Any, found: Any, same: SameCalls) -> bool:
    """Tell whether a value is right: names equal but for case and marks, numbers within a tenth,
    areas of interest that share half of their union.

    The tolerance is that of the earthquake study (Geo-OLM paper, section 5).
    """
    if isinstance(expected, Made):
        return isinstance(found, Made) and same.same(expected.names, found.names)
    box, other = _box(expected), _box(found)
    if box is not None and other is not None:
        return overlap(box, other) >= OVERLAP
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return all(
            key in found and as_defined(value, found[key], same) for key, value in expected.items()
        )
    if isinstance(expected, (list, tuple)):
        many = found if isinstance(found, (list, tuple)) else [found]
        pairs = list(zip(expected, many))
        return len(many) == len(expected) and all(as_defined(a, b, same) for a, b in pairs)
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    number, given = _number(expected), _number(found)
    if number is not None and given is not None:
        return abs(number - given) <= SHARE * abs(number)
    if _EMBEDDED.search(str(expected)):
        return _loose(_OPERAND.sub("#", str(expected))) == _loose(_OPERAND.sub("#", str(found)))
    return _loose(expected) == _loose(found) or _is_path(str(expected), str(found))


def as_released(expected: Any, found: Any, same: SameCalls) -> bool:
    """Tell whether a value passes the released scorer: numbers within 2.0, any text not blank."""
    if is_number(expected):
        return is_number(found) and abs(expected - found) <= DEGREES
    if isinstance(expected, str):
        return isinstance(found, Made) or bool(str(found).strip())
    return found is not None


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the shared area of two boxes over that of their union; boxes are xmin, xmax, ymin,
    ymax."""
    width = min(one[1], other[1]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[2], other[2])
    shared = max(width, 0.0) * max(height, 0.0)
    union = _area(one) + _area(other) - shared
    return shared / union if union > 0 else float(one == other)


def _area(box: tuple[float, ...]) -> float:
    return (box[1] - box[0]) * (box[3] - box[2])


def _box(value: Any) -> tuple[float, ...] | None:
    """Read an extent as QGIS writes it, "xmin,xmax,ymin,ymax [EPSG:4326]", or a list of four."""
    if isinstance(value, str):
        found = _BOX.fullmatch(value)
        return None if found is None else tuple(float(one) for one in found.groups())
    if isinstance(value, (list, tuple)) and len(value) == 4 and all(map(is_number, value)):
        return tuple(float(one) for one in value)
    return None


def _number(value: Any) -> float | None:
    if is_number(value):
        return float(value)
    found = _MEASURE.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else float(found.group(1))


def _is_path(relative: str, whole: str) -> bool:
    """Tell whether a path is the one that a task gives relative to its data."""
    return "/" in relative and whole.replace("\\", "/").endswith(f"/{relative}")


def _loose(value: Any) -> str:
    return _LOOSE.sub("", folded(str(value))).replace("\u0131", "i")
