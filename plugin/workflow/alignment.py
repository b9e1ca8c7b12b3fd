# SPDX-License-Identifier: GPL-2.0-or-later
"""Places for boxes that are to be in line, or evenly apart, in em."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

Box = tuple[float, float, float, float]
"""x, y, width and height."""
Place = tuple[float, float]


class Edge(str, Enum):
    """What is brought into line."""

    LEFT = "left"
    RIGHT = "right"
    TOP = "top"
    BOTTOM = "bottom"
    CENTRE = "centre"
    MIDDLE = "middle"


def aligned(boxes: Mapping[str, Box], edge: Edge) -> dict[str, Place]:
    """Return the places at which boxes share an edge: the outermost one, or the centre (across)
    or middle (down) of all."""
    if not boxes:
        return {}
    left = min(x for x, _, _, _ in boxes.values())
    right = max(x + width for x, _, width, _ in boxes.values())
    top = min(y for _, y, _, _ in boxes.values())
    bottom = max(y + height for _, y, _, height in boxes.values())
    found: dict[str, Place] = {}
    for key, (x, y, width, height) in boxes.items():
        found[key] = {
            Edge.LEFT: (left, y),
            Edge.RIGHT: (right - width, y),
            Edge.TOP: (x, top),
            Edge.BOTTOM: (x, bottom - height),
            Edge.CENTRE: ((left + right - width) / 2, y),
            Edge.MIDDLE: (x, (top + bottom - height) / 2),
        }[edge]
    return found


def distributed(boxes: Mapping[str, Box], across: bool) -> dict[str, Place]:
    """Return the places at which the room between boxes is the same; the outermost ones stay."""
    at, size = (0, 2) if across else (1, 3)
    row = sorted(boxes, key=lambda key: (boxes[key][at], boxes[key][1 - at]))
    if len(row) < 3:
        return {key: boxes[key][:2] for key in row}
    first, last = boxes[row[0]], boxes[row[-1]]
    room = last[at] - first[at] - sum(boxes[key][size] for key in row[:-1])
    gap, here = room / (len(row) - 1), first[at]
    found: dict[str, Place] = {}
    for key in row:
        x, y, _, _ = boxes[key]
        found[key] = (round(here, 3), y) if across else (x, round(here, 3))
        here += boxes[key][size] + gap
    return found
