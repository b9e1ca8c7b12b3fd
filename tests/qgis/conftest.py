# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets go of what a test made over QGIS while QGIS is still there."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def toolboxes_are_closed() -> Iterator[None]:
    """Close the toolboxes of a test and collect what it made before the application ends."""
    from toolbox_case import Bench

    yield
    while Bench.opened:
        Bench.opened.pop().close()
    gc.collect()
