# SPDX-License-Identifier: GPL-2.0-or-later
"""Attribute tables as frames: straight from plain files, and never without the edits, joins,
virtual fields, filters and selections that a layer has in QGIS."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qgis.core import (
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsField,
    QgsVectorFileWriter,
    QgsVectorLayer,
    QgsVectorLayerJoinInfo,
)
from qgis.PyQt.QtCore import QDate, QDateTime, QMetaType, QTime
from toolbox_case import Bench, layer

from geo_olm.tools import frame as frames
from geo_olm.tools.base import ToolDefinition, ToolResult
from geo_olm.tools.context import Context
from geo_olm.tools.frame import frame
from geo_olm.tools.frame_layer import layer_of
from geo_olm.tools.registry import Registry
from geo_olm.tools.toolbox import ProjectToolbox

pytestmark = pytest.mark.usefixtures("qgis_processing")

FIELDS = "fid:integer name:string big:int8 gap:integer v:double"
ROWS = [
    ("POINT(0 0)", 3, "a", 9_007_199_254_740_993, None, 1.5),
    ("POINT(1 1)", 1, "b", 1, 2, None),
    (None, 2, None, 2, 3, 2.5),
]


def file_of(folder: Path, ending: str) -> QgsVectorLayer:
    made = layer("t", "Point", FIELDS, ROWS)
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = {
        "gpkg": "GPKG",
        "geojson": "GeoJSON",
        "fgb": "FlatGeobuf",
        "shp": "ESRI Shapefile",
    }[ending]
    options.layerOptions = ["SPATIAL_INDEX=NO"] if ending == "fgb" else []
    path = str(folder / f"t.{ending}")
    code, *said = QgsVectorFileWriter.writeAsVectorFormatV3(
        made, path, QgsCoordinateTransformContext(), options
    )
    assert not code, said
    return QgsVectorLayer(path, "t", "ogr")


class ReadTable:
    """A tool that keeps the frame of a layer."""

    definition = ToolDefinition("read_table", "Read a table.", {"type": "object"})

    def __init__(self) -> None:
        self.found: Any = None

    def check(self, arguments: dict[str, Any]) -> None:
        """Check nothing."""

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        source = context.vector(arguments["layer"])
        self.found = frame(source, context, arguments["geometry"])
        return ToolResult("read")


class Reading:
    """Frames of layers, and how often it took an export."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        self._tool = ReadTable()
        registry = Registry([self._tool])
        self._toolbox = ProjectToolbox(bench.project, registry, bench.caller, bench.folder)
        self.exported = 0
        export = frames._export

        def counted(*arguments: Any) -> None:
            self.exported += 1
            export(*arguments)

        monkeypatch.setattr(frames, "_export", counted)

    def of(self, name: str, geometry: bool = False) -> Any:
        arguments = {"layer": name, "geometry": geometry}
        self._toolbox.run("read_table", arguments, lambda percent: None, lambda: False)
        return self._tool.found


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reading]:
    def make(*layers: QgsVectorLayer) -> Reading:
        return Reading(Bench(tmp_path / "work", *layers), monkeypatch)

    return make


@pytest.fixture(params=[True, False], ids=["by Arrow", "without Arrow"])
def arrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With and without Arrow: inside QGIS pyogrio meets the GDAL of QGIS, which may be too old."""
    import pyogrio

    if not request.param:
        monkeypatch.setattr(pyogrio, "__gdal_version__", (3, 6, 2))
    return bool(request.param)


def test_types_are_the_same_by_arrow_and_without(
    tmp_path: Path, reading: Callable[..., Reading], arrow: bool
) -> None:
    path = tmp_path / "typed.gpkg"
    made = QgsVectorLayer(
        "None?field=n:int8&field=b:bool&field=d:date&field=w:datetime", "t", "memory"
    )
    moment = QDateTime(QDate(2024, 5, 6), QTime(7, 8, 9))
    values = [
        [9_007_199_254_740_993, True, QDate(2024, 5, 6), moment],
        [None, None, None, None],
        [7, True, QDate(2024, 5, 7), moment],
        [8, False, QDate(2024, 5, 8), moment],
    ]
    features = []
    for one in values:
        feature = QgsFeature(made.fields())
        feature.setAttributes(one)
        features.append(feature)
    made.dataProvider().addFeatures(features)
    options = QgsVectorFileWriter.SaveVectorOptions()
    context = QgsCoordinateTransformContext()
    QgsVectorFileWriter.writeAsVectorFormatV3(made, str(path), context, options)
    probe = reading(QgsVectorLayer(str(path), "t", "ogr"))
    found = probe.of("t")
    assert probe.exported == 0
    assert str(found["n"].dtype) == "Int64"
    assert found["n"].iloc[0] == 9_007_199_254_740_993
    assert found["n"].isna().to_list() == [False, True, False, False]
    assert str(found["b"].dtype) == "boolean"
    assert found["b"].to_list()[2:] == [True, False]
    assert found["b"].isna().to_list() == [False, True, False, False]
    assert found["d"].to_list()[2:] == [datetime.date(2024, 5, 7), datetime.date(2024, 5, 8)]
    assert found["d"].isna().to_list() == [False, True, False, False]
    assert str(found["w"].iloc[0]) == "2024-05-06 07:08:09"


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "fgb"])
def test_a_plain_file_is_read_as_it_lies(
    tmp_path: Path, reading: Callable[..., Reading], ending: str, arrow: bool
) -> None:
    before = sorted(one.name for one in tmp_path.iterdir())
    probe = reading(file_of(tmp_path, ending))
    found = probe.of("t")
    assert probe.exported == 0
    assert sorted(found["name"].dropna()) == ["a", "b"]
    by_name = found.set_index("name")
    assert by_name.loc["a", "big"] == 9_007_199_254_740_993
    assert by_name.loc["b", "gap"] == 2
    assert found["gap"].isna().sum() == 1
    assert sorted(found["fid"]) == ([1, 3] if ending == "fgb" else [1, 2, 3])
    left = sorted(one.name for one in tmp_path.iterdir() if one.is_file())
    assert left == [*before, f"t.{ending}"]


def test_a_shapefile_and_a_temporary_layer_are_exported(
    tmp_path: Path, reading: Callable[..., Reading]
) -> None:
    own = layer("m", "Point", FIELDS, ROWS)
    probe = reading(file_of(tmp_path, "shp"), own)
    assert len(probe.of("t")) == 3
    found = probe.of("m", geometry=True)
    assert probe.exported == 2
    assert list(found.columns) == ["fid", "name", "big", "gap", "v", "geometry"]
    assert list(found["fid"]) == [3, 1, 2]
    assert found["big"].iloc[0] == 9_007_199_254_740_993
    assert found.geometry.iloc[1].wkt == "POINT (1 1)"
    assert found.geometry.iloc[2] is None
    assert found.crs.to_epsg() == 32632


def edited(one: QgsVectorLayer) -> None:
    one.startEditing()
    one.changeAttributeValue(next(one.getFeatures()).id(), one.fields().lookupField("v"), 99.0)


def filtered(one: QgsVectorLayer) -> None:
    one.setSubsetString('"v" = 99 OR "name" = \'a\'')


def computed(one: QgsVectorLayer) -> None:
    one.addExpressionField('"v" * 2', QgsField("twice", QMetaType.Type.Double))


def joined(one: QgsVectorLayer) -> None:
    other = layer("other", "None", "key:string more:integer", [(None, "a", 42)])
    one._other = other
    info = QgsVectorLayerJoinInfo()
    info.setJoinLayer(other)
    info.setJoinFieldName("key")
    info.setTargetFieldName("name")
    info.setUsingMemoryCache(True)
    one.addJoin(info)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (edited, lambda found: 99.0 in list(found["v"])),
        (filtered, lambda found: list(found["name"]) == ["a"]),
        (computed, lambda found: 3.0 in list(found["twice"])),
        (joined, lambda found: 42 in list(found["other_more"].dropna())),
    ],
)
def test_what_a_layer_has_beside_its_file_is_in_the_frame(
    tmp_path: Path,
    reading: Callable[..., Reading],
    change: Callable[[QgsVectorLayer], None],
    check: Callable[[Any], bool],
) -> None:
    one = file_of(tmp_path, "gpkg")
    change(one)
    probe = reading(one)
    found = probe.of("t")
    assert probe.exported == 1
    assert check(found)
    if one.isEditable():
        one.rollBack()


def test_a_selection_is_read_alone(tmp_path: Path, reading: Callable[..., Reading]) -> None:
    one = file_of(tmp_path, "gpkg")
    one.selectByExpression("\"name\" = 'b'")
    probe = reading(one)
    assert list(probe.of("t (selected)")["name"]) == ["b"]
    assert len(probe.of("t")) == 3


def test_a_frame_becomes_a_layer_and_a_layer_the_same_frame(
    reading: Callable[..., Reading],
) -> None:
    import geopandas
    import pandas
    import shapely

    made = geopandas.GeoDataFrame(
        {"n": pandas.array([1, None], dtype="Int64"), "s": ["x", None]},
        geometry=[shapely.box(0, 0, 1, 1), shapely.MultiPolygon([shapely.box(2, 2, 3, 3)])],
        crs="EPSG:32632",
    )
    probe = reading(layer_of(made, "t"))
    found = probe.of("t", geometry=True)
    assert list(found["s"]) == ["x", None]
    assert found["n"].iloc[0] == 1
    assert found["n"].isna().iloc[1]
    assert found.crs == made.crs
    assert [one.area for one in found.geometry] == [1, 1]
    assert set(found.geom_type) == {"MultiPolygon"}
