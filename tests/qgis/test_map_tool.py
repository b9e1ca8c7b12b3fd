# SPDX-License-Identifier: GPL-2.0-or-later
"""Styles of rasters, labels, and maps as files: what is drawn, where it lies, what undo takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from qgis.core import QgsMapRendererSequentialJob, QgsMapSettings, QgsProject
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor, QImage
from raster_case import LEFT, TOP, raster
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import LastingError, MendableError
from geo_olm.tools.picture import safe

pytestmark = pytest.mark.usefixtures("qgis_processing")


def districts() -> Any:
    rows = [
        (box(LEFT, TOP, LEFT + 1000, TOP + 1000), "A/B", 4.0),
        (box(LEFT + 1000, TOP, LEFT + 3000, TOP + 1000), "Cee", 9.0),
        (box(LEFT, TOP + 1000, LEFT + 500, TOP + 1500), "Dee", None),
    ]
    return layer("districts", "Polygon", "name:string dens:double", rows)


def bench(tmp_path: Path, *layers: Any) -> Bench:
    (tmp_path / "out").mkdir()
    return Bench(tmp_path / "work", *layers, output=tmp_path / "out")


def drawn(project: QgsProject, name: str) -> Any:
    """Return the colours of a layer drawn on white, as an array of rows, columns and channels."""
    live = project.mapLayersByName(name)[0]
    settings = QgsMapSettings()
    settings.setLayers([live])
    settings.setDestinationCrs(live.crs())
    settings.setExtent(live.extent())
    settings.setOutputSize(QSize(40, 40))
    settings.setBackgroundColor(QColor(0, 0, 0, 0))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    image = job.renderedImage().convertToFormat(QImage.Format.Format_RGBA8888)
    bits = image.constBits()
    bits.setsize(image.sizeInBytes())
    return numpy.frombuffer(bytes(bits), numpy.uint8).reshape(40, 40, 4)


def test_one_band_is_coloured_between_its_real_limits_and_restored(tmp_path: Path) -> None:
    made = bench(tmp_path, raster(tmp_path, "dem", [[0.0, 5.0], [10.0, -9999.0]]))
    before = made.project.mapLayersByName("dem")[0].renderer().type()
    found = made.run("style_raster", layer="dem", ramp="Reds")
    assert found.numbers == {"minimum": 0.0, "maximum": 10.0}
    live = made.project.mapLayersByName("dem")[0]
    assert live.renderer().type() == "singlebandpseudocolor"
    assert (live.renderer().classificationMin(), live.renderer().classificationMax()) == (0, 10)
    low, high = drawn(made.project, "dem")[5, 5], drawn(made.project, "dem")[35, 5]
    assert int(low[1]) > int(high[1]) + 80
    assert made.toolbox.undo_turn() == ("Restored the style of dem.",)
    assert made.project.mapLayersByName("dem")[0].renderer().type() == before


def test_classes_are_equal_steps_with_their_limits_in_the_legend(tmp_path: Path) -> None:
    made = bench(tmp_path, raster(tmp_path, "dem", [[0.0, 5.0], [10.0, 2.0]]))
    made.run("style_raster", layer="dem", classes=2)
    items = made.project.mapLayersByName("dem")[0].renderer().shader().rasterShaderFunction()
    labels = [one.label for one in items.colorRampItemList()]
    assert labels == ["<= 5", "> 5"]


def test_zeros_can_be_left_transparent(tmp_path: Path) -> None:
    made = bench(tmp_path, raster(tmp_path, "heat", [[0.0, 5.0], [10.0, 2.0]]))
    made.run("style_raster", layer="heat", transparent_zero=True)
    cells = drawn(made.project, "heat")
    assert cells[5, 5, 3] == 0
    assert cells[5, 35, 3] == 255


def test_three_bands_become_an_image(tmp_path: Path) -> None:
    bands = [numpy.random.default_rng(one).integers(0, 255, (9, 9)) for one in range(4)]
    made = bench(tmp_path, raster(tmp_path, "scene", *bands, kind=gdal.GDT_Byte))
    made.run("style_raster", layer="scene", rgb=[4, 3, 2])
    renderer = made.project.mapLayersByName("scene")[0].renderer()
    assert (renderer.redBand(), renderer.greenBand(), renderer.blueBand()) == (4, 3, 2)
    stretch = renderer.redContrastEnhancement()
    assert stretch.minimumValue() >= bands[3].min()
    assert stretch.maximumValue() <= bands[3].max()
    with pytest.raises(MendableError, match="has no band 5"):
        made.run("style_raster", layer="scene", rgb=[5, 3, 2])
    with pytest.raises(MendableError, match="either one band"):
        made.run("style_raster", layer="scene", rgb=[1, 3, 2], band=1)


def test_districts_are_coloured_and_labelled_c49(tmp_path: Path) -> None:
    made = bench(tmp_path, districts())
    made.run("style_graduated", layer="districts", field="dens", classes=5, unit="people/km²")
    made.run("label_layer", layer="districts", field="NAME")
    live = made.project.mapLayersByName("districts")[0]
    assert live.renderer().classAttribute() == "dens"
    assert all(one.label().endswith(" people/km²") for one in live.renderer().ranges())
    assert live.labelsEnabled()
    assert live.labeling().settings().fieldName == "name"
    made.run("label_layer", layer="districts", expression="upper(\"name\") || ' km'")
    assert live.labeling().settings().isExpression
    with pytest.raises(MendableError, match='no field "nam"'):
        made.run("label_layer", layer="districts", expression='"nam"')
    with pytest.raises(MendableError, match="needs a field, or an expression, or off"):
        made.run("label_layer", layer="districts")
    made.run("label_layer", layer="districts", off=True)
    assert not live.labelsEnabled()
    made.toolbox.undo_turn()
    assert not live.labelsEnabled()
    assert live.renderer().type() == "singleSymbol"


def test_a_map_is_saved_as_a_picture_d26(tmp_path: Path) -> None:
    made = bench(tmp_path, districts())
    found = made.run("export_map", layers=["districts"], path="density.png")
    path = tmp_path / "out" / "density.png"
    assert found.files == (str(path),)
    image = QImage(str(path))
    assert (image.width(), image.height()) == (1600, 1200)
    colours = {image.pixel(x, y) for x in range(0, 1600, 40) for y in range(0, 1200, 40)}
    assert len(colours) > 1
    again = made.run("export_map", layers=["districts"], path="density")
    assert again.files == (str(tmp_path / "out" / "density_2.png"),)
    assert "density.png is there already and was kept." in again.notes
    assert made.project.layoutManager().layouts() == []


@pytest.mark.parametrize("ending", ["png", "pdf", "svg", "jpg"])
def test_a_page_has_title_legend_scale_bar_and_arrow(tmp_path: Path, ending: str) -> None:
    made = bench(tmp_path, districts())
    found = made.run(
        "export_map", layers=["districts"], path=f"page.{ending}", title="Density of people"
    )
    assert Path(found.files[0]).stat().st_size > 1000
    layouts = made.project.layoutManager().layouts()
    assert [one.name() for one in layouts] == ["Density of people"]
    for name in ("map", "title", "legend", "scale bar", "north arrow"):
        assert layouts[0].itemById(name) is not None
    del layouts
    assert "Removed the layout Density of people." in made.toolbox.undo_turn()
    assert made.project.layoutManager().layouts() == []


def test_a_picture_is_drawn_from_a_worker_without_a_stall(tmp_path: Path) -> None:
    made = bench(tmp_path, districts())
    found, error, stall = made.work("export_map", {"layers": ["districts"], "path": "a.png"})
    assert error is None
    assert found is not None
    assert Path(found.files[0]).is_file()
    assert stall < 2


def test_a_stopped_picture_leaves_no_file(tmp_path: Path) -> None:
    made = bench(tmp_path, districts())
    for tool, arguments in (
        ("export_map", {"layers": ["districts"], "path": "a.png"}),
        ("export_atlas", {"layer": "districts"}),
    ):
        asked: list[int] = []

        def stop(asked: list[int] = asked) -> bool:
            asked.append(1)
            return len(asked) > 3

        _, error, _ = made.work(tool, arguments, stop)
        assert type(error).__name__ == "ToolCancelled"
    assert list((tmp_path / "out").iterdir()) == []


def test_every_district_gets_a_map_with_a_safe_name_c51(tmp_path: Path) -> None:
    made = bench(tmp_path, districts())
    found = made.run("export_atlas", layer="districts", name_field="name", title="District")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["A_B.png", "Cee.png", "Dee.png"]
    assert found.numbers["count"] == 3
    assert all(not QImage(path).isNull() for path in found.files)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("A/B", "A_B"), ("..", "map"), ("a:b*?", "a_b_"), ("Ü é", "Ü é"), ("x" * 300, "x" * 80)],
)
def test_a_file_name_is_made_safe(name: str, wanted: str) -> None:
    assert safe(name) == wanted


def test_a_map_goes_nowhere_but_into_the_output_folder_b68(tmp_path: Path) -> None:
    made = bench(tmp_path, districts())
    for path in ("../a.png", "/tmp/geo_olm_no.png"):
        with pytest.raises(MendableError, match="Files are written only in"):
            made.run("export_map", layers=["districts"], path=path)
    with pytest.raises(MendableError, match="needs an ending that is known"):
        made.run("export_map", layers=["districts"], path="a.exe")
    without = Bench(tmp_path / "work", districts())
    with pytest.raises(LastingError, match="No folder for files is set"):
        without.run("export_map", layers=["districts"], path="a.png")
    with pytest.raises(MendableError, match="no layer"):
        Bench(tmp_path / "work", output=tmp_path / "out").run("export_map", path="a.png")
