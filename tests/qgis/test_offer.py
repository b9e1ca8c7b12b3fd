# SPDX-License-Identifier: GPL-2.0-or-later
"""Every algorithm of the live registry is offered, or refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from qgis.core import QgsApplication
from toolbox_case import Bench, layer

from geo_olm.tools import offer, search
from geo_olm.tools.algorithm import described
from geo_olm.tools.base import MendableError

pytestmark = pytest.mark.usefixtures("qgis_processing")

REASONS = {
    offer.NETWORK,
    offer.CODE,
    offer.DEVICE,
    offer.DATABASE,
    offer.IN_PLACE,
    offer.ELSEWHERE,
    offer.INSIDE_MODELS,
    offer.OTHER_PLUGIN,
}
DANGEROUS = {
    "native:filedownloader": offer.NETWORK,
    "native:httprequest": offer.NETWORK,
    "native:openurl": offer.NETWORK,
    "native:batchnominatimgeocoder": offer.NETWORK,
    "native:uploadgpsdata": offer.DEVICE,
    "native:postgisexecutesql": offer.CODE,
    "native:spatialiteexecutesql": offer.CODE,
    "gdal:executesql": offer.CODE,
    "native:importintopostgis": offer.DATABASE,
    "native:truncatetable": offer.IN_PLACE,
    "native:createspatialindex": offer.IN_PLACE,
    "native:createattributeindex": offer.IN_PLACE,
    "native:setlayerstyle": offer.IN_PLACE,
    "native:setlayerencoding": offer.IN_PLACE,
    "native:selectbylocation": offer.IN_PLACE,
    "gdal:overviews": offer.IN_PLACE,
    "gdal:assignprojection": offer.IN_PLACE,
    "gdal:rasterize_over": offer.IN_PLACE,
    "native:repairshapefile": offer.IN_PLACE,
    "native:atlaslayouttoimage": offer.ELSEWHERE,
    "native:setprojectvariable": offer.INSIDE_MODELS,
}
DAILY = (
    "native:buffer",
    "native:clip",
    "native:dissolve",
    "native:reprojectlayer",
    "native:joinattributestable",
    "native:zonalstatisticsfb",
    "native:rastercalc",
    "native:rasterlayerstatistics",
    "native:extractbyexpression",
    "native:fieldcalculator",
    "native:aggregate",
    "native:createpointslayerfromtable",
    "gdal:slope",
    "gdal:warpreproject",
    "gdal:contour",
)


def test_every_algorithm_is_offered_or_refused_with_a_reason() -> None:
    algorithms = QgsApplication.processingRegistry().algorithms()
    reasons = {one.id(): offer.refused(one) for one in algorithms}
    offered = [one for one, reason in reasons.items() if not reason]
    assert {reason for reason in reasons.values() if reason} <= REASONS
    assert len(offered) > 280
    for identity, reason in sorted(reasons.items()):
        if reason:
            print(f"{identity}: {reason}")


@pytest.mark.parametrize("identity", sorted(DANGEROUS))
def test_what_reaches_outside_or_changes_in_place_is_refused(identity: str) -> None:
    algorithm = QgsApplication.processingRegistry().algorithmById(identity)
    assert algorithm is not None
    assert offer.refused(algorithm) == DANGEROUS[identity]


@pytest.mark.parametrize("identity", DAILY)
def test_daily_algorithms_are_offered(identity: str) -> None:
    assert offer.refused(QgsApplication.processingRegistry().algorithmById(identity)) == ""


def test_no_offered_algorithm_connects_or_has_no_output() -> None:
    for algorithm in QgsApplication.processingRegistry().algorithms():
        if offer.refused(algorithm):
            continue
        kinds = {item.type() for item in algorithm.parameterDefinitions()}
        assert not kinds & {"authcfg", "providerconnection", "databasetable"}, algorithm.id()
        assert algorithm.outputDefinitions(), algorithm.id()


def test_every_offered_algorithm_is_described_in_few_words() -> None:
    for algorithm in QgsApplication.processingRegistry().algorithms():
        if not offer.refused(algorithm):
            text = described(algorithm)
            assert text.startswith(algorithm.id())
            assert len(text) <= 1600
            assert "EXTRA" not in text


def test_a_refused_algorithm_is_named_with_its_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("t", "Point", "a:integer", []))
    for tool, more in (("run_algorithm", {"parameters": {}}), ("describe_algorithm", {})):
        with pytest.raises(MendableError, match="sends data over the network"):
            bench.run(tool, algorithm="native:filedownloader", **more)


@pytest.mark.parametrize(
    ("words", "identity"),
    [
        ("buffer polygons", "native:buffer"),
        ("reproject a layer", "native:reprojectlayer"),
        ("zonal statistics of a raster", "native:zonalstatisticsfb"),
        ("join by field value", "native:joinattributestable"),
        ("count points in polygons", "native:countpointsinpolygon"),
        ("fix invalid geometries", "native:fixgeometries"),
        ("slope of a dem", "native:slope"),
        ("clip raster by mask", "gdal:cliprasterbymasklayer"),
        ("contour lines", "gdal:contour"),
        ("nearest neighbour analysis", "native:nearestneighbouranalysis"),
    ],
)
def test_words_find_the_algorithm(words: str, identity: str) -> None:
    assert identity in [one.id for one in search.live().found(words)]


def test_refused_algorithms_are_not_found() -> None:
    assert search.live().found("download file from url")
    found = [one.id for one in search.live().found("download file from url", most=400)]
    assert "native:filedownloader" not in found
