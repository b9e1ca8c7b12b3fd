# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoParquet read and written by geopandas, for the many builds of GDAL that have no driver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from osgeo import ogr
from qgis.core import QgsMapLayer, QgsProcessingAlgorithm, QgsVectorLayer

from .base import MendableError
from .context import Context
from .frame import frame
from .frame_layer import layer_of
from .package import package
from .source import VectorSource, snapshot

ENDINGS = frozenset({".parquet", ".geoparquet"})
TYPES = {
    "integer": "Int64",
    "real": "float64",
    "text": "string",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime64[ms, UTC]",
}
"""What a column can be made, by the words of FieldProfile."""
_PURPOSE = "GeoParquet"
_MARK = b"PAR1"


def is_parquet(path: str | Path) -> bool:
    """Tell whether a file's name ends as those of Parquet do."""
    return Path(path).suffix.lower() in ENDINGS


def needs_us(path: str | Path) -> bool:
    """Tell whether a file is Parquet and QGIS cannot open it by itself."""
    return is_parquet(path) and ogr.GetDriverByName("Parquet") is None


def opened(path: Path, name: str) -> QgsVectorLayer:
    """Return a temporary layer of a Parquet file; one without geometry gives a table.

    Any thread. Raises MendableError for a damaged file, LastingError for a missing package.
    """
    return layer_of(read(path), name)


def read(path: Path) -> Any:
    """Return a Parquet file as a frame, a geopandas one where it tells of a geometry.

    Raises as `opened` does.
    """
    geopandas, pandas = package("geopandas", _PURPOSE), package("pandas", _PURPOSE)
    table = package("pyarrow.parquet", _PURPOSE)
    try:
        schema = table.read_schema(str(path))
        spatial = b"geo" in (schema.metadata or {})
        found = geopandas.read_parquet(str(path)) if spatial else pandas.read_parquet(str(path))
        _keep_whole(found, schema, path)
    except (OSError, ValueError, TypeError) as error:
        raise MendableError(_damaged(path)) from error
    if spatial and found.crs is not None and found.crs.to_authority() == ("OGC", "CRS84"):
        found = found.set_crs("EPSG:4326", allow_override=True)
    if spatial and found.geometry.name != "geometry":
        found = found.rename_geometry("geometry")
    return found


def _damaged(path: Path) -> str:
    with path.open("rb") as file:
        marked = file.read(len(_MARK)) == _MARK
    if not marked:
        return f"{path.name} is no Parquet file, whatever its name says. Check what it holds."
    return f"{path.name} is damaged: its table cannot be read. Ask for the file anew."


def _keep_whole(found: Any, schema: Any, path: Path) -> None:
    """Read the columns of whole numbers with gaps anew, since pandas made them real ones."""
    pandas, table = package("pandas", _PURPOSE), package("pyarrow.parquet", _PURPOSE)
    kinds = {one.name: str(one.type) for one in schema}
    names = [
        name
        for name, kind in kinds.items()
        if kind.startswith(("int", "uint"))
        and name in found.columns
        and str(found[name].dtype).startswith("float")
    ]
    if names:
        whole = table.read_table(str(path), columns=names).to_pandas(
            types_mapper=lambda kind: pandas.Int64Dtype()
        )
        for name in names:
            found[name] = whole[name].to_numpy()
            found[name] = found[name].astype("Int64")


def held_back(
    algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Path]]:
    """Return the parameters with temporary outputs in place of Parquet files that QGIS cannot
    write, and these files by the name of the output."""
    files = {
        definition.name(): Path(parameters[definition.name()])
        for definition in algorithm.destinationParameterDefinitions()
        if isinstance(parameters.get(definition.name()), str)
        and needs_us(parameters[definition.name()])
    }
    return {**parameters, **dict.fromkeys(files, "TEMPORARY_OUTPUT")}, files


def written(
    files: Mapping[str, Path], layers: Mapping[str, QgsMapLayer], context: Context
) -> tuple[str, ...]:
    """Write the layers that an algorithm made into the files that were held back."""
    done = []
    for output, path in files.items():
        layer = layers.get(output)
        if isinstance(layer, QgsVectorLayer):
            source = context.call(lambda one=layer: snapshot(one, context.project, one.name(), ""))
            write(source, path, context)
            done.append(str(path))
    return tuple(done)


def write(
    source: VectorSource,
    path: Path,
    context: Context,
    fields: Mapping[str, str] | None = None,
    types: Mapping[str, str] | None = None,
) -> None:
    """Write a layer as GeoParquet, a table as Parquet; `fields` keeps some and names them anew,
    `types` sets columns to the words of TYPES.

    Raises MendableError for values that a type cannot hold, LastingError.
    """
    spatial = source.geometry != "table"
    found = frame(source, context, geometry=spatial)
    if fields is not None:
        found = found[[*fields, *(["geometry"] if spatial else [])]].rename(columns=dict(fields))
    for name, kind in (types or {}).items():
        found[name] = _typed(found[name], name, kind)
    package("pyarrow", _PURPOSE)
    part = path.with_name(f".{path.name}.part")
    try:
        found.to_parquet(str(part), index=False)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _typed(column: Any, name: str, kind: str) -> Any:
    pandas = package("pandas", _PURPOSE)
    try:
        if kind in ("date", "datetime"):
            moments = pandas.to_datetime(column, utc=kind == "datetime")
            return moments.dt.date if kind == "date" else moments.astype(TYPES[kind])
        if kind in ("integer", "real") and str(column.dtype) == "object":
            column = pandas.to_numeric(column)
        return column.astype(TYPES[kind])
    except (ValueError, TypeError, OverflowError) as error:
        raise MendableError(
            f"{name} cannot be made {kind}: {str(error).splitlines()[0]}. Leave it out of types."
        ) from error
