# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers as the user writes them."""

from __future__ import annotations

import math

from qgis.PyQt.QtCore import QLocale

_DIGITS = 6


def in_locale(value: float) -> str:
    """Write a number in the user's locale: whole numbers whole, others with six digits."""
    if not math.isfinite(value):
        return str(value)
    locale = QLocale()
    if value == int(value) and abs(value) < 1e15:
        return locale.toString(int(value))
    places = max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))
    text = locale.toString(float(value), "f", min(places, 12))
    point = locale.decimalPoint()
    return text.rstrip("0").rstrip(point) if point in text else text
