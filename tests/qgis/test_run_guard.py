# SPDX-License-Identifier: GPL-2.0-or-later
"""What Processing takes or gives silently and wrongly is mended, refused or told.

The values that stand as measured in the field cases were measured again here on QGIS 3.40.6.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsFeature, QgsGeometry, QgsVectorLayer
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError, UnanswerableError

pytestmark = pytest.mark.usefixtures("qgis_processing")

LEFT, BOTTOM = 500_000, 5_000_000
SQUARE = box(LEFT, BOTTOM, LEFT + 1000, BOTTOM + 1000)
SHIFTED = box(LEFT + 500, BOTTOM + 500, LEFT + 1500, BOTTOM + 1500)
WRAPPED = "POLYGON((179 -17,-179 -17,-179 -16,179 -16,179 -17))"


def algorithm(bench: Bench, name: str, **parameters: Any) -> Any:
    return bench.run("run_algorithm", algorithm=name, parameters=parameters)


def made(bench: Bench, found: Any) -> QgsVectorLayer:
    return bench.project.mapLayer(found.layers[0].id)


def moved(one: QgsVectorLayer, crs: str) -> QgsVectorLayer:
    """Return the layer in another CRS, by QGIS's own transform."""
    from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsProject

    way = QgsCoordinateTransform(
        one.crs(), QgsCoordinateReferenceSystem(crs), QgsProject.instance()
    )
    shapes = [feature.geometry() for feature in one.getFeatures()]
    for shape in shapes:
        shape.transform(way)
    return layer(one.name(), "Polygon", "n:integer", [(one.asWkt(), 1) for one in shapes], crs)


# -- coordinate reference systems


def test_an_overlay_of_two_crs_is_right_and_said_b05(tmp_path: Path) -> None:
    square = layer("square", "Polygon", "n:integer", [(SQUARE, 1)])
    shifted = moved(layer("shifted", "Polygon", "n:integer", [(SHIFTED, 1)]), "EPSG:4326")
    bench = Bench(tmp_path, square, shifted)
    found = algorithm(bench, "native:intersection", INPUT="square", OVERLAY="shifted")
    assert found.layers[0].crs == "EPSG:32632"
    shape = next(made(bench, found).getFeatures()).geometry()
    assert shape.area() == pytest.approx(250_000, rel=1e-4)
    assert any("shifted is in EPSG:4326 and square in EPSG:32632" in one for one in found.notes)


def test_an_overlay_with_a_layer_without_crs_is_refused_b05(tmp_path: Path) -> None:
    """Processing gives 0 features and no error."""
    square = layer("square", "Polygon", "n:integer", [(SQUARE, 1)])
    lost = layer("lost", "Polygon", "n:integer", [(SHIFTED, 1)], crs="")
    for name in ("native:intersection", "native:clip", "native:joinattributesbylocation"):
        other = {"JOIN": "lost"} if "join" in name else {"OVERLAY": "lost"}
        with pytest.raises(UnanswerableError, match="lost has no coordinate reference system"):
            algorithm(Bench(tmp_path, square.clone(), lost.clone()), name, INPUT="square", **other)


def test_an_empty_overlay_says_that_the_layers_lie_apart_b05(tmp_path: Path) -> None:
    square = layer("square", "Polygon", "n:integer", [(SQUARE, 1)])
    far = layer("far", "Polygon", "n:integer", [(box(3, 50, 4, 51), 1)])
    found = algorithm(
        Bench(tmp_path, square, far), "native:intersection", INPUT="square", OVERLAY="far"
    )
    assert found.numbers["count"] == 0
    assert any("square and far lie apart: 500000, 5000000" in note for note in found.notes)


def test_a_table_is_joined_by_value_whatever_its_crs(tmp_path: Path) -> None:
    square = layer("square", "Polygon", "n:integer", [(SQUARE, 1)])
    lost = layer("lost", "Polygon", "n:integer name:string", [(SQUARE, 1, "a")], crs="")
    found = algorithm(
        Bench(tmp_path, square, lost),
        "native:joinattributestable",
        INPUT="square",
        FIELD="n",
        INPUT_2="lost",
        FIELD_2="n",
    )
    assert found.numbers["JOINED_COUNT"] == 1


def test_a_program_that_does_not_reproject_is_not_given_two_crs(tmp_path: Path) -> None:
    square = layer("square", "Polygon", "n:integer", [(SQUARE, 1)])
    shifted = moved(layer("shifted", "Polygon", "n:integer", [(SHIFTED, 1)]), "EPSG:4326")
    with pytest.raises(MendableError, match="does not reproject: square is in EPSG:32632"):
        algorithm(
            Bench(tmp_path, square, shifted),
            "gdal:clipvectorbypolygon",
            INPUT="square",
            MASK="shifted",
        )


# -- the date line


def test_a_polygon_across_the_date_line_holds_what_lies_in_it_b14(tmp_path: Path) -> None:
    """Drawn the long way round, it would hold the point on the meridian of Greenwich."""
    points = [
        ("POINT(0 -16.5)", "far"),
        ("POINT(179.5 -16.5)", "in"),
        ("POINT(-179.5 -16.5)", "in"),
    ]
    places = layer("places", "Point", "name:string", points, "EPSG:4326")
    zone = layer("zone", "Polygon", "n:integer", [(WRAPPED, 1)], "EPSG:4326")
    bench = Bench(tmp_path, places, zone)
    found = bench.run("select_by_location", layer="places", predicate="within", other="zone")
    assert [one["name"] for one in made(bench, found).getFeatures()] == ["in", "in"]
    assert any("crosses the date line" in note for note in found.notes)
    turned = bench.run("select_by_location", layer="zone", predicate="contains", other="places")
    assert turned.numbers["count"] == 1
    counted = algorithm(
        bench, "native:countpointsinpolygon", POLYGONS="zone", POINTS="places", FIELD="n2"
    )
    assert next(made(bench, counted).getFeatures())["n2"] == 2
    assert next(zone.getFeatures()).geometry().asWkt().startswith("Polygon ((179 -17, -179 -17")


def test_measures_across_the_date_line_are_on_the_ellipsoid_b14(tmp_path: Path) -> None:
    line = layer(
        "line", "LineString", "n:integer", [("LINESTRING(179 -16,-179 -16)", 1)], "EPSG:4326"
    )
    zone = layer("zone", "Polygon", "n:integer", [(WRAPPED, 1)], "EPSG:4326")
    bench = Bench(tmp_path, line, zone)
    length = bench.run("measure", layer="line", what="length", unit="m").numbers["sum"]
    assert length == pytest.approx(214_068, rel=1e-5)
    area = bench.run("measure", layer="zone", what="area", unit="km2").numbers["sum"]
    assert area == pytest.approx(23_630, rel=1e-4)


# -- geometries that touch, overlap, or lie on a border


def test_parcels_that_touch_do_not_overlap_b17(tmp_path: Path) -> None:
    rows = [(box(0, 0, 10, 10), "a"), (box(10, 0, 20, 10), "b"), (box(0, 9.9999999, 10, 20), "c")]
    parcels = layer("parcels", "Polygon", "name:string", rows)
    others = layer("others", "Polygon", "name:string", rows[1:])
    one = layer("one", "Polygon", "name:string", rows[:1])
    bench = Bench(tmp_path, parcels, others, one)
    found = algorithm(bench, "native:intersection", INPUT="one", OVERLAY="others")
    areas = [feature.geometry().area() for feature in made(bench, found).getFeatures()]
    assert sum(areas) == pytest.approx(1e-6, rel=0.01)
    for predicate, count in (("intersects", 2), ("overlaps", 1), ("touches", 1)):
        touched = bench.run("select_by_location", layer="others", predicate=predicate, other="one")
        assert touched.numbers["count"] == count, predicate


def test_points_on_a_border_are_missed_in_the_counts_and_told_b20(tmp_path: Path) -> None:
    squares = layer(
        "squares", "Polygon", "n:integer", [(box(0, 0, 10, 10), 1), (box(10, 0, 20, 10), 2)]
    )
    points = layer("points", "Point", "weight:string", [("POINT(10 5)", "x"), ("POINT(1 1)", "y")])
    bench = Bench(tmp_path, squares, points)
    found = algorithm(
        bench, "native:countpointsinpolygon", POLYGONS="squares", POINTS="points", FIELD="k"
    )
    assert sorted(one["k"] for one in made(bench, found).getFeatures()) == [0, 1]
    assert any("add up to 1 of the 2 points of points" in note for note in found.notes)
    with pytest.raises(MendableError, match="WEIGHT needs a field of numbers"):
        algorithm(
            bench,
            "native:countpointsinpolygon",
            POLYGONS="squares",
            POINTS="points",
            WEIGHT="weight",
        )


def test_geometries_that_a_run_leaves_empty_are_told_b03(tmp_path: Path) -> None:
    rows = [(box(0, 0, 4, 4), 1), (box(0, 0, 100, 100), 2)]
    bench = Bench(tmp_path, layer("parcels", "Polygon", "n:integer", rows))
    found = algorithm(bench, "native:buffer", INPUT="parcels", DISTANCE=-5)
    assert "1 of 2 features of the result have no geometry." in found.notes


# -- joins


def keyed() -> list[QgsVectorLayer]:
    zones = layer("zones", "Polygon", "key:integer name:string",
                  [(box(0, 0, 1, 1), 1, "a"), (box(1, 0, 2, 1), 2, "b")])  # fmt: skip
    rows = [(None, "01", 1, "x"), (None, "02", 2, "y"), (None, "02", 2, "z")]
    return [zones, layer("table", "None", "text:string number:integer name:string", rows)]


def test_a_join_that_finds_nothing_says_why_b26(tmp_path: Path) -> None:
    bench = Bench(tmp_path, *keyed())
    found = algorithm(bench, "native:joinattributestable", INPUT="zones", FIELD="key",
                      INPUT_2="table", FIELD_2="text", METHOD=1)  # fmt: skip
    assert found.numbers["JOINED_COUNT"] == 0
    assert any(note.startswith("0 of 2 features found a match.") for note in found.notes)


def test_a_join_one_to_many_says_that_features_became_more_b26(tmp_path: Path) -> None:
    bench = Bench(tmp_path, *keyed())
    one = algorithm(bench, "native:joinattributestable", INPUT="zones", FIELD="key",
                    INPUT_2="table", FIELD_2="number", METHOD=1)  # fmt: skip
    assert one.numbers["count"] == 2
    assert not any("became" in note for note in one.notes)
    many = algorithm(bench, "native:joinattributestable", INPUT="zones", FIELD="key",
                     INPUT_2="table", FIELD_2="number", METHOD=0)  # fmt: skip
    assert many.numbers["count"] == 3
    assert any(note.startswith("2 features became 3") for note in many.notes)
    assert made(bench, many).fields().names()[-1] == "name_2"


# -- files


def test_a_shapefile_tells_its_shortened_names_b25(tmp_path: Path) -> None:
    fields = "population_2010:integer population_2020:integer ok:bool seen:datetime name:string"
    row = ("POINT(0 0)", 1, 2, True, "2024-05-06T07:08:09", "Łódź")
    output = tmp_path / "out"
    output.mkdir()
    bench = Bench(tmp_path, layer("towns", "Point", fields, [row]), output=output)
    crs, file = "EPSG:32632", "towns.shp"
    found = algorithm(bench, "native:reprojectlayer", INPUT="towns", TARGET_CRS=crs, OUTPUT=file)
    saved = QgsVectorLayer(str(output / "towns.shp"))
    assert saved.fields().names()[:2] == ["population", "populati_1"]
    assert next(saved.getFeatures())["name"] == "Łódź"
    note = next(one for one in found.notes if one.startswith("A Shapefile holds names"))
    assert "population_2010 is population, population_2020 is populati_1" in note
    later = bench.run("statistics", layer=found.id, field="populati_1", statistic="sum")
    assert later.numbers["sum"] == 2
    assert found.files == (str(output / "towns.shp"),)
    again = algorithm(bench, "native:savefeatures", INPUT="towns", OUTPUT=file)
    assert again.files == (str(output / "towns_2.shp"),)
    assert note in again.notes


@pytest.mark.parametrize("name", ["o.xyz", "o"])
def test_a_file_of_an_unknown_format_is_refused_b40(tmp_path: Path, name: str) -> None:
    """Processing writes o.xyz.gpkg without a word."""
    output = tmp_path / "out"
    output.mkdir()
    points = layer("points", "Point", "n:integer", [("POINT(0 0)", 1)])
    with pytest.raises(MendableError, match=r"no format that can be written.*\.gpkg"):
        algorithm(
            Bench(tmp_path, points, output=output),
            "native:reprojectlayer",
            INPUT="points",
            TARGET_CRS="EPSG:4326",
            OUTPUT=name,
        )
    assert list(output.iterdir()) == []


# -- selected features and unsaved edits


def roads() -> QgsVectorLayer:
    rows = [(f"LINESTRING(0 {n},10 {n})", n) for n in (1, 2, 3)]
    return layer("roads", "LineString", "n:integer", rows)


def test_selected_features_are_a_layer_of_their_own_b35(tmp_path: Path) -> None:
    one = roads()
    bench = Bench(tmp_path, one)
    assert [profile.key for profile in bench.toolbox.layers()] == ["roads"]
    one.selectByExpression('"n" > 1')
    assert [profile.features for profile in bench.toolbox.layers()] == [3, 2]
    buffered = algorithm(bench, "native:buffer", INPUT="roads (selected)", DISTANCE=1)
    assert buffered.numbers["count"] == 2
    total = bench.run("statistics", layer="selected roads", field="n", statistic="sum")
    assert total.numbers["sum"] == 5
    assert bench.run("count", layer="roads (selected)", where='"n" > 2').numbers["count"] == 1
    whole = bench.run("count", layer="roads")
    assert whole.numbers["count"] == 3
    assert "2 of 3 features of roads are selected, and all 3 were used" in whole.text
    with pytest.raises(MendableError, match="part of a layer"):
        bench.run("style_graduated", layer="roads (selected)", field="n")
    one.removeSelection()
    with pytest.raises(MendableError, match="Nothing is selected in roads"):
        algorithm(bench, "native:buffer", INPUT="roads (selected)", DISTANCE=1)


def test_unsaved_edits_count_in_programs_too_b37(tmp_path: Path) -> None:
    """gdal:buffervectors would read the saved file and give 2."""
    from qgis.core import QgsVectorFileWriter

    path = tmp_path / "p.gpkg"
    points = layer("p", "Point", "n:integer", [("POINT(0 0)", 1), ("POINT(100 0)", 2)])
    options = QgsVectorFileWriter.SaveVectorOptions()
    QgsVectorFileWriter.writeAsVectorFormatV3(points, str(path), points.transformContext(), options)
    saved = QgsVectorLayer(str(path), "p")
    assert saved.startEditing()
    added = QgsFeature(saved.fields())
    added.setGeometry(QgsGeometry.fromWkt("POINT(200 0)"))
    assert saved.addFeature(added)
    bench = Bench(tmp_path / "t", saved)
    native = algorithm(bench, "native:buffer", INPUT="p", DISTANCE=1)
    assert native.numbers["count"] == 3
    assert "p has unsaved edits, which count here." in native.notes
    program = algorithm(bench, "gdal:buffervectors", INPUT="p", DISTANCE=1)
    assert program.layers, program
    assert program.numbers["count"] == 3
    assert saved.isEditable()
    assert saved.isModified()
    saved.rollBack()


def test_a_second_layer_is_added_to_a_file_of_the_same_chat_b41(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "theirs.gpkg").write_text("of the user")
    bench = Bench(tmp_path / "t", roads(), output=output)
    save = {"INPUT": "roads", "OUTPUT": "o.gpkg", "ACTION_ON_EXISTING_FILE": 1}
    for name in ("first", "second"):
        algorithm(bench, "native:savefeatures", **{**save, "LAYER_NAME": name})
    for name in ("first", "second"):
        assert QgsVectorLayer(f"{output / 'o.gpkg'}|layername={name}").featureCount() == 3
    fresh = algorithm(bench, "native:savefeatures", INPUT="roads", OUTPUT="o.gpkg")
    assert fresh.files == (str(output / "o_2.gpkg"),)
    theirs = algorithm(bench, "native:savefeatures", **{**save, "OUTPUT": "theirs.gpkg"})
    assert theirs.files == (str(output / "theirs_2.gpkg"),)
    assert (output / "theirs.gpkg").read_text() == "of the user"
