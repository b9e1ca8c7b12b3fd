# SPDX-License-Identifier: GPL-2.0-or-later
"""Small layers of every kind, made in code, and parameters made from an algorithm's schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal, osr
from qgis.core import (
    QgsLayoutItemMap,
    QgsMapThemeCollection,
    QgsMeshLayer,
    QgsPrintLayout,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QByteArray
from toolbox_case import box, layer

EXTENT = "500000,500400,5000000,5000400 [EPSG:32632]"
LAYERS = {
    "point": ["points", "more points"],
    "line": ["lines", "more lines"],
    "polygon": ["polygons", "more polygons"],
    "vector": ["polygons", "more polygons"],
    "table": ["polygons", "more polygons"],
    "raster": ["dem", "dem2"],
    "any": ["polygons", "dem"],
}
SPECIAL: dict[str, dict[str, Any]] = {
    "adduniquevalueindexfield": {"FIELD": "name"},
    "buildvirtualvector": {"INPUT": ["shape"]},
    "climbalongline": {"INPUT": "lines zm"},
    "convertgpsdata": {"INPUT": "track.gpx"},
    "convertgpxfeaturetype": {"INPUT": "track.gpx"},
    "categorizeusingstyle": {"FIELD": "name", "STYLE": "style.xml"},
    "createpointslayerfromtable": {"INPUT": "table", "XFIELD": "x", "YFIELD": "y"},
    "colorrelief": {"COLOR_TABLE": "colours.txt"},
    "combinestyles": {"INPUT": ["style.xml", "style.xml"]},
    "definecurrentprojection": {"INPUT": "shape"},
    "explodehstorefield": {"FIELD": "tags"},
    "explodelines": {"INPUT": "lines"},
    "extractbinary": {"INPUT": "binaries", "FIELD": "blob", "FILENAME": "name"},
    "extractlabels": {"SCALE": 1000},
    "extractmvalues": {"INPUT": "lines zm"},
    "extractzvalues": {"INPUT": "lines zm"},
    "filterverticesbym": {"INPUT": "lines zm", "MIN": 1},
    "filterverticesbyz": {"INPUT": "lines zm", "MIN": 1},
    "bufferbym": {"INPUT": "lines zm"},
    "importphotos": {"FOLDER": "photos"},
    "interpolatepoint": {"INPUT": "lines", "DISTANCE": 10},
    "joinattributestable": {"INPUT_2": "table", "FIELD": "n", "FIELD_2": "n"},
    "linestopolygons": {"INPUT": "rings"},
    "mergelines": {"INPUT": "lines"},
    "pansharp": {"SPECTRAL": "rgb", "PANCHROMATIC": "dem"},
    "pcttorgb": {"INPUT": "classes"},
    "polygonize:native": {"INPUT": "rings"},
    "rasterboolean": {"INPUT": ["dem", "dem2"], "REF_LAYER": "dem"},
    "reclassifybylayer": {"INPUT_TABLE": "table", "MIN_FIELD": "n", "MAX_FIELD": "m",
                          "VALUE_FIELD": "n"},
    "refactorfields": {"FIELDS_MAPPING": [{"field": "n", "name": "number"}]},
    "rgbtopct": {"INPUT": "rgb"},
    "nearblack": {"INPUT": "rgb"},
    "rearrange_bands": {"INPUT": "rgb", "BANDS": [3, 1]},
    "relief": {"COLORS": [[0, 50, 10, 20, 30], [50, 200, 90, 90, 90]]},
    "shpencodinginfo": {"INPUT": "shape.shp"},
    "splitfeaturesbycharacter": {"FIELD": "name", "CHAR": "-"},
    "stdbscanclustering": {"DATETIME_FIELD": "when", "EPS": 500, "EPS2": "2 days"},
    "randomextract": {"NUMBER": 2},
    "randomextractwithinsubsets": {"FIELD": "name", "NUMBER": 1},
    "rasterize:gdal": {"FIELD": "n", "UNITS": "Georeferenced units", "WIDTH": 10, "HEIGHT": 10},
    "shortestpathpointtopoint": {"START_POINT": "500020,5000010 [EPSG:32632]",
                                 "END_POINT": "500080,5000300 [EPSG:32632]"},
    "stylefromproject": {"INPUT": "saved.qgs"},
    "texttofloat": {"FIELD": "digits"},
    "tinmeshcreation": {"SOURCE_DATA": [{"layer": "points", "field": "n"}]},
    "tileindex": {"LAYERS": ["dem", "dem2"]},
    "viewshed": {"OBSERVER": "500100,5000100 [EPSG:32632]"},
    "arrayoffsetlines": {"COUNT": 2, "OFFSET": 5},
    "arraytranslatedfeatures": {"COUNT": 2, "DELTA_X": 5},
    "bookmarkstolayer": {"SOURCE": "User bookmarks"},
    "eliminateselectedpolygons": {"INPUT": "polygons"},
    "fuzzifyrasterlinearmembership": {"FUZZYLOWBOUND": 0, "FUZZYHIGHBOUND": 10},
    "orthogonalize": {"INPUT": "polygons"},
    "pointstopath": {"INPUT": "points", "ORDER_EXPRESSION": '"n"'},
    "randompointsinlayerbounds": {"POINTS_NUMBER": 3},
    "serviceareafromlayer": {"INPUT": "lines", "START_POINTS": "points", "TRAVEL_COST2": 50},
    "serviceareafrompoint": {"INPUT": "lines", "TRAVEL_COST2": 50},
    "splitlinesbylength": {"INPUT": "lines", "LENGTH": 10},
    "topologicalcoloring": {"INPUT": "polygons"},
    "statisticsbycategories": {"CATEGORIES_FIELD_NAME": ["name"]},
    "printlayoutmapextenttolayer": {"MAP": "Map 1"},
    "meshcontours": {"INCREMENT": 5, "MINIMUM": 0, "MAXIMUM": 40},
    "meshrasterize": {"DATASET_GROUPS": [0]},
    "meshexportcrosssection": {"INPUT_LINES": "lines"},
    "meshexporttimeseries": {"INPUT_POINTS": "points"},
    "setmfromraster": {"INPUT": "points"},
    "setzfromraster": {"INPUT": "points"},
    "angletonearest": {"INPUT": "styled points", "REFERENCE_LAYER": "lines"},
    "splitwithlines": {"INPUT": "polygons", "LINES": "lines"},
    "rastercalc": {"LAYERS": ["dem"], "EXPRESSION": '"dem@1" * 2'},
    "modelerrastercalc": {"LAYERS": ["dem"], "EXPRESSION": '"A@1" * 2'},
    "modelervirtualrastercalc": {"LAYERS": ["dem"], "EXPRESSION": '"A@1" * 2'},
    "virtualrastercalc": {"LAYERS": ["dem"], "EXPRESSION": '"dem@1" * 2'},
}  # fmt: skip
"""What the schema of an algorithm cannot say, by its name (or name:provider)."""


def project_of(folder: Path) -> QgsProject:
    """Return a project over the layers; files that algorithms read lie in `folder`."""
    project = QgsProject()
    project.setEllipsoid("EPSG:7030")
    for one in [*vectors(), *rasters(folder), mesh(folder)]:
        assert one.isValid(), one.name()
        project.addMapLayer(one)
    project.setCrs(project.mapLayersByName("dem")[0].crs())
    layout = QgsPrintLayout(project)
    layout.initializeDefaults()
    layout.setName("sheet")
    item = QgsLayoutItemMap(layout)
    layout.addLayoutItem(item)
    item.setExtent(QgsRectangle(500000, 5000000, 500400, 5000400))
    project.layoutManager().addLayout(layout)
    project.mapThemeCollection().insert("theme", QgsMapThemeCollection.MapThemeRecord())
    files(folder)
    project.addMapLayer(QgsVectorLayer(str(folder / "shape.shp"), "shape", "ogr"))
    saved = QgsProject()
    assert saved.write(str(folder / "saved.qgs"))
    return project


def vectors() -> list[Any]:
    """Return vector layers and a table in EPSG:32632."""
    fields = "n:integer m:double name:string digits:string when:datetime tags:string"
    rest = [(number, number * 1.5 + 2, "ab"[number % 2], f"{number}.5", f"2024-05-0{number + 1}",
             f'"k"=>"{number}"') for number in range(6)]  # fmt: skip
    places = [(500020 + 60 * one, 5000030 + 45 * (one % 4)) for one in range(6)]
    points = [(f"POINT({x} {y})", *rest[one]) for one, (x, y) in enumerate(places)]
    lines = [
        (f"LINESTRING({x} 5000000, {x} 5000300, {x + 60} 5000300)", *rest[one])
        for one, (x, _) in enumerate(places[:4])
    ]
    areas = [(box(x - 15, y - 15, x + 40, y + 40), *rest[i]) for i, (x, y) in enumerate(places)]
    other = [(box(x, y, x + 60, y + 60), *rest[i]) for i, (x, y) in enumerate(places)]
    zm = [("LINESTRING ZM(500000 5000000 1 1, 500100 5000100 5 2, 500200 5000000 2 3)", 1)]
    rings = [("LINESTRING(500000 5000000, 500100 5000000, 500100 5000100, 500000 5000000)", 1)]
    table = [(None, *rest[i], x, y) for i, (x, y) in enumerate(places)]
    return [
        layer("points", "Point", fields, points),
        layer("styled points", "Point", fields, points),
        layer("more points", "Point", fields, [points[0], points[3]]),
        layer("lines", "LineString", fields, lines),
        layer("more lines", "LineString", fields, lines[1:]),
        layer("polygons", "Polygon", fields, areas),
        layer("more polygons", "Polygon", fields, other),
        layer("lines zm", "LineStringZM", "n:integer", zm),
        layer("rings", "LineString", "n:integer", rings),
        layer("table", "None", fields + " x:double y:double", table, crs=""),
        layer(
            "binaries", "None", "name:string blob:binary", [(None, "a", QByteArray(b"abc"))], crs=""
        ),
    ]


def rasters(folder: Path) -> list[Any]:
    """Return rasters of 40 x 40 cells of 10 m over the vectors."""
    rows, columns = numpy.mgrid[0:40, 0:40]
    hill = (100 - (rows - 20) ** 2 / 10 - (columns - 15) ** 2 / 8).astype("float32")
    with_gap = hill.copy()
    with_gap[5:7, 5:7] = -9999
    classes = (hill > 60).astype("uint8")
    colour = numpy.stack([hill.clip(0, 255).astype("uint8")] * 3)
    return [
        _raster(folder / "dem.tif", hill[None], nodata=-9999),
        _raster(folder / "dem2.tif", with_gap[None] + 0, nodata=-9999),
        _raster(folder / "classes.tif", classes[None], palette=True),
        _raster(folder / "rgb.tif", colour),
    ]


def _raster(path: Path, bands: Any, nodata: float | None = None, palette: bool = False) -> Any:
    kind = gdal.GDT_Float32 if bands.dtype == numpy.float32 else gdal.GDT_Byte
    _, height, width = bands.shape
    data = gdal.GetDriverByName("GTiff").Create(str(path), width, height, len(bands), kind)
    data.SetGeoTransform((500000, 10, 0, 5000400, 0, -10))
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32632)
    data.SetProjection(reference.ExportToWkt())
    for number, values in enumerate(bands, 1):
        band = data.GetRasterBand(number)
        band.WriteArray(values)
        if nodata is not None:
            band.SetNoDataValue(nodata)
        if palette:
            colours = gdal.ColorTable()
            colours.SetColorEntry(0, (10, 20, 30))
            colours.SetColorEntry(1, (200, 100, 0))
            band.SetRasterColorTable(colours)
    band = data = None  # closed, so that all is on the disk
    return QgsRasterLayer(str(path), path.stem)


def mesh(folder: Path) -> Any:
    """Return a mesh of two triangles over the vectors."""
    path = folder / "mesh.2dm"
    corners = [(500000, 5000000), (500400, 5000000), (500400, 5000400), (500000, 5000400)]
    nodes = "".join(f"ND {i} {x} {y} {i * 10}\n" for i, (x, y) in enumerate(corners, 1))
    path.write_text(f"MESH2D\n{nodes}E3T 1 1 2 3 1\nE3T 2 1 3 4 1\n")
    found = QgsMeshLayer(str(path), "mesh", "mdal")
    found.setCrs(QgsRasterLayer(str(folder / "dem.tif"), "dem").crs())
    return found


def files(folder: Path) -> None:
    """Write the files that some algorithms read."""
    points = '<trkseg><trkpt lat="45" lon="9"/><trkpt lat="45.1" lon="9.1"/></trkseg>'
    gpx = f'<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk>{points}'
    (folder / "track.gpx").write_text(f'{gpx}</trk><wpt lat="45" lon="9"/></gpx>')
    (folder / "colours.txt").write_text("0 0 0 255\n100 255 255 0\n")
    (folder / "style.xml").write_text(
        '<!DOCTYPE qgis_style><qgis_style version="2"><symbols>'
        '<symbol type="fill" name="a"><layer class="SimpleFill"/></symbol></symbols></qgis_style>'
    )
    (folder / "photos").mkdir(exist_ok=True)
    (folder / "small.csv").write_text("id,WKT\n1,POINT(500010 5000010)\n")
    shape, small = str(folder / "shape.shp"), str(folder / "small.csv")
    gdal.VectorTranslate(shape, small, options=["-a_srs", "EPSG:32632"])


def parameters(found: dict[str, Any], name: str, provider: str, folder: Path) -> dict[str, Any]:
    """Return a value for each parameter that is required, and what is special of an algorithm."""
    properties = found["properties"]
    special = {**SPECIAL.get(name, {}), **SPECIAL.get(f"{name}:{provider}", {})}
    made: dict[str, Any] = {}
    for key in sorted(properties, key=lambda one: "x-layer" not in str(properties[one])):
        if key in special:
            value = special[key]
            paths = [folder / str(one) for one in (value if isinstance(value, list) else [value])]
            if properties[key]["x-type"] in ("file",) or (
                properties[key]["x-type"] == "multilayer" and all(one.is_file() for one in paths)
            ):
                value = [str(one) for one in paths] if isinstance(value, list) else str(paths[0])
            made[key] = value
        elif key in found["required"]:
            made[key] = _value(key, properties[key], made, folder)
    return made


def _value(key: str, wanted: dict[str, Any], made: dict[str, Any], folder: Path) -> Any:
    kind = wanted["x-type"]
    fixed = {
        "extent": EXTENT,
        "crs": "EPSG:32632",
        "point": "500100,5000100 [EPSG:32632]",
        "distance": 10,
        "area": 100,
        "duration": 1,
        "scale": 1000,
        "mesh": "mesh",
        "meshdatasetgroups": [0],
        "meshdatasettime": "static",
        "layout": "sheet",
        "layoutitem": "Map 1",
        "maptheme": "theme",
        "matrix": [[0, 50, 1], [50, 200, 2]],
        "expression": '"n" > 1',
        "datetime": "2024-05-31T12:00:00",
        "geometry": "POINT(500100 5000100)",
        "range": [0, 10],
        "color": "#ff0000",
        "boolean": True,
        "aggregates": [{"field": "n", "aggregate": "sum"}],
        "idw_interpolation_data": [{"layer": "points", "field": "n"}],
        "vectortilewriterlayers": ["polygons"],
        "dxflayers": ["polygons"],
        "alignrasterlayers": ["dem", "dem2"],
    }
    if kind in fixed:
        return fixed[kind]
    item = wanted.get("items", wanted)
    several = "items" in wanted
    if "x-layer" in item:
        family = item["x-layer"]
        names = LAYERS[family if isinstance(family, str) else family[0]]
        if several:
            return names
        taken = [one for one in names if one not in made.values()]
        return (taken or names)[0]
    if "x-field" in item:
        text = "n" if item.get("x-types") else "name"
        return [text] if several else text
    if "enum" in item:
        return [item["enum"][0]] if several else item["enum"][0]
    if kind in ("number", "band"):
        return [1] if several else max(1, wanted.get("minimum", 1))
    if kind == "file":
        return str(folder / "style.xml")
    return wanted.get("examples", ["abc"])[0]
