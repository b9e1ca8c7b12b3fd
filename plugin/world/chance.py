# SPDX-License-Identifier: GPL-2.0-or-later
"""Random numbers that depend on seed, name and block alone: a world is the same whatever is made of
it, and in whatever order."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy


def chance(seed: int, name: str, block: int = 0) -> numpy.random.Generator:
    """Return the generator of a block of something named."""
    return numpy.random.default_rng((seed, zlib.crc32(name.encode()), block))


def spread(numbers: numpy.random.Generator, shape: tuple[int, int], width: float) -> Any:
    """Return noise around 0."""
    return numbers.normal(0.0, width, shape)


def strewn(
    numbers: numpy.random.Generator, shape: tuple[int, int], values: Sequence[int],
    shares: Sequence[float],
) -> Any:  # fmt: skip
    """Return values drawn by their shares."""
    return numbers.choice(numpy.asarray(values), size=shape, p=shares)
