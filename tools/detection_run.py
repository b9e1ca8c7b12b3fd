# SPDX-License-Identifier: GPL-2.0-or-later
"""A detector run over a picture tile by tile, with progress and a stop between tiles; no more than
one tile is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .base import MendableError
from .context import Context
from .detection_fit import Pairing
from .detection_picture import Picture, TileReader, padded
from .detector import Task
from .tiling import Tile, tiles

_SHARE = 5
"""A tile overlaps its neighbours by this part of its side unless the detector says otherwise."""


class DetectionRun:
    """One detector over one picture, on one thread, for one call."""

    def __init__(self, pairing: Pairing, picture: Picture, context: Context) -> None:
        self._pairing, self._context = pairing, context
        detector, model = pairing.detector, pairing.model
        size = model.tile(detector.size)
        self._of_pixels = detector.task is Task.PIXELS
        wanted = 0 if self._of_pixels else detector.overlap
        across, down = (_overlap(side, wanted) for side in size)
        self.tiles: Sequence[Tile] = tiles(picture.columns, picture.rows, size, (across, down))
        self._reader = TileReader(picture, pairing.bands, detector.normalisation)
        self.empty = 0

    def outputs(self) -> Iterator[tuple[Tile, Any, list[Any]]]:
        """Yield each tile with its cells that have data, as (rows, columns), and the model's
        outputs (of those cells alone, row by row, for a model of pixels); tiles without data are
        counted and left out. Raises MendableError and ToolCancelled."""
        model = self._pairing.model
        for number, tile in enumerate(self.tiles):
            self._context.stop_if_cancelled()
            values, there = self._reader.read(tile.window)
            if there.any():
                yield tile, there, model.run(self._fed(values, there))
            else:
                self.empty += 1
            self._context.progress(100.0 * (number + 1) / len(self.tiles))
        if self.empty == len(self.tiles):
            raise MendableError("The raster has no cell with data, so nothing can be detected.")

    def _fed(self, values: Any, there: Any) -> Any:
        if self._of_pixels:
            return values[:, there].T
        rows, columns = there.shape
        return padded(values, self._pairing.model.fed(columns, rows))

    def words(self) -> str:
        """Say by what and in how many tiles the picture was read."""
        device = self._pairing.model.device
        left = f", {self.empty} of them without data" if self.empty else ""
        return f"{self._pairing.detector.name} on {device}, {len(self.tiles)} tiles{left}."


def _overlap(side: int, wanted: int) -> int:
    """Return the cells by which tiles overlap, always less than a tile."""
    return min(side // _SHARE if wanted < 0 else wanted, side - 1)
