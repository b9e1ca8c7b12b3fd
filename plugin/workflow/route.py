# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways for links around the boxes that stand between their ends, from left to right in lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""
Lane = tuple[float, float, float]
"""The x where a lane begins, that where it ends, and its y; it begins right of its end where a
link runs back."""

ROOM, BEND = 1.0, 2.5
"""The least distance of a lane from a box, and the room in which a link changes its lane, in em."""
_SAMPLES, _NEAR, _APART = 12, 0.3, 1.3


def route(start: Point, end: Point, boxes: Iterable[Box], forward: bool = True) -> tuple[Lane, ...]:
    """Return the lanes of a link from an output to an input, in em; () where the plain curve is
    free. `forward` False is for a link whose end lies left of its start."""
    near = tuple(boxes)
    if forward:
        return _forward(start, end, [one for one in near if one[2] > start[0] and one[0] < end[0]])
    left, right = end[0] - BEND, start[0] + BEND
    blocked = _blocked([one for one in near if one[2] > left and one[0] < right])
    wanted = (start[1] + end[1]) / 2
    y = min(_free(blocked, wanted), key=lambda one: abs(one - wanted))
    return ((start[0], end[0], y),)


def apart(lanes: Sequence[Lane], taken: Iterable[Lane], boxes: Iterable[Box]) -> tuple[Lane, ...]:
    """Return lanes that lie a little higher or lower where others run along already, as long as no
    box is in the way."""
    used, near = tuple(taken), tuple(boxes)
    found: list[Lane] = []
    for left, right, y in lanes:
        first, last = min(left, right), max(left, right)
        tried = (y, *(y + sign * step * _APART for step in (1, 2, 3) for sign in (1, -1)))
        free = (
            one
            for one in tried
            if not any(abs(other - one) < _APART - 0.01 and min(a, b) < last and max(a, b) > first
                       for a, b, other in used)
            and not any(box[0] < last and box[2] > first and box[1] < one < box[3]
                        for box in near)
        )  # fmt: skip
        found.append((left, right, next(free, y)))
    return tuple(found)


def _forward(start: Point, end: Point, boxes: Sequence[Box]) -> tuple[Lane, ...]:
    """Lead a link around the boxes that it hits, then around those that its new way hits, and so
    on; boxes that are never hit have no say."""
    lanes: tuple[Lane, ...] = ()
    held: list[Box] = []
    while True:
        hit = [one for one in _hit(start, end, lanes, boxes) if one not in held]
        if not hit:
            return lanes
        held += hit
        lanes = _around(start, end, _bands(start, end, held))


def _hit(start: Point, end: Point, lanes: Sequence[Lane], boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes that a link with these lanes runs behind."""
    found: list[Box] = []
    here = start
    for left, right, y in lanes:
        found += _behind(here, (left, y), boxes)
        found += [one for one in boxes
                  if one[0] < right and one[2] > left and one[1] < y < one[3]]  # fmt: skip
        here = (right, y)
    return [*found, *_behind(here, end, boxes)]


def _behind(start: Point, end: Point, boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes that the plain curve from one place to another runs behind."""
    top, bottom = min(start[1], end[1]), max(start[1], end[1])
    close = [
        one
        for one in boxes
        if one[3] > top - _NEAR and one[1] < bottom + _NEAR and one[2] > start[0] - _NEAR
        and one[0] < end[0] + _NEAR
    ]  # fmt: skip
    if not close:
        return []
    reach = max(abs(end[0] - start[0]) / 2, BEND)
    places: list[Point] = []
    for step in range(1, _SAMPLES):
        t = step / _SAMPLES
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        x = a * start[0] + b * (start[0] + reach) + c * (end[0] - reach) + d * end[0]
        places.append((x, (a + b) * start[1] + (c + d) * end[1]))
    return [
        box
        for box in close
        if any(
            box[0] - _NEAR < x < box[2] + _NEAR and box[1] - _NEAR < y < box[3] + _NEAR
            for x, y in places
        )
    ]


def _bands(start: Point, end: Point, boxes: Sequence[Box]) -> list[tuple[float, float, list[Box]]]:
    """Return the stretches that boxes stand in, from left to right, with room to bend between."""
    bands: list[tuple[float, float, list[Box]]] = []
    for box in sorted(boxes):
        left, right = max(box[0], start[0]), min(box[2], end[0])
        if bands and left < bands[-1][1] + BEND:
            first, last, held = bands[-1]
            bands[-1] = (first, max(last, right), [*held, box])
        else:
            bands.append((left, right, [box]))
    return bands


def _around(
    start: Point, end: Point, bands: list[tuple[float, float, list[Box]]]
) -> tuple[Lane, ...]:
    """Choose a free height in each band so that the way up and down is the shortest."""
    ways: dict[float, tuple[float, tuple[float, ...]]] = {start[1]: (0.0, ())}
    for left, right, held in bands:
        blocked = _blocked(held)
        straight = start[1] + (end[1] - start[1]) * ((left + right) / 2 - start[0]) / max(
            end[0] - start[0], 0.1
        )
        at_start, at_end = left < start[0] + BEND, right > end[0] - BEND
        if at_start and _is_free(blocked, start[1]):
            heights = {start[1]}
        elif at_end and _is_free(blocked, end[1]):
            heights = {end[1]}
        else:
            heights = {*_free(blocked, straight)}
            heights |= {y for y in (*ways, end[1]) if _is_free(blocked, y)}
        ways = {
            y: min(
                (cost + abs(y - before) + 0.01 * abs(y - straight), (*path, y))
                for before, (cost, path) in ways.items()
            )
            for y in heights
        }
    _, best = min((cost + abs(end[1] - y), path) for y, (cost, path) in ways.items())
    return tuple((left, right, y) for (left, right, _), y in zip(bands, best))


def _blocked(boxes: Iterable[Box]) -> list[tuple[float, float]]:
    """Return the heights that boxes take with room about them, from the top, none touching."""
    found: list[tuple[float, float]] = []
    for top, bottom in sorted((one[1] - ROOM, one[3] + ROOM) for one in boxes):
        if found and top <= found[-1][1]:
            found[-1] = (found[-1][0], max(bottom, found[-1][1]))
        else:
            found.append((top, bottom))
    return found


def _is_free(blocked: Sequence[tuple[float, float]], y: float) -> bool:
    return not any(top < y < bottom for top, bottom in blocked)


def _free(blocked: Sequence[tuple[float, float]], wanted: float) -> list[float]:
    """Return the heights to choose from: the wanted one if it is free, and the edges of boxes."""
    edges = [edge for interval in blocked for edge in interval]
    return [wanted, *edges] if _is_free(blocked, wanted) else edges
