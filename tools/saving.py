# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool that writes a layer into a file of the output folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import argument, json_file, parquet, vector_file, wording
from .base import LastingError, MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields
from .guard_result import shortened
from .source import VectorSource
from .spelling import listed

FORMATS = {
    ".gpkg": "GPKG",
    ".geojson": "GeoJSON",
    ".json": "",
    ".csv": "CSV",
    ".geoparquet": "",
    ".parquet": "",
    ".shp": "ESRI Shapefile",
    ".kml": "KML",
    ".fgb": "FlatGeobuf",
    ".xlsx": "XLSX",
}
"""GDAL's drivers by ending, "" for what is written otherwise."""
_TYPES = ("integer", "real", "text", "boolean", "date", "datetime")


class SaveLayer:
    """Writes a layer."""

    definition = ToolDefinition(
        "save_layer",
        "Write a layer to a file: .gpkg (added beside its layers), .geojson, .csv and .json "
        "(attributes alone), .geoparquet, .shp, .kml; fields keeps some or renames them.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "file": {"type": "string", "description": "a name such as result.gpkg"},
                "fields": {
                    "anyOf": [
                        {"type": "array", "items": argument.field()},
                        {"type": "object", "description": "new name: field"},
                    ]
                },
                "types": {
                    "type": "object",
                    "description": f"field: {' or '.join(_TYPES)}",
                },
                "crs": {"type": "string", "description": "such as EPSG:4326"},
                "members": {
                    "type": "object",
                    "description": "what a GeoJSON holds beside its features",
                },
            },
            ["layer", "file"],
        ),
        label="Write a file",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse an ending that is not known, types that are none, and members elsewhere."""
        ending = Path(arguments["file"]).suffix.lower()
        if ending not in FORMATS:
            raise MendableError(
                f'"{arguments["file"]}" needs an ending that is known: {listed(list(FORMATS), 20)}.'
            )
        wrong = [one for one in arguments.get("types", {}).values() if one not in _TYPES]
        if wrong:
            raise MendableError(f'"{wrong[0]}" is no type. Types: {listed(list(_TYPES), 10)}.')
        if arguments.get("members") and ending != ".geojson":
            raise MendableError("members belong to a .geojson file.")
        reserved = {"type", "features"} & set(arguments.get("members", {}))
        if reserved:
            raise MendableError(f'"{min(reserved)}" is a GeoJSON\'s own: give it another name.')

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Write on the calling thread; a file that is there is kept, a GeoPackage added to."""
        source = context.vector(arguments["layer"])
        if context.output_folder is None:
            raise LastingError(
                "No folder for files is set: set one in Settings > Options > Geo-OLM. "
                f"{source.key} stays in the project meanwhile."
            )
        plan = vector_file.Plan(
            source,
            _fields(arguments.get("fields"), source, context),
            {
                field_named(name, SourceFields(source, context.cancelled)): kind
                for name, kind in arguments.get("types", {}).items()
            },
            arguments.get("crs", ""),
        )
        path = _place(arguments["file"], context)
        self._write(plan, path, arguments.get("members", {}), context)
        written = [plan.fields[name] for name in plan.fields]
        context.note(shortened(str(path), written))
        if path.name != Path(arguments["file"]).name:
            context.note(f"{Path(arguments['file']).name} is there already and was kept.")
        many = wording.counted(max(0, source.features), "feature")
        return ToolResult(
            f"file {path.name}: {many} of {source.key}; fields: {', '.join(written) or 'none'}.",
            numbers={"count": source.features},
            files=(str(path),),
        )

    @staticmethod
    def _write(
        plan: vector_file.Plan, path: Path, members: dict[str, Any], context: Context
    ) -> None:
        ending = path.suffix.lower()
        if ending == ".json":
            json_file.write(json_file.records(plan, context), path)
        elif parquet.is_parquet(path):
            parquet.write(
                vector_file.reprojected(plan, context),
                path,
                context,
                plan.fields,
                {plan.fields[name]: kind for name, kind in plan.types.items()},
            )
        else:
            vector_file.write(plan, path, FORMATS[ending], context)
            if members:
                json_file.add_members(path, json_file.filled(members, context))


def _fields(given: Any, source: VectorSource, context: Context) -> dict[str, str]:
    """Return the names in the file by the fields that are written, in order."""
    known = SourceFields(source, context.cancelled)
    if not given:
        return {name: name for name in source.names()}
    if isinstance(given, dict):
        found = {field_named(str(old), known): str(new) for new, old in given.items()}
    else:
        found = {name: name for name in (field_named(str(one), known) for one in given)}
    return found


def _place(file: str, context: Context) -> Path:
    path = context.boundary().inside(file)
    if path.suffix.lower() == ".gpkg" and path.exists():
        return path
    return context.boundary().free(file)
