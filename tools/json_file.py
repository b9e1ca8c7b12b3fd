# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON written to a file of the output folder: any structure, with values of results and layers
in it by reference, a layer's rows, and members beside the features of a GeoJSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qgis.core import QgsWkbTypes

from . import argument
from .base import LastingError, MendableError, ToolDefinition, ToolResult
from .context import Context
from .registry import Unchecked
from .source import VectorSource, crs_name, plain

if TYPE_CHECKING:
    from .vector_file import Plan

_RESULT = re.compile(r"\$?(r\d+(?:\.\d+)?)(?:\.([A-Za-z_]\w*))?")
_LAYER = re.compile(r"\$(.+)\.(\w+)")


def _extent(source: VectorSource) -> list[float]:
    box = source.extent
    return [box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()]


_OF_LAYER: dict[str, Callable[[VectorSource, Context], Any]] = {
    "extent": lambda source, context: _extent(source),
    "bbox": lambda source, context: _extent(source),
    "crs": lambda source, context: crs_name(source.crs),
    "geometry_type": lambda source, context: QgsWkbTypes.displayString(
        QgsWkbTypes.flatType(source.wkb)
    ),
    "count": lambda source, context: source.features,
    "name": lambda source, context: source.key,
    "fields": lambda source, context: source.names(),
    "rows": lambda source, context: _rows(source, context),
}


class WriteJson(Unchecked):
    """Writes a JSON file."""

    definition = ToolDefinition(
        "write_json",
        'Write a JSON file. Values may refer to results and layers: "$r2.sum", "$r1.count", '
        '"$r1.extent", "$r1.crs", "$r1.geometry_type", "$r1.rows" (all rows).',
        argument.arguments(
            {
                "path": {"type": "string", "description": "a name such as summary.json"},
                "content": {"anyOf": [{"type": "object"}, {"type": "array"}]},
            },
            ["path", "content"],
        ),
        label="Write JSON",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Fill the references in and write; a file that is there is kept."""
        if context.output_folder is None:
            raise LastingError(
                "No folder for files is set: set one in Settings > Options > Geo-OLM."
            )
        content = filled(arguments["content"], context)
        name = arguments["path"] if Path(arguments["path"]).suffix else f"{arguments['path']}.json"
        path = context.boundary().free(name)
        write(content, path)
        if isinstance(content, dict):
            said = f"keys {', '.join(content)}"
        else:
            said = f"a list of {len(content)}"
        return ToolResult(
            f"file {path.name}: {said}.", texts={"file": path.name}, files=(str(path),)
        )


def filled(content: Any, context: Context) -> Any:
    """Return a content with the values that its references mean. Raises MendableError."""
    if isinstance(content, dict):
        return {str(key): filled(one, context) for key, one in content.items()}
    if isinstance(content, list):
        return [filled(one, context) for one in content]
    return _referred(content, context) if isinstance(content, str) else content


def _referred(text: str, context: Context) -> Any:
    marked, result = text.startswith("$"), _RESULT.fullmatch(text)
    name, key = (result.group(1), result.group(2) or "") if result else ("", "")
    if not marked and not key:
        return text
    if result:
        found = context.store.number(f"{name}.{key}" if key else name)
        if found is not None:
            return _whole(found[0])
    else:
        layer = _LAYER.fullmatch(text)
        name, key = (layer.group(1), layer.group(2)) if layer else ("", "")
        if layer is None:
            return text
    way = _OF_LAYER.get(key)
    if way is None:
        raise MendableError(
            f'"{text}" refers to nothing. {context.store.known_numbers()} '
            f"Of a layer there are {', '.join(_OF_LAYER)}."
        )
    return way(context.vector(name), context)


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _rows(source: VectorSource, context: Context) -> list[dict[str, Any]]:
    names = source.names()
    return [
        dict(zip(names, map(plain, feature.attributes())))
        for feature in source.rows(context.cancelled)
    ]


def records(plan: Plan, context: Context) -> list[dict[str, Any]]:
    """Return what a plan writes of a layer's attributes, an object for each feature."""
    layout = plan.layout()
    names = list(plan.fields.values())
    return [
        dict(zip(names, map(plain, plan.values(feature, layout))))
        for feature in plan.source.rows(context.cancelled)
    ]


def write(content: Any, path: Path) -> None:
    """Write a content as JSON, texts as they are. Raises MendableError for what JSON lacks."""
    try:
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    except ValueError as error:
        raise MendableError("JSON knows no infinite number and no NaN: leave it out.") from error
    path.write_text(f"{text}\n", encoding="utf-8")


def add_members(path: Path, members: dict[str, Any]) -> None:
    """Add members to the collection in a GeoJSON file, before its features."""
    document = json.loads(path.read_text(encoding="utf-8"))
    features = document.pop("features")
    write({**document, **members, "features": features}, path)
