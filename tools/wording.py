# SPDX-License-Identifier: GPL-2.0-or-later
"""Results put into few words: capped rows, numbers without noise, data values as JSON strings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .base import BandProfile, FieldProfile, LayerProfile, LayerReference

MOST_ROWS = 20
MOST_CHARACTERS = 1_500
EXACT = 2**53
"""The largest whole number below which a number with a point holds every whole one."""


def number(value: float) -> str:
    """Return a number as it is read: whole ones exactly and without a point, others with ten
    digits; above 2^53 a number with a point says no more than that many digits."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) <= EXACT):
        return str(int(value))
    return f"{value:.10g}"


def value(item: Any) -> str:
    """Return a data value as JSON, texts cut at 80 characters."""
    if isinstance(item, bool) or item is None:
        return json.dumps(item)
    if isinstance(item, (int, float)):
        return number(item)
    text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
    return json.dumps(text if len(text) <= 80 else text[:79] + "…", ensure_ascii=False)


def capped(text: str, most: int = MOST_CHARACTERS) -> str:
    """Cut a text at a line or a blank when it is longer than `most`."""
    if len(text) <= most:
        return text
    cut = max(text.rfind("\n", 0, most), text.rfind(" ", 0, most), most // 2)
    return text[:cut].rstrip() + " …"


def rows(items: Sequence[dict[str, Any]], most: int = MOST_ROWS) -> str:
    """Return rows of named values, a line each, and how many were left out."""
    lines = [
        ", ".join(f"{name}: {value(item)}" for name, item in row.items()) for row in items[:most]
    ]
    if len(items) > most:
        lines.append(f"… and {len(items) - most} more")
    return capped("\n".join(lines))


def crs_of(crs: str) -> str:
    """Name a CRS in a sentence."""
    return crs or "no CRS"


def layer(reference: LayerReference) -> str:
    """Describe a layer that was made."""
    name = json.dumps(reference.name, ensure_ascii=False)
    if reference.geometry == "raster":
        return f"layer {name} (raster, {crs_of(reference.crs)})"
    many = counted(reference.features, "feature")
    kind = reference.geometry
    if kind != "table":
        kind = f"{kind}, {crs_of(reference.crs)}"
    return f"layer {name}, {many} ({kind})"


def summary(profile: LayerProfile) -> str:
    """Describe a layer in one line, with the names of its fields."""
    name = profile.title
    if profile.geometry == "raster":
        return f"{name}: raster, {counted(len(profile.bands), 'band')}, {crs_of(profile.crs)}"
    kind = profile.geometry
    if kind != "table":
        kind += f", {crs_of(profile.crs)}"
    fields = capped(", ".join(item.name for item in profile.fields), 300)
    return f"{name}: {kind}, {counted(profile.features, 'feature')}; fields: {fields}"


def field(profile: FieldProfile) -> str:
    """Describe a field in one line: type, range or samples, empty ones."""
    alias = f", {value(profile.alias)}" if profile.alias else ""
    parts = [f"{profile.name} ({profile.type}{alias})"]
    if profile.minimum and profile.distinct != 1:
        parts.append(f"{profile.minimum} to {profile.maximum}")
    elif profile.samples:
        shown = ", ".join(json.dumps(text, ensure_ascii=False) for text in profile.samples)
        more = profile.distinct is None or profile.distinct > len(profile.samples)
        parts.append(shown + (", …" if more else ""))
    if profile.distinct is not None and profile.type == "text":
        parts.append(f"{profile.distinct} distinct")
    if profile.empty:
        parts.append(f"{profile.empty} empty")
    return ": ".join([parts[0], "; ".join(parts[1:])]) if parts[1:] else parts[0]


def band(profile: BandProfile) -> str:
    """Describe a band in one line: number, name, type, nodata."""
    parts = [value(profile.name)] if profile.name else []
    parts.append(profile.type)
    if profile.nodata is not None:
        parts.append(f"nodata {profile.nodata:.6g}")
    return f"band {profile.number}: {', '.join(parts)}"


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun, in the singular for one."""
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or noun + 's'}"


def lines(items: Sequence[str], names: Sequence[str] = ()) -> str:
    """Join lines up to the cap; of those that do not fit only the `names` are listed."""
    total, fitting = 0, len(items)
    most = MOST_CHARACTERS - (300 if names else 0)
    for place, item in enumerate(items):
        total += len(item) + 1
        if total > most:
            fitting = place
            break
    if fitting == len(items):
        return "\n".join(items)
    rest = f"… and {len(items) - fitting} more"
    if names:
        rest += f": {', '.join(names[fitting:])}"
    return "\n".join([*items[:fitting], capped(rest, 400)])
