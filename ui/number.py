# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers and names as a user reads them: by locale, with no-break spaces, never as rich text."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, QLocale

SPACE = "\u00a0"
JOINER = "\u2060"
BREAK = "\u200b"
LONGEST = 400
LONG_WORD = re.compile(r"\S{16}(?=\S{4})")


def soften(text: str) -> str:
    """Return `text` in which a line can break inside very long words."""
    return LONG_WORD.sub(lambda found: found.group() + BREAK, text)


def tr(text: str, n: int = -1) -> str:
    """Translate a text that no widget owns."""
    return QCoreApplication.translate("GeoOlm", text, "", n)


def number(value: float) -> str:
    """Return a number in the user's locale, whole where it is whole."""
    locale = QLocale()
    if float(value).is_integer() and abs(value) < 1e15:
        return locale.toString(int(value))
    return locale.toString(float(value), "g", 6)


def duration(seconds: float) -> str:
    """Return "0.2 s" up to ten seconds, "0:21" from there on."""
    if seconds < 10:
        return QLocale().toString(max(0.0, float(seconds)), "f", 1) + f"{SPACE}s"
    return clock(seconds)


def clock(seconds: float) -> str:
    """Return minutes and seconds, with hours where there are any."""
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def count(features: int, geometry: str = "") -> str:
    """Return "742 points": the number of features, by what they are."""
    if features < 0:
        return tr("raster")
    lower = geometry.lower()
    for word, one, many in (
        ("point", tr("point"), tr("points")),
        ("line", tr("line"), tr("lines")),
        ("polygon", tr("polygon"), tr("polygons")),
        ("table", tr("row"), tr("rows")),
        ("none", tr("row"), tr("rows")),
    ):
        if word in lower:
            return f"{number(features)}{SPACE}{one if features == 1 else many}"
    return f"{number(features)}{SPACE}{tr('feature') if features == 1 else tr('features')}"


def crs(text: str) -> str:
    """Return an authority code that does not break at its colon."""
    return text.replace(":", f":{JOINER}")


def value_text(value: Any) -> str:
    """Return an argument as text for a card, cut where it would fill the card."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if value is None:
        return tr("not set")
    if isinstance(value, dict):
        text = ", ".join(f"{key}: {value_text(part)}" for key, part in value.items())
    elif isinstance(value, (list, tuple)):
        text = ", ".join(value_text(part) for part in value)
    elif isinstance(value, float):
        text = number(value)
    else:
        text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def label(name: str) -> str:
    """Return an argument's name as a label: "group_by" is "Group by"."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def plain_tip(text: str) -> str:
    """Return a tooltip that shows `text` literally, whatever it holds."""
    return f"<span>{escape(text)}</span>".replace("\n", "<br>") if text else ""


def plain_button(text: str) -> str:
    """Return a text for a button or menu in which "&" is an "&"."""
    return text.replace("&", "&&")
