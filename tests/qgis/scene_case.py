# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder of tiny products of every kind, and a toolbox that indexes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
from product_maker import DEGREES, SINUSOIDAL, UTM, geotiff, landsat, netcdf, sentinel
from qgis.core import QgsMapLayer, QgsVectorLayer
from toolbox_case import Bench

from geo_olm.tools.base import ToolResult
from geo_olm.tools.scene_catalogue import Entry, write
from geo_olm.tools.scene_header import rows_of

LANDSAT = "LC08_L2SP_195025_20240615_20240620_02_T1"
SAFE = "S2A_MSIL2A_20240315T101021_N0510_R022_T32TQM_20240315T140000"


class SceneBench(Bench):
    """A toolbox that may read a folder of scenes and writes beside it."""

    def __init__(self, folder: Path, *layers: QgsMapLayer) -> None:
        (folder / "out").mkdir(exist_ok=True)
        self.scenes = folder / "out" / "scenes"
        self.scenes.mkdir(exist_ok=True)
        super().__init__(folder / "work", *layers, output=folder / "out")

    def index(self) -> ToolResult:
        """Index the folder of scenes."""
        return self.run("index_scenes", folders=[str(self.scenes)])

    def rows(self, result: ToolResult) -> list[dict[str, Any]]:
        """Return the features of a result's layer as dictionaries."""
        layer = self.project.mapLayer(result.layers[0].id)
        names = layer.fields().names()
        return [dict(zip(names, one.attributes())) for one in layer.getFeatures()]


def vegetation(
    folder: Path, day: str, ndvi: Any, reliability: Any, ending: str = "nc", column: int = 29
) -> Path:
    """Write a MOD13A3 month: NDVI and its reliability, 4 cells of 1 km from (0, 1000000) to the
    east in column 29, the next 4 in 30."""
    variables = {
        "NDVI": numpy.asarray(ndvi, "int16"),
        "pixel_reliability": numpy.asarray(reliability, "int16"),
    }
    name = f"MOD13A3.A{day}.h{column}v12.061.2024200000000.{ending}"
    return netcdf(folder / name, variables, left=(column - 29) * 4000.0)


def temperature(folder: Path, day: str, stored: Any, flags: Any) -> Path:
    """Write MYD11A2 days as one HDF4 data set of two bands, cells of 1 km."""
    bands = [numpy.asarray(one, "uint16") for one in (stored, flags)]
    return geotiff(
        folder / f"MYD11A2.A{day}.h29v12.061.2024200000000.hdf",
        *bands,
        crs=SINUSOIDAL,
        left=0.0,
        top=1_000_000.0,
        cell=1000.0,
        names=("LST_Day_1km", "QC_Day"),
        driver="HDF4Image",
    )


def aerosol(folder: Path, day: str, stored: Any, flags: Any) -> Path:
    """Write an MCD19A2 day as HDF5: orbits, rows, columns."""
    variables = {
        "Optical_Depth_055": numpy.asarray(stored, "int16"),
        "AOD_QA": numpy.asarray(flags, "uint16"),
    }
    orbits = tuple(range(len(stored)))
    path = folder / f"MCD19A2.A{day}.h29v12.061.2024200000000.h5"
    return netcdf(path, variables, days=orbits)


def people(folder: Path, epoch: int, counts: Any, left: float = 9.0) -> Path:
    """Write a tile of GHSL population, cells of 0.01 degrees."""
    name = f"GHS_POP_E{epoch}_GLOBE_R2023A_4326_3ss_V1_0_R{int(left * 100)}.tif"
    array = numpy.asarray(counts, "float64")
    return geotiff(folder / name, array, crs=DEGREES, left=left, top=46.0, cell=0.01, nodata=-200)


def forest(folder: Path, cover: Any, years: Any) -> None:
    """Write a tile of Hansen's tree cover and year of loss, cells of 0.01 degrees."""
    for layer, values in (("treecover2000", cover), ("lossyear", years)):
        geotiff(
            folder / f"Hansen_GFC-2023-v1.11_{layer}_50N_000E.tif",
            numpy.asarray(values, "uint8"),
            crs=DEGREES,
            left=9.0,
            top=46.0,
            cell=0.01,
        )


def everything(folder: Path) -> None:
    """Write one small product of every kind."""
    good = numpy.zeros((2, 4))
    ndvi = [[5000, 6000, 7000, 8000], [-3000, 1000, 20000, 3000]]
    vegetation(folder, "2024061", ndvi, good)
    vegetation(folder, "2024092", ndvi, good, "h5")
    temperature(folder, "2024089", [[15000] * 4] * 2, good)
    aerosol(folder, "2024061", [[[100] * 4] * 2, [[300] * 4] * 2], [[[1] * 4] * 2] * 2)
    reflectance = numpy.full((2, 4), 2000, "int16")
    netcdf(
        folder / "MOD09GA.A2024061.h29v12.061.2024200000000.nc",
        {"sur_refl_b01_1": reflectance, "sur_refl_b02_1": reflectance * 3,
         "state_1km_1": numpy.zeros((2, 4), "uint16")},
    )  # fmt: skip
    people(folder, 2020, [[1.5, 2.5], [3.5, -200]])
    built = numpy.array([[100, 65535]], "uint16")
    geotiff(folder / "GHS_BUILT_S_E2020_GLOBE_R2023A_4326_3ss_V1_0_R5_C19.tif", built,
            crs=DEGREES, left=9.0, top=46.0, cell=0.01)  # fmt: skip
    forest(folder, [[80, 10]], [[0, 5]])
    geotiff(folder / "lux_ppp_2020.tif", numpy.array([[4.0, -99999]], "float32"), crs=DEGREES,
            left=6.0, top=50.0, cell=0.01, nodata=-99999)  # fmt: skip
    geotiff(folder / "cog_2024-05-06.tif", numpy.arange(8, dtype="int16").reshape(2, 4),
            driver="COG")  # fmt: skip
    bands = {"SR_B4": [[8000, 0]], "SR_B5": [[16000, 16000]], "ST_B10": [[44000, 0]],
             "QA_PIXEL": [[21824, 1]]}  # fmt: skip
    landsat(folder, LANDSAT, bands, "2024-06-15", 12.5)
    optical = {"B04": numpy.full((40, 40), 3000), "B08": numpy.full((40, 40), 5000),
               "SCL": numpy.full((20, 20), 4)}  # fmt: skip
    sentinel(folder, SAFE, optical, 30.5)


def catalogue(folder: Path) -> QgsVectorLayer:
    """Return a catalogue of one tile of people and of forest each, cells of 10 m at the north-west
    corner of product_maker, written without a tool."""
    folder.mkdir(parents=True)
    byte = numpy.full((20, 20), 7, "uint8")
    paths = [
        geotiff(folder / "GHS_POP_E2020_GLOBE_R2023A_4326_3ss_V1_0_R1.tif", byte.astype("float32"),
                crs=UTM),
        geotiff(folder / "Hansen_GFC-2023-v1.11_treecover2000_50N_000E.tif", byte * 10, crs=UTM),
        geotiff(folder / "Hansen_GFC-2023-v1.11_lossyear_50N_000E.tif", byte, crs=UTM),
    ]  # fmt: skip
    path = folder / "catalogue.gpkg"
    write(path, {str(one): Entry((1.0, 1), rows_of(one)) for one in paths})
    found = QgsVectorLayer(f"{path}|layername=scenes", "catalogue", "ogr")
    assert found.isValid()
    return found
