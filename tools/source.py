# SPDX-License-Identifier: GPL-2.0-or-later
"""Snapshots of layers: made on the main thread, then read on the thread that computes."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

from osgeo import gdal
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsDistanceArea,
    QgsExpressionContext,
    QgsExpressionContextScope,
    QgsExpressionContextUtils,
    QgsFeature,
    QgsFeatureRequest,
    QgsFeatureSource,
    QgsField,
    QgsFields,
    QgsMapLayer,
    QgsProject,
    QgsRasterDataProvider,
    QgsRasterLayer,
    QgsRectangle,
    QgsUnitTypes,
    QgsVariantUtils,
    QgsVectorLayer,
    QgsVectorLayerFeatureSource,
    QgsVectorLayerSelectedFeatureSource,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QDate, QDateTime, QMetaType, Qt, QTime

from .base import BandProfile, Family, ToolCancelled

GEOMETRY = {
    Qgis.GeometryType.Point: (Family.POINT, "point"),
    Qgis.GeometryType.Line: (Family.LINE, "line"),
    Qgis.GeometryType.Polygon: (Family.POLYGON, "polygon"),
    Qgis.GeometryType.Null: (Family.TABLE, "table"),
    Qgis.GeometryType.Unknown: (Family.VECTOR, "mixed"),
}
WGS_84 = "EPSG:7030"
_SELECTED = "?selected"
_TYPES = {
    QMetaType.Type.Bool: "boolean",
    QMetaType.Type.Int: "integer",
    QMetaType.Type.UInt: "integer",
    QMetaType.Type.LongLong: "integer",
    QMetaType.Type.ULongLong: "integer",
    QMetaType.Type.Double: "real",
    QMetaType.Type.Float: "real",
    QMetaType.Type.QString: "text",
    QMetaType.Type.QDate: "date",
    QMetaType.Type.QTime: "time",
    QMetaType.Type.QDateTime: "datetime",
}
_TIME_NAME = re.compile(r"time=([-\d.]+) \((\w+) since (\d{4})-(\d{1,2})-(\d{1,2})")
_BAND_NUMBER = re.compile(r"^Band \d+(?:: )?")
_CHECK_EVERY = 1000


def plain(value: Any) -> Any:
    """Return an attribute value as JSON knows it: NULL and NaN are None, dates ISO texts."""
    if QgsVariantUtils.isNull(value):
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (QDate, QDateTime, QTime)):
        return value.toString(Qt.DateFormat.ISODate)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value)


def opened(path: str, driver: str = "") -> gdal.Dataset | None:
    """Open a vector file read-only by GDAL (by one driver alone where one is named); None for
    what it cannot open, whether GDAL raises or not."""
    allowed = [driver] if driver else []
    try:
        return gdal.OpenEx(path, gdal.OF_VECTOR | gdal.OF_READONLY, allowed)
    except RuntimeError:
        return None


def crs_name(crs: QgsCoordinateReferenceSystem) -> str:
    """Return the authority code, else the description; "" for no CRS."""
    if not crs.isValid():
        return ""
    return crs.authid() or crs.description() or "custom CRS"


def field_type(one: QgsField) -> str:
    """Return the type of a field in FieldProfile's words."""
    return _TYPES.get(one.type(), "other")


@dataclass(frozen=True)
class VectorSource:
    """A vector layer or table as it was when the call began; safe on any one thread at a time.

    `selected` counts the selected features of a whole layer, `edited` tells that it has edits
    that are not saved (they are read too), `extent` is in its CRS.
    """

    key: str
    id: str
    short: str
    family: Family
    geometry: str
    crs: QgsCoordinateReferenceSystem
    fields: QgsFields
    features: int
    reader: QgsFeatureSource | QgsVectorLayerFeatureSource
    context: QgsExpressionContext
    measurer: QgsDistanceArea
    wkb: Qgis.WkbType
    source: str
    extent: QgsRectangle = field(default_factory=QgsRectangle)
    provider: str = ""
    selected: int = 0
    edited: bool = False

    def is_selection(self) -> bool:
        """Tell whether this is only what is selected in a layer."""
        return self.id.endswith(_SELECTED)

    def names(self) -> list[str]:
        """Return the names of the fields in order."""
        return [one.name() for one in self.fields]

    def type_of(self, name: str) -> str:
        """Return the type of a field in FieldProfile's words."""
        return field_type(self.fields.field(name))

    def has_z(self) -> bool:
        """Tell whether the geometries carry a height."""
        return bool(QgsWkbTypes.hasZ(self.wkb))

    def in_degrees(self) -> bool:
        """Tell whether the coordinates are degrees."""
        return bool(self.crs.isValid() and self.crs.isGeographic())

    def rows(
        self,
        cancelled: Callable[[], bool],
        expression: str = "",
        geometry: bool = False,
        only: Sequence[str] | None = None,
        box: QgsRectangle | None = None,
    ) -> Iterator[QgsFeature]:
        """Yield the features that match `expression`, with the fields `only` (None is all).

        With `box`, in the layer's CRS, only features whose bounding box meets it.
        Raises ToolCancelled.
        """
        request = QgsFeatureRequest()
        if box is not None:
            request.setFilterRect(box)
        if only is not None:
            request.setSubsetOfAttributes(list(only), self.fields)
        if expression:
            request.setFilterExpression(expression)
            request.setExpressionContext(self.context)
        elif not geometry:
            request.setFlags(Qgis.FeatureRequestFlag.NoGeometry)
        for number, feature in enumerate(self.reader.getFeatures(request)):
            if number % _CHECK_EVERY == 0 and cancelled():
                raise ToolCancelled()
            yield feature


@dataclass(frozen=True)
class RasterSource:
    """A raster layer as it was when the call began; its provider is a clone."""

    key: str
    id: str
    short: str
    crs: QgsCoordinateReferenceSystem
    provider: QgsRasterDataProvider
    bands: tuple[BandProfile, ...]
    cells: str
    source: str
    family: Family = Family.RASTER

    @property
    def extent(self) -> QgsRectangle:
        """Return the extent in the raster's CRS."""
        return self.provider.extent()


LayerSource = Union[VectorSource, RasterSource]


def layer_of(identity: str) -> tuple[str, bool]:
    """Return the id of the layer that a source's id stands for, and whether its selection alone."""
    return identity.removesuffix(_SELECTED), identity.endswith(_SELECTED)


def selection(layer: QgsMapLayer, whole: LayerSource) -> VectorSource | None:
    """Return what is selected in a layer, as a source of its own, None for nothing. Main thread
    only."""
    if not isinstance(whole, VectorSource) or not whole.selected:
        return None
    return replace(
        whole,
        key=f"{whole.key} (selected)",
        id=f"{whole.id}{_SELECTED}",
        short="",
        features=whole.selected,
        reader=QgsVectorLayerSelectedFeatureSource(layer),
        extent=layer.boundingBoxOfSelected(),
        selected=0,
    )


def snapshot(layer: QgsMapLayer, project: QgsProject, key: str, short: str) -> LayerSource | None:
    """Return the snapshot of a layer, None for kinds that no tool reads. Main thread only."""
    if isinstance(layer, QgsVectorLayer):
        return _vector(layer, project, key, short)
    if isinstance(layer, QgsRasterLayer) and layer.dataProvider() is not None:
        return _raster(layer, key, short)
    return None


def expressions(project: QgsProject, ellipsoid: str) -> QgsExpressionContext:
    """Return a context in which $area and $length are metres on the ellipsoid, whatever units
    the project shows, which finds the project's layers by name, and which knows nothing of the
    user. Main thread only."""
    context = QgsExpressionContext()
    context.setLoadedLayerStore(project.layerStore())
    context.appendScope(_project_scope(project))
    measure = QgsExpressionContextScope()
    measure.setVariable("project_ellipsoid", ellipsoid, True)
    measure.setVariable("project_distance_units", "meters", True)
    measure.setVariable("project_area_units", "square meters", True)
    context.appendScope(measure)
    return context


def _project_scope(project: QgsProject) -> QgsExpressionContextScope:
    """Return the project's own variables, without QGIS's scope of a project.

    QGIS 3.40 ends at once where the main thread makes that scope while workers evaluate others.
    """
    found = QgsExpressionContextScope(project.title())
    known = {
        "project_title": project.title(),
        "project_path": project.fileName(),
        "project_home": project.homePath(),
        "project_crs": project.crs().authid(),
    }
    for name, value in {**known, **project.customVariables()}.items():
        found.setVariable(name, value, True)
    return found


def _vector(layer: QgsVectorLayer, project: QgsProject, key: str, short: str) -> VectorSource:
    family, geometry = GEOMETRY.get(layer.geometryType(), (Family.VECTOR, "mixed"))
    measurer = QgsDistanceArea()
    measurer.setSourceCrs(layer.crs(), project.transformContext())
    ellipsoid = project.ellipsoid()
    if layer.crs().isValid() and (not ellipsoid or ellipsoid == "NONE"):
        ellipsoid = layer.crs().ellipsoidAcronym()
        if not ellipsoid or ellipsoid.startswith("PARAMETER"):  # QGIS measures NaN on such a one
            ellipsoid = WGS_84
    measurer.setEllipsoid(ellipsoid)
    context = expressions(project, ellipsoid)
    context.appendScope(QgsExpressionContextUtils.layerScope(layer))
    return VectorSource(
        key=key,
        id=layer.id(),
        short=short,
        family=family,
        geometry=geometry,
        crs=layer.crs() if family is not Family.TABLE else QgsCoordinateReferenceSystem(),
        fields=layer.fields(),
        features=layer.featureCount(),
        reader=QgsVectorLayerFeatureSource(layer),
        context=context,
        measurer=measurer,
        wkb=layer.wkbType(),
        source=layer.source(),
        extent=layer.extent(),
        provider=layer.providerType(),
        selected=layer.selectedFeatureCount(),
        edited=layer.isEditable() and layer.isModified(),
    )


def _raster(layer: QgsRasterLayer, key: str, short: str) -> RasterSource:
    provider = layer.dataProvider().clone()
    bands = tuple(
        BandProfile(
            number,
            _band_name(layer.bandName(number)),
            provider.dataType(number).name.lower(),
            provider.sourceNoDataValue(number) if provider.sourceHasNoDataValue(number) else None,
        )
        for number in range(1, layer.bandCount() + 1)
    )
    unit = QgsUnitTypes.toAbbreviatedString(layer.crs().mapUnits()) if layer.crs().isValid() else ""
    width, height = layer.rasterUnitsPerPixelX(), layer.rasterUnitsPerPixelY()
    cells = f"{layer.width()} x {layer.height()} cells of {width:g} x {height:g} {unit}".strip()
    return RasterSource(key, layer.id(), short, layer.crs(), provider, bands, cells, layer.source())


def _band_name(name: str) -> str:
    """Return a band's name, with the month and the date where it states a time since an epoch."""
    found = _TIME_NAME.search(name)
    if not found:
        return _BAND_NUMBER.sub("", name)
    amount, unit, year, month, day = found.groups()
    scale = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}.get(unit)
    if scale is None:
        return name
    epoch = datetime.datetime(int(year), int(month), int(day))
    moment = epoch + datetime.timedelta(seconds=float(amount) * scale)
    return f"{moment:%B} {moment.year} ({moment:%Y-%m-%d})"
