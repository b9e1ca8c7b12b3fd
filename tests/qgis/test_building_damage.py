# SPDX-License-Identifier: GPL-2.0-or-later
"""Damage of buildings by a raster of classes, and the correlation of fields, against shapely and
numpy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy
import pytest
import shapely
from product_maker import DEGREES, LEFT, TOP, UTM, geotiff
from qgis.core import QgsMapLayer, QgsRasterLayer
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError
from geo_olm.tools.building_damage import BuildingDamage
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.correlation import Correlation
from geo_olm.tools.toolbox import ProjectToolbox

pytestmark = pytest.mark.usefixtures("qgis_processing")
SIDE = 120


def bench_of(folder: Path, *layers: QgsMapLayer) -> Bench:
    bench = Bench(folder, *layers)
    new = [BuildingDamage(), Correlation()]
    known = {one.name for one in build_registry().definitions()}
    more = [one for one in new if one.definition.name not in known]
    bench.toolbox = ProjectToolbox(bench.project, build_registry(more), bench.caller, folder)
    bench.toolbox.begin_turn("a question")
    return bench


def raster(path: Path, classes: object, **more: object) -> QgsRasterLayer:
    found = QgsRasterLayer(str(geotiff(path, classes, cell=1.0, **more)), "classes")  # type: ignore[arg-type]
    assert found.isValid()
    return found


def test_shares_of_damage_are_those_of_shapely_at_each_distance(tmp_path: Path) -> None:
    numbers = numpy.random.default_rng(4)
    classes = numbers.choice([0, 1, 2, 3, 4], (SIDE, SIDE), p=[0.05, 0.5, 0.3, 0.1, 0.05])
    homes = [
        box(LEFT + x + 0.3, TOP - y - h + 0.3, LEFT + x + w + 0.3, TOP - y + 0.3)
        for x, y, w, h in ((30, 30, 12, 9), (60, 35, 7, 20), (40, 70, 15, 15), (95, 95, 24.9, 8))
    ]
    buildings = layer("buildings", "Polygon", "id:integer", [(w, n) for n, w in enumerate(homes)],
                      UTM)  # fmt: skip
    bench = bench_of(tmp_path, buildings, raster(tmp_path / "c.tif", classes.astype("uint8")))
    found = bench.run("building_damage", layer="buildings", raster="classes")
    made = bench.project.mapLayer(found.layers[0].id)
    x, y = numpy.meshgrid(LEFT + numpy.arange(SIDE) + 0.5, TOP - numpy.arange(SIDE) - 0.5)
    for feature in made.getFeatures():
        shape = shapely.from_wkt(homes[feature["id"]])
        for distance in (0, 10, 20):
            mask = shapely.contains_xy(shape.buffer(distance, quad_segs=16), x, y)
            under = classes[mask & (classes > 0)]
            wanted = (under == 3).mean()
            # corners are rounded alike, but for a cell at most
            assert feature[f"damage_pct_{distance}m"] == pytest.approx(wanted, abs=2 / under.size)
        own = classes[shapely.contains_xy(shape, x, y)]
        assert feature["built_pct_0m"] == pytest.approx((own == 2).sum() / (own > 0).sum())
        assert feature["unknown_pct"] == pytest.approx((own == 4).sum() / (own > 0).sum())
        assert feature["damaged"] == int((own == 3).any())
    damaged = sum(one["damaged"] for one in made.getFeatures())
    assert found.numbers["damaged"] == damaged
    assert found.numbers["percent"] == pytest.approx(100 * damaged / 4)


def test_a_building_without_data_is_told_and_a_tiny_one_takes_the_cell_under_it(
    tmp_path: Path,
) -> None:
    classes = numpy.ones((SIDE, SIDE), "uint8")
    classes[10, 10], classes[:, 60:] = 3, 0
    homes = [
        (box(LEFT + 10.2, TOP - 10.4, LEFT + 10.4, TOP - 10.2), 0),
        (box(LEFT + 70, TOP - 40, LEFT + 80, TOP - 30), 1),
        (box(LEFT + 300, TOP - 40, LEFT + 310, TOP - 30), 2),
    ]
    buildings = layer("buildings", "Polygon", "id:integer", homes, UTM)
    bench = bench_of(tmp_path, buildings, raster(tmp_path / "c.tif", classes))
    found = bench.run("building_damage", layer="buildings", raster="classes")
    rows = {one["id"]: one for one in bench.project.mapLayer(found.layers[0].id).getFeatures()}
    assert (rows[0]["damaged"], rows[0]["damage_pct_0m"]) == (1, 1.0)
    assert not rows[1]["damaged"]
    assert found.numbers["count"] == 1
    assert "Without a cell of data, so not judged: 2 buildings." in found.notes


def test_a_raster_of_other_numbers_or_in_degrees_is_refused_b55(tmp_path: Path) -> None:
    home = layer("buildings", "Polygon", "id:integer",
                 [(box(LEFT + 10, TOP - 20, LEFT + 20, TOP - 10), 0)], UTM)  # fmt: skip
    other = raster(tmp_path / "c.tif", numpy.full((SIDE, SIDE), 17, "uint8"))
    bench = bench_of(tmp_path, home, other)
    with pytest.raises(MendableError, match="17, which is no class of damage"):
        bench.run("building_damage", layer="buildings", raster="classes")
    place = layer("place", "Polygon", "id:integer", [("POLYGON((9 45,9.1 45,9.1 45.1,9 45.1,9 45))",
                                                      0)], "EPSG:4326")  # fmt: skip
    degrees = geotiff(tmp_path / "d.tif", numpy.ones((9, 9), "uint8"), crs=DEGREES, left=9.0,
                      top=45.1, cell=0.01)  # fmt: skip
    bench = bench_of(tmp_path / "b", place, QgsRasterLayer(str(degrees), "classes"))
    with pytest.raises(MendableError, match="in degrees"):
        bench.run("building_damage", layer="place", raster="classes")


def test_correlations_are_those_of_numpy_and_of_ranks(tmp_path: Path) -> None:
    numbers = numpy.random.default_rng(2)
    a = numbers.normal(size=40)
    b = 0.6 * a + numbers.normal(size=40)
    b[5] = b[6]
    rows = [(f"POINT({n} 0)", float(one), float(two)) for n, (one, two) in enumerate(zip(a, b))]
    rows.append(("POINT(50 0)", 1.0, None))
    towns = layer("towns", "Point", "people:double damage:double", rows, UTM)
    bench = bench_of(tmp_path, towns)
    asked = {"layer": "towns", "field": "people", "other": "damage"}
    found = bench.run("correlation", **asked)
    assert found.numbers == {"correlation": pytest.approx(numpy.corrcoef(a, b)[0, 1]), "count": 40}
    assert "Left out, without both numbers: 1 feature." in found.notes
    ranked = bench.run("correlation", **asked, method="spearman").numbers["correlation"]
    order = numpy.argsort(numpy.argsort(a)).astype(float)
    middle = numpy.array([(b < one).sum() + ((b == one).sum() - 1) / 2 for one in b])
    assert ranked == pytest.approx(numpy.corrcoef(order, middle)[0, 1])
    assert not math.isclose(ranked, found.numbers["correlation"])


def test_what_has_no_correlation_is_refused(tmp_path: Path) -> None:
    rows = [(f"POINT({n} 0)", 1.0, float(n)) for n in range(5)]
    bench = bench_of(tmp_path, layer("towns", "Point", "same:double other:double", rows, UTM))
    with pytest.raises(MendableError, match="same of towns is the same everywhere"):
        bench.run("correlation", layer="towns", field="same", other="other")
    few = bench.run("filter", layer="towns", conditions=[{"field": "other", "op": "<", "value": 2}])
    with pytest.raises(MendableError, match="needs 3"):
        bench.run("correlation", layer=few.id, field="same", other="other")
