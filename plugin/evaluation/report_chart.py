# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws success against tokens, cost or seconds as SVG, with intervals, as in the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 32, 56
_CHARACTER, _LINE = 6.6, 14.0
_INK, _MUTED, _GRID = "#22262a", "#61686f", "#dfe3e6"


@dataclass(frozen=True)
class Family:
    """A kind of methods with its colour and the shape of its mark."""

    title: str
    colour: str
    shape: str


FAMILIES = {
    "ours": Family("Geo-OLM and GeoFlow", "#1c6ba8", "circle"),
    "graph": Family("Graph and state", "#0f6b45", "diamond"),
    "single": Family("One agent", "#8f1d14", "triangle"),
    "team": Family("Teams", "#7a35c2", "square"),
    "other": Family("Other", "#61686f", "cross"),
}
_MEMBERS = {
    "geo-olm": "ours",
    "geoflow": "ours",
    "flow": "graph",
    "stateflow": "graph",
    "chameleon": "graph",
    "geollm-qa": "single",
    "react": "single",
    "react-errtrm": "single",
    "squad": "team",
    "squad-errtrm": "team",
    "magentic": "team",
    "group-chat": "team",
    "sequential": "team",
    "swarm": "team",
}


def family(method: str) -> Family:
    """Return the family of a method, whatever its variant."""
    return FAMILIES[_MEMBERS.get(method.partition("+")[0], "other")]


@dataclass(frozen=True)
class Point:
    """One method in a chart: `x` above 0, share and interval from 0 to 1."""

    label: str
    method: str
    x: float
    share: float
    low: float
    high: float


class Chart:
    """Places points on a logarithmic axis and shares from 0 to 100 %."""

    def __init__(self, points: Sequence[Point], axis: str) -> None:
        self._points = sorted((one for one in points if one.x > 0), key=lambda one: one.x)
        self._axis = axis
        least = min((one.x for one in self._points), default=1.0)
        most = max((one.x for one in self._points), default=10.0)
        self._low = math.log10(least / 1.6)
        self._high = math.log10(most * 1.6)
        self._taken: list[tuple[float, float, float, float]] = []

    def svg(self) -> str:
        """Return the chart as an SVG element that stands alone."""
        parts = [*self._grid(), *self._frontier()]
        for one in self._points:
            x, y = self._x(one.x), self._y(one.share)
            self._taken.append((x - 7, y - 7, x + 7, y + 7))
            self._taken.append((x - 2, self._y(one.high), x + 2, self._y(one.low)))
        for one in self._points:
            parts += self._mark(one)
        for one in self._points:
            parts.append(self._label(one))
        parts += self._legend()
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">'
            f"<title>Success against {escape(self._axis)}</title>{''.join(parts)}</svg>"
        )

    def _x(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    @staticmethod
    def _y(share: float) -> float:
        return _TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM)

    def _grid(self) -> list[str]:
        parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
        for percent in range(0, 101, 20):
            y = self._y(percent / 100)
            parts.append(_line(_LEFT, y, WIDTH - _RIGHT, y, _GRID))
            parts.append(_text(_LEFT - 8, y + 4, f"{percent} %", _MUTED, "end"))
        for value in self._ticks():
            x = self._x(value)
            parts.append(_line(x, _TOP, x, HEIGHT - _BOTTOM, _GRID))
            parts.append(_text(x, HEIGHT - _BOTTOM + 16, tick(value), _MUTED, "middle"))
        title = f"{self._axis}, log scale (left is better)"
        parts.append(_text((WIDTH + _LEFT) / 2, HEIGHT - _BOTTOM + 33, title, _INK, "middle"))
        return parts

    def _ticks(self) -> list[float]:
        found = [
            step * 10.0**power
            for power in range(math.floor(self._low), math.ceil(self._high) + 1)
            for step in (1, 3)
        ]
        inside = [one for one in found if self._low <= math.log10(one) <= self._high]
        return inside if len(inside) > 1 else [one.x for one in self._points]

    def _frontier(self) -> list[str]:
        """Draw the best success at or below each place on the axis."""
        parts, best = [], -1.0
        for at, one in enumerate(self._points):
            best = max(best, one.share)
            following = self._points[at + 1].x if at + 1 < len(self._points) else None
            end = self._x(following) if following else WIDTH - _RIGHT
            y = self._y(best)
            parts.append(_line(self._x(one.x), y, end, y, "#9aa1a7", ' stroke-dasharray="5 4"'))
        return parts

    def _mark(self, one: Point) -> list[str]:
        x, y, own = self._x(one.x), self._y(one.share), family(one.method)
        low, high = self._y(one.low), self._y(one.high)
        parts = [_line(x, low, x, high, own.colour, ' stroke-width="1.6"')]
        parts += [_line(x - 5, end, x + 5, end, own.colour) for end in (low, high)]
        parts.append(shape(own, x, y))
        return parts

    def _label(self, one: Point) -> str:
        x, y = self._x(one.x), self._y(one.share)
        width = _CHARACTER * len(one.label)
        steps = sorted((one / 2 for one in range(-9, 10)), key=abs)
        places = [
            place
            for step in steps
            for place in (
                (x + 10, y + step * _LINE + 4, "start"),
                (x - 10, y + step * _LINE + 4, "end"),
            )
        ]
        for left, base, anchor in places:
            begin = left if anchor == "start" else left - width
            box = (begin - 4, base - 10, begin + width + 4, base + 3)
            if self._free(box):
                break
        else:
            left, base, anchor = places[0]
            return _text(left, base, one.label, family(one.method).colour, anchor)
        self._taken.append(box)
        behind = (
            f'<rect x="{box[0]:.1f}" y="{box[1]:.1f}" width="{box[2] - box[0]:.1f}" height="13" '
            'fill="#ffffff" fill-opacity="0.8"/>'
        )
        return behind + _text(left, base, one.label, family(one.method).colour, anchor)

    def _free(self, box: tuple[float, float, float, float]) -> bool:
        inside = (
            box[0] >= _LEFT and box[2] <= WIDTH - 2 and box[1] >= 0 and box[3] <= HEIGHT - _BOTTOM
        )
        return inside and not any(
            box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
            for other in self._taken
        )

    def _legend(self) -> list[str]:
        shown = list(dict.fromkeys(family(one.method) for one in self._points))
        parts, x = [], float(_LEFT)
        for own in shown:
            parts += [shape(own, x + 6, HEIGHT - 8), _text(x + 18, HEIGHT - 4, own.title, _MUTED)]
            x += 34 + _CHARACTER * len(own.title)
        parts.append(_text(WIDTH - _RIGHT, HEIGHT - 4, "- - best so far", _MUTED, "end"))
        return parts


def tick(value: float) -> str:
    """Write a value of the axis."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0").rstrip(".")


def shape(own: Family, x: float, y: float) -> str:
    """Draw a family's mark around a place."""
    forms = {
        "diamond": ((0, -7), (7, 0), (0, 7), (-7, 0)),
        "triangle": ((0, -7), (7, 6), (-7, 6)),
        "square": ((-5.5, -5.5), (5.5, -5.5), (5.5, 5.5), (-5.5, 5.5)),
        "cross": ((-6, -2), (-2, -6), (6, 2), (2, 6)),
    }
    if own.shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{own.colour}"/>'
    corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in forms[own.shape])
    return f'<polygon points="{corners}" fill="{own.colour}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'
    )


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'
