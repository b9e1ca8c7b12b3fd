# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of an algorithm made to fit: layers by name, enumerations by label, distances with
units, fields that exist. What Processing would silently take wrongly is refused with the fix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsProcessingAlgorithm,
    QgsProcessingParameterDefinition,
    QgsUnitTypes,
)

from . import offer
from .base import Family, MendableError
from .condition import field_named
from .context import Context
from .distance import needs_crs
from .expression import SourceFields, checked, failures, refuse_outside
from .schema import is_nothing
from .source import LayerSource, RasterSource, VectorSource
from .spelling import bare, closest, listed
from .unit import METRES, parted

_FIRST = {"source", "vector", "raster", "layer", "multilayer", "crs"}
"""Types that other parameters refer to."""
_KINDS = {
    Qgis.ProcessingSourceType.VectorPoint: {Family.POINT},
    Qgis.ProcessingSourceType.VectorLine: {Family.LINE},
    Qgis.ProcessingSourceType.VectorPolygon: {Family.POLYGON},
    Qgis.ProcessingSourceType.VectorAnyGeometry: {Family.POINT, Family.LINE, Family.POLYGON},
}
_RASTER = Qgis.ProcessingSourceType.Raster
_WORDS_ONLY = re.compile(r"(?!-)[\w .,:;/+%-]*|-\d[\d.]*")
"""What a program of GDAL is given as text: nothing that it could take for an option or a query."""
_LONGEST_PATH = 1_000
_WORDS = {Family.POINT: "points", Family.LINE: "lines", Family.POLYGON: "polygons"}


def fitted(
    algorithm: QgsProcessingAlgorithm, given: dict[str, Any], context: Context
) -> dict[str, Any]:
    """Return the parameters as Processing takes them. Raises MendableError."""
    return _Fitting(algorithm, context).all(given)


class _Fitting:
    """One set of parameters on its way."""

    def __init__(self, algorithm: QgsProcessingAlgorithm, context: Context) -> None:
        self._algorithm = algorithm
        self._context = context
        self._sources: dict[str, LayerSource] = {}
        self._found: dict[str, Any] = {}
        self._definitions = {item.name(): item for item in algorithm.parameterDefinitions()}
        self._ways: dict[str, Callable[[QgsProcessingParameterDefinition, Any], Any]] = {
            "source": self._layer,
            "vector": self._layer,
            "raster": self._layer,
            "layer": self._layer,
            "multilayer": self._layers,
            "field": self._field,
            "enum": self._enum,
            "distance": self._distance,
            "area": self._area,
            "number": self._number,
            "boolean": self._boolean,
            "band": self._band,
            "crs": self._crs,
            "extent": self._extent,
            "expression": self._expression,
            "file": self._file,
        }

    def all(self, given: dict[str, Any]) -> dict[str, Any]:
        """Fit every parameter, layers first since others refer to them."""
        named = self._named(given)
        found = self._found
        order = sorted(self._definitions.values(), key=lambda item: item.type() not in _FIRST)
        for definition in order:
            name = definition.name()
            if definition.isDestination():
                self._destination(definition, named.get(name), found)
            elif is_nothing(named.get(name)) and not self._is_layer(definition, named.get(name)):
                self._left_out(definition, name in named)
            elif name in offer.COMMAND_TEXT:
                raise MendableError(f"{name} passes text to a program, so it stays empty.")
            else:
                way = self._ways.get(definition.type(), self._as_given)
                found[name] = way(definition, named[name])
        return found

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        names = [name for name, one in self._definitions.items() if not offer.is_hidden(one)]
        found = {}
        for key, value in given.items():
            equal = [name for name in self._definitions if bare(name) == bare(str(key))]
            if key not in self._definitions and len(equal) != 1:
                raise MendableError(
                    f'{self._algorithm.id()} has no parameter "{key}". '
                    f"Its parameters are {listed(names, 40)}."
                )
            found[key if key in self._definitions else equal[0]] = value
        return found

    def _is_layer(self, definition: QgsProcessingParameterDefinition, value: Any) -> bool:
        """Tell whether a text that says "nothing" is the name of a layer after all."""
        keys = {source.key for source in self._context.sources()} if value else set()
        return definition.type() in _FIRST and value in keys

    def _left_out(self, definition: QgsProcessingParameterDefinition, named: bool) -> None:
        """Refuse a required parameter without value; Processing would take a default silently."""
        optional = definition.flags() & Qgis.ProcessingParameterFlag.Optional
        if optional:
            return
        default = definition.defaultValue()
        measure = definition.type() in ("distance", "number")
        if default is None or (measure and named) or (definition.type() == "distance" and default):
            raise MendableError(
                f"{self._algorithm.id()} needs {definition.name()} ({definition.description()})."
            )

    def _destination(self, definition: Any, value: Any, found: dict[str, Any]) -> None:
        optional = definition.flags() & Qgis.ProcessingParameterFlag.Optional
        if is_nothing(value) and optional and not definition.createByDefault():
            return
        temporary = is_nothing(value) or str(value).lower() in ("temporary_output", "memory:")
        text = "TEMPORARY_OUTPUT"
        if not temporary:
            text = str(self._context.boundary().free(str(value)))
        found[definition.name()] = text

    def _layer(self, definition: QgsProcessingParameterDefinition, value: Any) -> Any:
        source = self._context.layer(str(value))
        self._sources[definition.name()] = source
        self._check_kind(definition, source)
        return source.id

    def _check_kind(self, definition: Any, source: LayerSource) -> None:
        if definition.type() == "raster":
            self._check_kinds(definition.name(), [_RASTER], source)
        elif definition.type() in ("source", "vector"):
            kinds = definition.dataTypes() or [Qgis.ProcessingSourceType.Vector]
            self._check_kinds(definition.name(), kinds, source)

    def _check_kinds(self, name: str, kinds: list[Any], source: LayerSource) -> None:
        """Refuse a layer of another kind than those wanted; Processing may take it silently."""
        if _RASTER in kinds:
            if not isinstance(source, RasterSource):
                raise MendableError(
                    f"{name} needs a raster; {source.key} is a {source.geometry} layer."
                )
            return
        if not set(kinds) & (set(_KINDS) | {Qgis.ProcessingSourceType.Vector}):
            return
        if not isinstance(source, VectorSource):
            raise MendableError(f"{name} needs a vector layer; {source.key} is a raster.")
        wanted: set[Family] = set()
        for kind in kinds:
            wanted |= _KINDS.get(kind, set(Family))
        if source.family not in wanted and source.family is not Family.VECTOR:
            words = " or ".join(_WORDS[one] for one in _WORDS if one in wanted)
            raise MendableError(f"{name} needs {words}; {source.key} is a {source.geometry} layer.")

    def _layers(self, definition: Any, value: Any) -> list[str]:
        names = _decoded(value)
        names = names if isinstance(names, list) else [names]
        found = [self._context.layer(str(name)) for name in names]
        for source in found:
            self._check_kinds(definition.name(), [definition.layerType()], source)
        if found:
            self._sources[definition.name()] = found[0]
        return [source.id for source in found]

    def _parent(self, name: str) -> LayerSource | None:
        return self._sources.get(name)

    def _field(self, definition: Any, value: Any) -> Any:
        source = self._parent(definition.parentLayerParameterName())
        names = _decoded(value)
        if not isinstance(source, VectorSource):
            return names
        fields = SourceFields(source, self._context.cancelled)
        if definition.allowMultiple():
            many = names if isinstance(names, list) else [names]
            return [field_named(str(name), fields) for name in many]
        name = field_named(str(names[0] if isinstance(names, list) else names), fields)
        numeric = definition.dataType() == Qgis.ProcessingFieldParameterDataType.Numeric
        if numeric and source.type_of(name) not in ("integer", "real"):
            raise MendableError(f"{definition.name()} needs a field of numbers; {name} is not.")
        return name

    def _enum(self, definition: Any, value: Any) -> Any:
        options = definition.options()
        given = _decoded(value)
        many = given if isinstance(given, list) else [given]
        found = [self._option(definition, options, one) for one in many]
        if definition.usesStaticStrings():
            found = [options[place] for place in found]
        return found if definition.allowMultiple() else found[0]

    def _option(self, definition: Any, options: list[str], value: Any) -> int:
        text = str(value).strip()
        if text.isdigit() and text not in options and int(text) < len(options):
            return int(text)
        equal = [place for place, text in enumerate(options) if bare(text) == bare(str(value))]
        if len(equal) == 1:
            return equal[0]
        inside = [place for place, text in enumerate(options) if bare(str(value)) in bare(text)]
        if len(inside) == 1 and bare(str(value)):
            return inside[0]
        near = closest(str(value), options)
        hint = f" Closest: {listed(near)}." if near and len(options) > 12 else ""
        raise MendableError(
            f'{definition.name()} cannot be "{value}". Allowed: {listed(options, 20)}.{hint}'
        )

    def _distance(self, definition: Any, value: Any) -> float:
        number, unit = (
            (float(value), "") if _is_number(value) else parted(str(value), definition.name())
        )
        source = self._parent(definition.parentParameterName())
        if source is None:
            return self._in_units_of(self._crs_of(definition), number, unit, value)
        if number == 0:
            return number
        needs_crs(source, f"{definition.name()} has no unit")
        if source.crs.isGeographic():
            raise MendableError(
                f"The distance {value} would be in degrees: {source.key} is in "
                f"{source.crs.authid()}. Run native:reprojectlayer to a metric CRS first, such as "
                f"{self._metric(source)}."
            )
        if isinstance(source, VectorSource) and source.family is Family.POINT and number < 0:
            raise MendableError("A negative distance on points leaves nothing.")
        return self._in_units_of(source.crs, number, unit, value)

    def _crs_of(self, definition: Any) -> QgsCoordinateReferenceSystem:
        """Return the CRS that another parameter gives, as grids have it."""
        given = self._found.get(definition.parentParameterName(), "")
        return QgsCoordinateReferenceSystem(given if isinstance(given, str) else "")

    def _in_units_of(
        self, crs: QgsCoordinateReferenceSystem, number: float, unit: str, value: Any
    ) -> float:
        """Return a distance in the units of a CRS; without a unit it is in them already."""
        if not unit:
            return number
        if crs.isValid() and crs.isGeographic():
            raise MendableError(
                f"The distance {value} cannot be in metres: the CRS {crs.authid()} is in degrees."
            )
        metres = Qgis.DistanceUnit.Meters
        scale = QgsUnitTypes.fromUnitToUnitFactor(metres, crs.mapUnits()) if crs.isValid() else 1
        return number * METRES[unit] * scale

    def _area(self, definition: Any, value: Any) -> Any:
        number = self._number(definition, value)
        source = self._parent(definition.parentParameterName())
        if number and source is not None and source.crs.isGeographic():
            raise MendableError(
                f"The area {value} would be in square degrees: {source.key} is in "
                f"{source.crs.authid()}. Run native:reprojectlayer to a metric CRS first, such as "
                f"{self._metric(source)}."
            )
        return number

    def _metric(self, source: LayerSource) -> str:
        """Name the UTM zone around the middle of a layer."""
        middle = source.extent.center()
        zone = min(60, max(1, int((middle.x() + 180) // 6) + 1))
        return f"EPSG:{(32600 if middle.y() >= 0 else 32700) + zone}"

    def _number(self, definition: Any, value: Any) -> Any:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise MendableError(
                f"{definition.name()} must be a number, not {json.dumps(value)}."
            ) from None
        if definition.dataType() == Qgis.ProcessingNumberParameterType.Integer:
            if number != int(number):
                raise MendableError(f"{definition.name()} must be a whole number, not {value}.")
            number = int(number)
        if not definition.minimum() <= number <= definition.maximum():
            raise MendableError(
                f"{definition.name()} must be from {definition.minimum():g} to "
                f"{definition.maximum():g}, not {value}."
            )
        return number

    def _boolean(self, definition: QgsProcessingParameterDefinition, value: Any) -> bool:
        text = str(value).strip().lower()
        if text in ("true", "1", "yes"):
            return True
        if text in ("false", "0", "no"):
            return False
        raise MendableError(f"{definition.name()} must be true or false, not {json.dumps(value)}.")

    def _band(self, definition: Any, value: Any) -> Any:
        source = self._parent(definition.parentLayerParameterName())
        given = _decoded(value)
        if not isinstance(source, RasterSource):
            return given
        many = given if isinstance(given, list) else [given]
        for one in many:
            if not str(one).isdigit() or not 1 <= int(one) <= len(source.bands):
                raise MendableError(
                    f"{source.key} has no band {one}; it has bands 1 to {len(source.bands)}."
                )
        return [int(one) for one in many] if definition.allowMultiple() else int(many[0])

    def _crs(self, definition: QgsProcessingParameterDefinition, value: Any) -> Any:
        text = str(value).strip()
        if text.isdigit():
            text = f"EPSG:{text}"
        crs = QgsCoordinateReferenceSystem(text)
        if crs.isValid():
            return text
        for source in self._context.sources():
            if source.key == text and source.crs.isValid():
                return source.crs.authid() or source.crs.toWkt()
        raise MendableError(
            f'{definition.name()} cannot be "{value}". Write a code such as EPSG:3857.'
        )

    def _extent(self, definition: QgsProcessingParameterDefinition, value: Any) -> Any:
        text = str(value)
        if sum(part.strip(" []").replace(".", "").isdigit() for part in text.split(",")) >= 2:
            return text
        return self._context.layer(text).id

    def _expression(self, definition: Any, value: Any) -> str:
        source = self._parent(definition.parentLayerParameterName())
        if isinstance(source, VectorSource):
            text = checked(str(value), source)
            self._context.note(*failures(text, source, self._context.cancelled))
            return text
        refuse_outside(value)
        return str(value)

    def _file(self, definition: QgsProcessingParameterDefinition, value: Any) -> str:
        return str(self._context.boundary().readable(str(value), definition.name()))

    def _as_given(self, definition: QgsProcessingParameterDefinition, value: Any) -> Any:
        if definition.type() == "string":
            provider = self._algorithm.provider()
            if provider.id() == "gdal" and not _WORDS_ONLY.fullmatch(str(value)):
                raise MendableError(f"{definition.name()} takes letters, digits and , . : / only.")
            return value
        found = _decoded(value)
        refuse_outside(found)
        for text in _texts(found):
            if _is_elsewhere(text):
                raise MendableError(
                    f"{definition.name()} takes only layers of the project, not files or addresses."
                )
        return found


def _texts(value: Any) -> list[str]:
    """Return every text within a value."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value
    return [text for one in inside for text in _texts(one)] if _holds(value) else []


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list, tuple))


def _is_elsewhere(text: str) -> bool:
    """Tell whether a part of a text is an address or a file, which Processing would open."""
    for part in text.replace("::~::", "|").split("|"):
        if "://" in part or "/vsi" in part.lower():
            return True
        if part.strip() and len(part) < _LONGEST_PATH and Path(part.strip()).is_file():
            return True
    return False


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _decoded(value: Any) -> Any:
    """Return lists and objects that came as JSON in a text."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
