# SPDX-License-Identifier: GPL-2.0-or-later
"""What there is: the layers, one layer in detail, and the values of a field."""

from __future__ import annotations

from collections import Counter
from typing import Any

from . import argument, wording
from .base import LayerProfile, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields, chosen
from .registry import Unchecked
from .source import plain


class ListLayers(Unchecked):
    """Lists the layers of the project."""

    definition = ToolDefinition(
        "list_layers",
        "List the layers of the project with geometry, CRS, count and fields.",
        argument.arguments({}, []),
        label="List layers",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Describe every layer in one line."""
        profiles = [context.profile(source) for source in context.sources()]
        if not profiles:
            return ToolResult("The project has no layers.")
        keys = [one.key for one in profiles]
        return ToolResult(wording.lines([wording.summary(one) for one in profiles], keys))


class LayerInfo(Unchecked):
    """Describes one layer."""

    definition = ToolDefinition(
        "layer_info",
        "Describe a layer: CRS, unit, count, fields with types, ranges and sample values, bands.",
        argument.arguments({"layer": argument.layer()}, ["layer"]),
        label="Layer information",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Describe the layer's CRS, its fields or its bands."""
        name = arguments["layer"]
        profile = context.spoken(name) or context.profile(context.layer(name))
        if profile.geometry == "raster":
            names = [str(band.number) for band in profile.bands]
            details = [wording.band(band) for band in profile.bands]
        else:
            names = [item.name for item in profile.fields]
            details = [wording.field(item) for item in profile.fields]
        return ToolResult(wording.lines([_heading(profile), *details], [profile.key, *names]))


def _heading(profile: LayerProfile) -> str:
    name = profile.title
    where = f"CRS {profile.crs}, unit {profile.unit}" if profile.crs else "no CRS"
    if profile.geometry == "raster":
        return f"{name}: raster, {profile.cells}, {where}"
    if profile.geometry == "table":
        return f"{name}: table without geometry, {profile.features} rows"
    height = " with Z" if profile.has_z else ""
    return f"{name}: {profile.geometry}{height}, {profile.features} features, {where}"


class UniqueValues(Unchecked):
    """Lists the values of a field."""

    definition = ToolDefinition(
        "unique_values",
        "List the distinct values of a field with how often each occurs.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "field": argument.field(),
                **argument.filtering(),
            },
            ["layer", "field"],
        ),
        label="Unique values",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Count the values, most frequent first."""
        source = context.vector(arguments["layer"])
        name = field_named(arguments["field"], SourceFields(source, context.cancelled))
        taken = chosen(arguments, source, context.cancelled)
        context.note(*taken.notes)
        place = source.fields.lookupField(name)
        only = None if taken.expression else [name]
        counts = Counter(
            _key(plain(feature[place]))
            for feature in source.rows(context.cancelled, taken.expression, only=only)
        )
        empty = counts.pop(None, 0)
        found = [{name: item, "count": count} for item, count in counts.most_common()]
        missing = f", {empty} features without one" if empty else ""
        text = f"{len(found)} distinct values of {name} in {source.key}{missing}"
        numbers = {"count": len(found), "empty": empty}
        if found:
            numbers["most"] = found[0]["count"]
            text += f"; most = {numbers['most']} features"
        return ToolResult(f"{text}\n{wording.rows(found)}", numbers=numbers)


def _key(item: Any) -> Any:
    return str(item) if isinstance(item, (list, dict)) else item
