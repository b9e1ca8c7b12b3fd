# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of an algorithm made to fit: layers by name, enumerations by label, distances with
units, fields that exist. What Processing would silently take wrongly is refused with the fix."""

from __future__ import annotations

from typing import Any

from qgis.core import Qgis, QgsProcessingAlgorithm, QgsProcessingParameterDefinition

from . import (
    offer,
    parameter_layer,
    parameter_list,
    parameter_measure,
    parameter_place,
    parameter_value,
)
from .base import MendableError
from .context import Context
from .fitting import Fitting, Way, inside_project
from .schema import is_nothing
from .spelling import bare, listed

WAYS: dict[str, Way] = {
    **parameter_layer.WAYS,
    **parameter_measure.WAYS,
    **parameter_place.WAYS,
    **parameter_value.WAYS,
    **parameter_list.WAYS,
}
"""How a value of each type of parameter is fitted; other types take what names no file."""

_FREE = {*parameter_list.WAYS, *parameter_layer.OTHER}
"""Types whose values could name a file that Processing would open."""
_ADDING = {"1", "2", "3", "create or overwrite layer"}
_LAYERS = {"source", "vector", "raster", "layer", "multilayer", "mesh", "pointcloud", "layout"}
_FIRST = [_LAYERS, {"crs"}]
"""Types that other parameters refer to."""


def fitted(
    algorithm: QgsProcessingAlgorithm, given: dict[str, Any], context: Context
) -> dict[str, Any]:
    """Return the parameters as Processing takes them. Raises MendableError."""
    fitting = Fitting(algorithm, context)
    named = _named(fitting, given)
    for definition in sorted(fitting.definitions.values(), key=_order):
        name = definition.name()
        if definition.isDestination():
            _destination(fitting, definition, named.get(name), _adds(named))
        elif is_nothing(named.get(name)) and not _is_layer(fitting, definition, named.get(name)):
            _left_out(fitting, definition, name in named)
        elif name in offer.COMMAND_TEXT:
            raise MendableError(f"{name} passes text to a program, so it stays empty.")
        else:
            fitting.found[name] = fit(fitting, definition, named[name])
    return fitting.found


def fit(fitting: Fitting, definition: QgsProcessingParameterDefinition, value: Any) -> Any:
    """Return one value as Processing takes it. Raises MendableError."""
    way = WAYS.get(definition.type())
    if way is None or definition.type() in _FREE:
        value = inside_project(definition, value)
    return value if way is None else way(fitting, definition, value)


def _order(definition: QgsProcessingParameterDefinition) -> int:
    """Layers come first, since others refer to them."""
    for place, kinds in enumerate(_FIRST):
        if definition.type() in kinds:
            return place
    return len(_FIRST)


def _named(fitting: Fitting, given: dict[str, Any]) -> dict[str, Any]:
    definitions = fitting.definitions
    names = [name for name, one in definitions.items() if not offer.is_hidden(one)]
    found = {}
    for key, value in given.items():
        equal = [name for name in definitions if bare(name) == bare(str(key))]
        if key not in definitions and len(equal) != 1:
            raise MendableError(
                f'{fitting.algorithm.id()} has no parameter "{key}". '
                f"Its parameters are {listed(names, 40)}."
            )
        found[key if key in definitions else equal[0]] = value
    return found


def _is_layer(fitting: Fitting, definition: QgsProcessingParameterDefinition, value: Any) -> bool:
    """Tell whether a text that says "nothing" is the name of a layer after all."""
    keys = {source.key for source in fitting.context.sources()} if value else set()
    return _order(definition) < len(_FIRST) and value in keys


def needs_value(definition: QgsProcessingParameterDefinition) -> bool:
    """Tell whether a parameter must be given, since there is no default that may be taken.

    A distance by default is a distance in unknown units; some defaults are refused by Processing.
    """
    if definition.flags() & Qgis.ProcessingParameterFlag.Optional or definition.isDestination():
        return False
    default = definition.defaultValue()
    if default is None or (definition.type() == "distance" and bool(default)):
        return True
    return not definition.checkValueIsAcceptable(None) and not stated(definition)


def stated(definition: QgsProcessingParameterDefinition) -> list[Any]:
    """Return the default in the form in which Processing takes it, as the only item, if any.

    Some algorithms have a list with one option as the default of a single choice.
    """
    default = definition.defaultValue()
    forms = [default, *(default if isinstance(default, list) and len(default) == 1 else [])]
    return [one for one in forms if definition.checkValueIsAcceptable(one)][:1]


def _left_out(fitting: Fitting, definition: QgsProcessingParameterDefinition, named: bool) -> None:
    """Refuse a required parameter without value; Processing would take a default silently.

    A default that Processing has but does not take by itself is stated.
    """
    if definition.flags() & Qgis.ProcessingParameterFlag.Optional:
        return
    measure = definition.type() in ("distance", "number")
    if needs_value(definition) or (measure and named):
        raise MendableError(
            f"{fitting.algorithm.id()} needs {definition.name()} ({definition.description()})."
        )
    if not definition.checkValueIsAcceptable(None):
        fitting.found[definition.name()] = stated(definition)[0]


def _adds(named: dict[str, Any]) -> bool:
    """Tell whether an algorithm is asked to add to a file that is there."""
    action = str(named.get("ACTION_ON_EXISTING_FILE", "")).strip().lower()
    return action in _ADDING or action.startswith("append") or named.get("OVERWRITE") is False


def _destination(fitting: Fitting, definition: Any, value: Any, adding: bool) -> None:
    optional = definition.flags() & Qgis.ProcessingParameterFlag.Optional
    if is_nothing(value) and optional and not definition.createByDefault():
        return
    temporary = is_nothing(value) or str(value).lower() in ("temporary_output", "memory:")
    text = "TEMPORARY_OUTPUT"
    if not temporary:
        text = str(fitting.context.boundary().free(str(value), adding))
    fitting.found[definition.name()] = text
