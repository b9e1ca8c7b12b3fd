# SPDX-License-Identifier: GPL-2.0-or-later
"""The common spectral indices from bands by what they see, with the product's scale and offset
said, and stored numbers of a product turned into what they measure."""

from __future__ import annotations

import re
from typing import Any

from . import argument
from .band_statistic import tallied
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .product import IDS, NONE, Product, is_scaled, products, recognised, role_bands
from .raster import band_of, raster_of
from .raster_calculation import BandReference, Piece, calculated
from .registry import Unchecked
from .source import RasterSource
from .spelling import listed

FORMULAS = {
    "NDVI": "({nir} - {red}) / ({nir} + {red})",
    "NDWI": "({green} - {nir}) / ({green} + {nir})",
    "MNDWI": "({green} - {swir1}) / ({green} + {swir1})",
    "NDBI": "({swir1} - {nir}) / ({swir1} + {nir})",
    "NDMI": "({nir} - {swir1}) / ({nir} + {swir1})",
    "NBR": "({nir} - {swir2}) / ({nir} + {swir2})",
    "GNDVI": "({nir} - {green}) / ({nir} + {green})",
    "SAVI": "1.5 * ({nir} - {red}) / ({nir} + {red} + 0.5)",
    "EVI": "2.5 * ({nir} - {red}) / ({nir} + 6 * {red} - 7.5 * {blue} + 1)",
}
"""By reflectance. NDWI is McFeeters's (open water), NDMI Gao's (water in plants)."""

_BANDS = ("blue", "green", "red", "nir", "swir")
_ROLE = re.compile(r"\{(\w+)\}")
_NEED_REFLECTANCE = ("SAVI", "EVI")
_BRIGHTEST = 2.0
"""A reflectance above this is none: the values are stored numbers."""


class RasterIndex(Unchecked):
    """A spectral index."""

    definition = ToolDefinition(
        "raster_index",
        "Make an index raster (NDVI for plants, NDWI for water, NDBI for buildings, NBR for fire, "
        "SAVI, EVI ...) from an image; say its bands where they have no names.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "index": argument.choice(*FORMULAS),
                **{name: argument.band() for name in _BANDS},
                "others": {
                    "type": "array",
                    "items": argument.layer(Family.RASTER.value),
                    "description": "the other bands, when each is a layer of its own",
                },
                "product": argument.choice(*IDS),
            },
            ["layer", "index"],
        ),
        label="Spectral index",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Find the bands, say them and the product, and calculate in real numbers."""
        names = [arguments["layer"], *arguments.get("others", [])]
        sources = [raster_of(name, context) for name in dict.fromkeys(names)]
        index = arguments["index"]
        product = _product(arguments.get("product"), sources)
        bands = {
            role: _band_for(role, arguments, sources, product)
            for role in dict.fromkeys(_ROLE.findall(FORMULAS[index]))
        }
        _refuse_equal(index, bands)
        if index in _NEED_REFLECTANCE:
            _refuse_stored(index, bands, product, context)
        pieces: list[Piece] = []
        for place, part in enumerate(_ROLE.split(FORMULAS[index])):
            pieces += _scaled(bands[part], product) if place % 2 else [part]
        said = ", ".join(
            f"{role} = band {one.band} of {one.source.key}" for role, one in bands.items()
        )
        formula = FORMULAS[index].replace("{", "").replace("}", "")
        context.note(f"{index} = {formula}; {said}. {product.words()}")
        return calculated(pieces, f"{index} of {sources[0].key}", context, product.nodata)


def _product(wanted: str | None, sources: list[RasterSource]) -> Product:
    """Return the product that was said, else the one that the names tell, else none."""
    if any(is_scaled(source) for source in sources):
        return products()[NONE]
    if wanted:
        return products()[wanted]
    found = [one for one in (recognised(source) for source in sources) if one is not None]
    return found[0] if found else products()[NONE]


def _band_for(
    role: str, arguments: dict[str, Any], sources: list[RasterSource], product: Product
) -> BandReference:
    """Return the band that was said for a role, else the one whose name tells it."""
    said = arguments.get("swir" if role.startswith("swir") else role)
    if said is not None:
        layers = [one for one in sources if str(said) in (one.key, one.short)]
        source = layers[0] if layers else sources[0]
        number = band_of(source, None if layers else said).number
        known = role_bands(source, product)
        if known.get(role, number) != number:
            raise MendableError(
                f"Band {number} of {source.key} is not {role}: {role} is band {known[role]} of "
                f"{product.title}. Leave the bands out, or use raster_calculate with your own.",
                without=[name for name in _BANDS if name in arguments],
            )
        return BandReference(source, number)
    for source in sources:
        number = role_bands(source, product).get(role)
        if number is not None:
            return BandReference(source, number)
    word = "swir" if role.startswith("swir") else role
    raise MendableError(
        f"The names of the bands of {listed([one.key for one in sources])} do not tell which is "
        f"{role}. Say {word}: a band's number, or the layer that holds it."
    )


def _scaled(one: BandReference, product: Product) -> list[Piece]:
    if product.is_raw():
        return [one]
    return ["(", one, f" * {product.scale:.10g} + {product.offset:.10g})".replace("+ -", "- ")]


def _refuse_equal(index: str, bands: dict[str, BandReference]) -> None:
    """Refuse one band in two roles, which would give nothing but zeros. Raises MendableError."""
    roles: dict[tuple[str, int], str] = {}
    for role, one in bands.items():
        other = roles.setdefault((one.source.id, one.band), role)
        if other != role:
            raise MendableError(
                f"Band {one.band} of {one.source.key} cannot be {other} and {role} of {index} at "
                "once. Name two bands, or use statistics if no index was asked for."
            )


def _refuse_stored(
    index: str, bands: dict[str, BandReference], product: Product, context: Context
) -> None:
    """Refuse an index of reflectances on numbers that are none. Raises MendableError."""
    if not product.is_raw():
        return
    for one in bands.values():
        most = tallied(one.source, one.band, context).most
        if most > _BRIGHTEST:
            raise MendableError(
                f"{index} needs reflectances from 0 to 1, and {one.source.key} goes up to "
                f"{most:g}. Say the product: {listed([key for key in IDS if key != NONE])}."
            )


class ScaleRaster(Unchecked):
    """Turns stored numbers into what they measure."""

    definition = ToolDefinition(
        "scale_raster",
        "Turn the stored numbers of a satellite product into what they measure (reflectance, NDVI, "
        "degrees Celsius); fill values become no data.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "product": argument.choice(*IDS[:-1]),
                "band": argument.band(),
            },
            ["layer"],
        ),
        label="Scale a product",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Take the product that is said or recognised and scale one band."""
        source = raster_of(arguments["layer"], context)
        if is_scaled(source):
            raise MendableError(
                f"{source.key} carries its own scale, which every tool applies: use it as it is."
            )
        wanted = arguments.get("product")
        product = products()[wanted] if wanted else recognised(source)
        if product is None or product.is_raw():
            raise MendableError(
                f"The names of {source.key} do not tell its product. Say product: "
                f"{listed(list(IDS[:-1]))}."
            )
        band = BandReference(source, band_of(source, arguments.get("band")).number)
        context.note(product.words())
        title = f"{source.key} scaled"
        return calculated(_scaled(band, product), title, context, product.nodata)
