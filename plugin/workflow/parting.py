# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves groups and steps apart, down, so that no frame of a group lies over what is not in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .alignment import Box

GAP = 1.5
"""The least room between a frame and what stands above it, in em."""
Margins = tuple[float, float, float, float]
"""What a frame takes more than its steps: left, top, right, bottom."""


def parted(
    boxes: Mapping[str, Box], groups: Sequence[Sequence[str]], margins: Margins
) -> dict[str, float]:
    """Return by how much each box goes down; the members of a group go together."""
    blocks: list[tuple[Box, tuple[str, ...]]] = []
    held: set[str] = set()
    for members in groups:
        inside = tuple(key for key in members if key in boxes)
        if inside:
            held.update(inside)
            blocks.append((_frame([boxes[key] for key in inside], margins), inside))
    blocks += [(box, (key,)) for key, box in boxes.items() if key not in held]
    shifts: dict[str, float] = {}
    placed: list[Box] = []
    for box, keys in sorted(blocks, key=lambda one: (one[0][1], one[0][0])):
        x, y, width, height = box
        while True:
            below = [
                top + tall + GAP
                for left, top, wide, tall in placed
                if left < x + width and x < left + wide
                if top < y + height + GAP and y < top + tall + GAP
            ]
            if not below:
                break
            y = max(below)
        placed.append((x, y, width, height))
        shifts.update(dict.fromkeys(keys, y - box[1]))
    return shifts


def _frame(boxes: Sequence[Box], margins: Margins) -> Box:
    left, top, right, bottom = margins
    x, y = min(one[0] for one in boxes), min(one[1] for one in boxes)
    end, low = max(one[0] + one[2] for one in boxes), max(one[1] + one[3] for one in boxes)
    return (x - left, y - top, end - x + left + right, low - y + top + bottom)
