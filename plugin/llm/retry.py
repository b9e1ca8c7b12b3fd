# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks once more when a reply came back empty, without thinking where thinking used it up."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

from .base import Chunk, FeatureRefused, Reply

Streaming = Generator[Chunk, None, Reply]
"""Yields the pieces of one reply and returns the whole."""

Once = Callable[[bool], Streaming]
"""Asks one time; true asks the model not to think."""


def insisted(once: Once) -> Iterator[Chunk]:
    """Stream a reply, the Reply last; an empty one is asked for a second time.

    A server that refuses to be asked without thinking leaves the first reply as it is.
    """
    first = yield from once(False)
    if first.text.strip() or first.calls:
        yield first
        return
    try:
        second = yield from once(bool(first.thinking))
    except FeatureRefused:
        yield first
        return
    yield replace(
        second,
        thinking=second.thinking or first.thinking,
        usage=first.usage + second.usage,
        seconds=first.seconds + second.seconds,
    )
