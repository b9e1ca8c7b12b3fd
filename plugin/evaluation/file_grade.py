# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades a file on disk: its driver, name and content, and the checks on its rows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from osgeo import gdal, ogr
from qgis.core import QgsVectorLayer, QgsWkbTypes

from .check import json_check_misses, table_check_misses
from .json_path import record_misses
from .layer_grade import crs_misses, field_misses, listed, open_vectors

TABLE_KEYS = ("feature_count", "geometry", "crs", "fields_include")


def driver_of(path: str) -> str:
    """Return the short name of the GDAL driver that opens a file, "" when none does."""
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        dataset = gdal.OpenEx(path, gdal.OF_READONLY | gdal.OF_VECTOR | gdal.OF_RASTER)
    except RuntimeError:
        return ""
    finally:
        gdal.PopErrorHandler()
    return dataset.GetDriver().ShortName if dataset is not None else ""


def _geometry_misses(layer: QgsVectorLayer, expected: Any) -> list[str]:
    """Judge each feature's own type: here a Polygon does not stand for a MultiPolygon."""
    found = {
        QgsWkbTypes.displayString(QgsWkbTypes.flatType(item.geometry().wkbType()))
        if item.hasGeometry()
        else "no geometry"
        for item in layer.getFeatures()
    }
    wrong = sorted(found - set(listed(expected)))
    return (
        [f"it holds {', '.join(wrong)} instead of {' or '.join(listed(expected))}"] if wrong else []
    )


def _table_misses(layer: QgsVectorLayer, expect: Mapping[str, Any]) -> list[str]:
    misses, file = [], expect["file"]
    if file.get("feature_count") is not None:
        count = sum(1 for _ in layer.getFeatures())
        if count != file["feature_count"]:
            misses.append(f"it has {count} rows instead of {file['feature_count']}")
    if file.get("geometry") is not None:
        misses += _geometry_misses(layer, file["geometry"])
    misses += crs_misses(layer.crs(), file.get("crs"))
    misses += field_misses(layer.fields().names(), file.get("fields_include", ()))
    for check in expect.get("checks", ()):
        misses += table_check_misses(layer, check)
    return misses


def _json_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [f"it is no JSON: {error}"]
    sample = document[0] if isinstance(document, list) and document else document
    names = sample if isinstance(sample, dict) else {}
    misses = field_misses(names, expect["file"].get("fields_include", ()))
    for check in expect.get("checks", ()):
        misses += json_check_misses(document, check)
    if "records" in expect:
        misses += record_misses(document, expect["records"])
    return misses


def _parquet_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    """Judge a GeoParquet file by way of geopandas, where GDAL has no driver for it."""
    try:
        import geopandas
    except ImportError:
        return ["it could not be read: GDAL has no Parquet driver here, nor is geopandas there"]
    with tempfile.TemporaryDirectory(prefix="geo_olm_") as folder:
        copy = str(Path(folder) / "copy.gpkg")
        try:
            geopandas.read_parquet(path).to_file(copy, driver="GPKG")
        except (OSError, ValueError, RuntimeError) as error:
            return [f"it could not be read as GeoParquet: {error}"]
        return _vector_misses(copy, expect)


def _vector_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    asked = any(expect["file"].get(key) is not None for key in TABLE_KEYS) or "checks" in expect
    if not asked:
        return []
    layers = open_vectors(path)
    if not layers:
        return ["it holds no readable table or layer"]
    return min((_table_misses(layer, expect) for layer in layers), key=len)


def file_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    """Judge a file against `expect["file"]`, `expect["checks"]` and `expect["records"]`."""
    file = expect["file"]
    misses = []
    if "name" in file and Path(path).name != file["name"]:
        misses.append(f"its name is not '{file['name']}'")
    if file["driver"] == "JSON":
        return misses + _json_misses(path, expect)
    if file["driver"] == "Parquet" and ogr.GetDriverByName("Parquet") is None:
        return misses + _parquet_misses(path, expect)
    found = driver_of(path)
    if found != file["driver"]:
        said = found or "none that can be read"
        return [*misses, f"its format is {said} instead of {file['driver']}"]
    return misses + _vector_misses(path, expect)
