# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of results as pictures, drawn by matplotlib without a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .base import LastingError
from .context import Context
from .map_view import output_file
from .package import package

_MOST_LINES = 12
_SIZE_INCHES = (9.0, 5.0)
_DPI = 120

ARGUMENT = {"type": "string", "description": "a picture of the chart, such as ndvi.png"}

Series = Mapping[str, Sequence[tuple[Any, float]]]
"""By name, places on the horizontal axis (dates or years) with values."""


def charted(file: str, title: str, axis: str, series: Series, context: Context) -> tuple[str, ...]:
    """Draw lines, or bars where every series has one place, into the output folder.

    Returns the path, none for no file. Raises MendableError for another ending, LastingError
    without matplotlib or a folder.
    """
    if not file:
        return ()
    path = output_file(file, context, (".png",))
    figure = _package("figure").Figure(figsize=_SIZE_INCHES, dpi=_DPI)
    _package("backends.backend_agg").FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    shown = dict(list(series.items())[:_MOST_LINES])
    if all(len(points) == 1 for points in shown.values()):
        axes.bar(list(shown), [points[0][1] for points in shown.values()])
        axes.tick_params(axis="x", rotation=30)
    else:
        for name, points in shown.items():
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=name)
        axes.legend(fontsize="small")
        figure.autofmt_xdate()
    axes.set_title(title)
    axes.set_ylabel(axis)
    axes.grid(alpha=0.3)
    if len(series) > len(shown):
        context.note(f"The chart shows the first {len(shown)} of {len(series)}.")
    return (_saved(figure, path),)


def _package(module: str) -> Any:
    return package(f"matplotlib.{module}", "A chart", "leave the chart out")


def _saved(figure: Any, path: Path) -> str:
    try:
        figure.savefig(str(path))
    except OSError as error:
        raise LastingError(f"The chart {path.name} could not be written: {error}") from error
    return str(path)
