# SPDX-License-Identifier: GPL-2.0-or-later
"""How a raster is drawn: one band in colours, or three as red, green and blue."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    Qgis,
    QgsColorRampShader,
    QgsContrastEnhancement,
    QgsMultiBandColorRenderer,
    QgsRasterLayer,
    QgsRasterShader,
    QgsRasterTransparency,
    QgsSingleBandPseudoColorRenderer,
)

from . import argument, wording
from .band_statistic import tallied
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .raster import band_of, raster_of
from .source import RasterSource
from .style import applied, ramp_named

_SPREAD = 2.0
"""Standard deviations beside the mean to which bands of an image are stretched."""


class StyleRaster:
    """Colours a raster."""

    definition = ToolDefinition(
        "style_raster",
        "Colour one band of a raster by a colour ramp, or show three bands [red, green, blue] as "
        "an image.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "band": argument.band(),
                "rgb": {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1},
                    "minItems": 3,
                    "maxItems": 3,
                },
                "ramp": {"type": "string", "description": "a colour ramp such as Viridis or Reds"},
                "classes": {"type": "integer", "minimum": 2, "maximum": 20},
                "minimum": {"type": "number"},
                "maximum": {"type": "number"},
                "transparent_zero": {"type": "boolean"},
            },
            ["layer"],
        ),
        label="Colour a raster",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse one band and three together, and limits that do not rise."""
        if "band" in arguments and "rgb" in arguments:
            raise MendableError("Give either one band, or three bands in rgb.")
        low, high = arguments.get("minimum"), arguments.get("maximum")
        if low is not None and high is not None and low >= high:
            raise MendableError("minimum must be below maximum.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Measure the bands, then set the renderer; undo restores the old one."""
        source = raster_of(arguments["layer"], context)
        if "rgb" in arguments:
            return _as_image(source, arguments["rgb"], context)
        band = band_of(source, arguments.get("band")).number
        tally = tallied(source, band, context)
        if not tally.count:
            raise MendableError(f"Band {band} of {source.key} has no cell with data.")
        low = float(arguments.get("minimum", tally.least))
        high = float(arguments.get("maximum", tally.most))
        classes = arguments.get("classes", 0)

        def draw() -> None:
            layer, ramp = context.map_layer(source), ramp_named(arguments.get("ramp", ""))
            renderer = pseudocolour(layer, band, (low, high), ramp, classes)
            if arguments.get("transparent_zero"):
                _hide_zero(renderer, band)
            applied(renderer, source, context)

        context.call(draw)
        how = f"in {classes} classes" if classes else "without classes"
        return ToolResult(
            f"Band {band} of {source.key} is coloured from {wording.number(low)} to "
            f"{wording.number(high)} {how}.",
            numbers={"minimum": low, "maximum": high},
        )


def pseudocolour(
    layer: QgsRasterLayer, band: int, limits: tuple[float, float], ramp: Any, classes: int = 0
) -> QgsSingleBandPseudoColorRenderer:
    """Return a renderer of one band over a ramp; with `classes` in that many equal steps."""
    low, high = limits
    steps = classes or 5
    kind = (
        Qgis.ShaderInterpolationMethod.Discrete
        if classes
        else (Qgis.ShaderInterpolationMethod.Linear)
    )
    function = QgsColorRampShader(low, high, ramp, kind)
    items = []
    for place in range(steps):
        share = place / max(1, steps - 1)
        value = low + (high - low) * ((place + 1) / steps if classes else share)
        if classes and place == steps - 1:
            value = float("inf")
        label = f"<= {wording.number(value)}" if classes else wording.number(value)
        if value == float("inf"):
            label = f"> {wording.number(low + (high - low) * place / steps)}"
        items.append(QgsColorRampShader.ColorRampItem(value, ramp.color(share), label))
    function.setColorRampItemList(items)
    shader = QgsRasterShader(low, high)
    shader.setRasterShaderFunction(function)
    renderer = QgsSingleBandPseudoColorRenderer(layer.dataProvider(), band, shader)
    renderer.setClassificationMin(low)
    renderer.setClassificationMax(high)
    return renderer


def _hide_zero(renderer: Any, band: int) -> None:
    transparency = QgsRasterTransparency()
    transparency.setTransparentSingleValuePixelList(
        [QgsRasterTransparency.TransparentSingleValuePixel(0.0, 0.0, 0.0)]
    )
    renderer.setRasterTransparency(transparency)


def without_zero(layer: QgsRasterLayer, most: float) -> None:
    """Colour a heat map up to `most`, so that what lies under its zeros shows. Main thread only."""
    renderer = pseudocolour(layer, 1, (0.0, most), ramp_named("Reds"))
    _hide_zero(renderer, 1)
    layer.setRenderer(renderer)


def _as_image(source: RasterSource, bands: list[int], context: Context) -> ToolResult:
    """Stretch each band between the mean and two standard deviations, within its range."""
    limits = []
    for number in bands:
        tally = tallied(source, band_of(source, number).number, context)
        if not tally.count:
            raise MendableError(f"Band {number} of {source.key} has no cell with data.")
        found = tally.numbers()
        spread = _SPREAD * found["stdev"]
        low = max(found["min"], found["mean"] - spread)
        limits.append((low, min(found["max"], found["mean"] + spread)))

    def draw() -> None:
        layer = context.map_layer(source)
        provider = layer.dataProvider()
        renderer = QgsMultiBandColorRenderer(provider, *bands)
        ways = (
            renderer.setRedContrastEnhancement,
            renderer.setGreenContrastEnhancement,
            renderer.setBlueContrastEnhancement,
        )
        for number, (low, high), give in zip(bands, limits, ways):
            stretch = QgsContrastEnhancement(provider.dataType(number))
            stretch.setContrastEnhancementAlgorithm(
                QgsContrastEnhancement.ContrastEnhancementAlgorithm.StretchToMinimumMaximum
            )
            stretch.setMinimumValue(low)
            stretch.setMaximumValue(high)
            give(stretch)
        applied(renderer, source, context)

    context.call(draw)
    shown = ", ".join(f"{name} = band {one}" for name, one in zip(("red", "green", "blue"), bands))
    return ToolResult(f"{source.key} is shown as an image: {shown}.")
