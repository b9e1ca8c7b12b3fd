# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes small outputs for the tests of grading: layers, rasters, styles, written to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from osgeo import gdal, osr
from qgis.core import (
    QgsCategorizedSymbolRenderer,
    QgsClassificationEqualInterval,
    QgsFeature,
    QgsGeometry,
    QgsGraduatedSymbolRenderer,
    QgsProject,
    QgsRendererCategory,
    QgsSymbol,
    QgsVectorFileWriter,
    QgsVectorLayer,
)

SQUARE = "Polygon(({0} 0, {0} 100, {1} 100, {1} 0, {0} 0))"


def squares(
    count: int = 4, crs: str = "EPSG:32631", pops: Sequence[Any] = (10, 20, 30, 40)
) -> QgsVectorLayer:
    """Squares of 100 m side on the equator at 3° east, with fields name and POP."""
    layer = QgsVectorLayer(
        f"Polygon?crs={crs}&field=name:string&field=POP:double", "squares", "memory"
    )
    features = []
    for index in range(count):
        feature = QgsFeature(layer.fields())
        left = 500_000 + 100 * index
        feature.setGeometry(QgsGeometry.fromWkt(SQUARE.format(left, left + 100)))
        feature.setAttributes([f"s{index}", pops[index]])
        features.append(feature)
    layer.dataProvider().addFeatures(features)
    return layer


def written(layer: QgsVectorLayer, path: Path, driver: str = "GPKG", *options: str) -> str:
    """Write a layer and return the path."""
    chosen = QgsVectorFileWriter.SaveVectorOptions()
    chosen.driverName = driver
    chosen.layerOptions = list(options)
    context = QgsProject.instance().transformContext()
    code, message, *_ = QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(path), context, chosen)
    if code != QgsVectorFileWriter.WriterError.NoError:
        raise RuntimeError(message)
    return str(path)


def raster(
    path: Path, cells: Any, crs: int = 32631, nodata: float | None = -9999, driver: str = "GTiff"
) -> str:
    """Write an array of (bands, rows, columns) or (rows, columns) and return the path."""
    array = np.atleast_3d(np.asarray(cells, dtype=np.float32))
    if np.ndim(cells) == 2:
        array = np.asarray(cells, dtype=np.float32)[None]
    bands, rows, columns = array.shape
    dataset = gdal.GetDriverByName(driver).Create(str(path), columns, rows, bands, gdal.GDT_Float32)
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(crs)
    dataset.SetProjection(reference.ExportToWkt())
    dataset.SetGeoTransform((500_000, 10, 0, 100, 0, -10))
    for number in range(bands):
        band = dataset.GetRasterBand(number + 1)
        if nodata is not None:
            band.SetNoDataValue(nodata)
        band.WriteArray(array[number])
    dataset.FlushCache()
    return str(path)


def graduated(layer: QgsVectorLayer, field: str, classes: int) -> None:
    """Give a layer a graduated renderer with equal intervals."""
    renderer = QgsGraduatedSymbolRenderer(field)
    renderer.setSourceSymbol(QgsSymbol.defaultSymbol(layer.geometryType()))
    renderer.setClassificationMethod(QgsClassificationEqualInterval())
    renderer.updateClasses(layer, classes)
    layer.setRenderer(renderer)


def categorised(layer: QgsVectorLayer, field: str, values: Sequence[str]) -> None:
    """Give a layer a categorised renderer with one more category for all other values."""
    symbol = QgsSymbol.defaultSymbol(layer.geometryType())
    found = [QgsRendererCategory(value, symbol.clone(), value) for value in values]
    others = QgsRendererCategory(None, symbol.clone(), "")
    layer.setRenderer(QgsCategorizedSymbolRenderer(field, [*found, others]))


def style(layer: QgsVectorLayer, path: Path) -> str:
    """Save a layer's style as QML and return the path."""
    layer.saveNamedStyle(str(path))
    return str(path)
