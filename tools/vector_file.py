# SPDX-License-Identifier: GPL-2.0-or-later
"""Vector files written by QGIS's own writer, with chosen fields, names, types and CRS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from osgeo import ogr
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsFeatureSink,
    QgsField,
    QgsFields,
    QgsVectorFileWriter,
)

from . import execution, wording
from .base import LastingError, MendableError
from .context import Context
from .distance import moved, needs_crs, transform
from .new_layer import TYPES
from .source import VectorSource, snapshot

_DEGREES = "EPSG:4326"
_IN_DEGREES = {"GeoJSON", "KML"}
_PLAIN = {"CSV", "XLSX"}
_PLACED = {"FlatGeobuf"}
"""What drops a feature without geometry, without a word."""
_OPTIONS = {"GeoJSON": ["RFC7946=YES"], "CSV": ["STRING_QUOTING=IF_NEEDED"]}


@dataclass(frozen=True)
class Plan:
    """What is written of a layer: the names in the file by field, in order, types by field, and
    the CRS ("" keeps the layer's)."""

    source: VectorSource
    fields: dict[str, str]
    types: dict[str, str] = field(default_factory=dict)
    crs: str = ""

    def system(self) -> QgsCoordinateReferenceSystem:
        """Return the CRS of the file. Raises MendableError for one that there is not,
        UnanswerableError where the layer has none to start from."""
        if not self.crs:
            return self.source.crs
        found = QgsCoordinateReferenceSystem(self.crs)
        if not found.isValid():
            raise MendableError(f'There is no CRS "{self.crs}". Write it like EPSG:4326.')
        needs_crs(self.source, f"it cannot be brought to {self.crs}")
        return found

    def layout(self) -> QgsFields:
        """Return the fields of the file."""
        found = QgsFields()
        for name, new in self.fields.items():
            one = QgsField(self.source.fields.field(name))
            if name in self.types:
                one = QgsField(new, TYPES[self.types[name]])
            one.setName(new)
            found.append(one)
        return found

    def values(self, feature: QgsFeature, layout: QgsFields) -> list[Any]:
        """Return a feature's values as the file takes them. Raises MendableError."""
        found = []
        for place, name in enumerate(self.fields):
            value = feature[name]
            if name in self.types:
                value = self._fitting(value, name, layout.at(place))
            found.append(value)
        return found

    def _fitting(self, value: Any, name: str, target: QgsField) -> Any:
        fits, changed, *said = _converted(target, value)
        if not fits:
            raise MendableError(
                f"{name} cannot be made {self.types[name]}: {value!r} does not fit"
                f"{' (' + said[0] + ')' if said and said[0] else ''}. Leave it out of types."
            )
        return changed


def _converted(target: QgsField, value: Any) -> tuple[Any, ...]:
    try:
        result = target.convertCompatible(value)
    except (TypeError, ValueError) as error:
        return False, value, str(error)
    return True, result


def reprojected(plan: Plan, context: Context) -> VectorSource:
    """Return the layer in the plan's CRS, itself when it is so already."""
    system = plan.system()
    if system == plan.source.crs:
        return plan.source
    parameters = {"INPUT": plan.source.id, "TARGET_CRS": system, "OUTPUT": "TEMPORARY_OUTPUT"}
    layer = execution.run("native:reprojectlayer", parameters, context).layers["OUTPUT"]
    found = context.call(lambda: snapshot(layer, context.project, plan.source.key, ""))
    if not isinstance(found, VectorSource):
        raise LastingError(f"{plan.source.key} could not be brought to {plan.crs}.")
    return found


def write(plan: Plan, path: Path, driver: str, context: Context) -> None:
    """Write a file, or add a layer to a GeoPackage that is there.

    GeoJSON and KML are in EPSG:4326 by their standards. A file that fails leaves nothing.
    Raises LastingError, MendableError, ToolCancelled.
    """
    source = plan.source
    if driver in _IN_DEGREES and source.geometry != "table":
        needs_crs(source, f"{driver} cannot be written, which is in longitude and latitude")
        plan = replace(plan, crs=_DEGREES)
    system, layout, added = plan.system(), plan.layout(), path.exists()
    writer = _writer(plan, path, driver, system, layout, context)
    done, lost = False, 0
    try:
        for feature in _features(plan, layout, system, driver, context):
            if not writer.addFeature(feature, QgsFeatureSink.Flag.FastInsert):
                raise LastingError(f"{path.name} could not be written: {writer.errorMessage()}.")
            lost += driver in _PLACED and not feature.hasGeometry()
        done = True
    finally:
        failed = writer.errorMessage() if writer.hasError() else ""
        del writer  # closes the file
        if not done and not added:
            for one in path.parent.glob(f"{path.stem}.*"):
                one.unlink()
    if lost:
        many = wording.counted(lost, "feature")
        context.note(f"{many} without geometry left out: {path.suffix} cannot hold them.")
    if failed:
        raise LastingError(f"{path.name} could not be written: {failed}.")


def _writer(
    plan: Plan,
    path: Path,
    driver: str,
    system: QgsCoordinateReferenceSystem,
    layout: QgsFields,
    context: Context,
) -> QgsVectorFileWriter:
    source, options = plan.source, QgsVectorFileWriter.SaveVectorOptions()
    options.driverName, options.fileEncoding = driver, "UTF-8"
    layer_options = list(_OPTIONS.get(driver, []))
    if driver == "GPKG":
        options.layerName = _free_name(path, source.key)
        if not _is_key(source, plan):
            layer_options.append("FID=feature_id")
        if path.exists():
            action = QgsVectorFileWriter.ActionOnExistingFile.CreateOrOverwriteLayer
            options.actionOnExistingFile = action
    options.layerOptions = layer_options
    wkb = source.wkb
    if driver in _PLAIN:
        wkb = type(wkb).NoGeometry
    transforms = context.call(lambda: context.project.transformContext())
    writer = QgsVectorFileWriter.create(str(path), layout, wkb, system, transforms, options)
    if writer.hasError():
        raise LastingError(f"{path.name} could not be made: {writer.errorMessage()}.")
    return writer


def _is_key(source: VectorSource, plan: Plan) -> bool:
    """Tell whether GeoPackage's own key may be called fid: no field is, or it is a key."""
    names = [name for name, new in plan.fields.items() if new.lower() == "fid"]
    if not names:
        return True
    if source.type_of(names[0]) != "integer":
        return False
    values = [row[names[0]] for row in source.rows(lambda: False, only=names)]
    return len(set(values)) == len(values) and all(isinstance(one, int) for one in values)


def _free_name(path: Path, name: str) -> str:
    """Return a layer name that a GeoPackage does not have yet."""
    if not path.exists():
        return name
    dataset = ogr.Open(str(path))
    if dataset is None:
        raise MendableError(f"{path.name} is no GeoPackage. Choose another name.")
    taken = {dataset.GetLayer(at).GetName() for at in range(dataset.GetLayerCount())}
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _features(
    plan: Plan,
    layout: QgsFields,
    system: QgsCoordinateReferenceSystem,
    driver: str,
    context: Context,
) -> Iterator[QgsFeature]:
    source = plan.source
    way = transform(source.crs, system) if system != source.crs else None
    total = max(1, source.features)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        if number % 1000 == 0:
            context.progress(100.0 * number / total)
        made = QgsFeature(layout, feature.id())
        made.setAttributes(plan.values(feature, layout))
        if feature.hasGeometry() and driver not in _PLAIN:
            geometry = feature.geometry()
            made.setGeometry(moved(geometry, way) if way else geometry)
        yield made
