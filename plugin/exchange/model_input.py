# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a model of QGIS as variables of a graph, with what a variable cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterNumber,
)
from qgis.PyQt.QtCore import QDate, QDateTime, Qt

from ..workflow.graph import Type, Variable
from .loss import Lost

LAYERS = frozenset({"vector", "source", "raster", "layer", "maplayer", "mesh", "pointcloud"})
_TEXTS = frozenset({"string", "expression", "field", "crs", "datetime"})
_HIGHEST = 1e300


def variable(one: QgsProcessingParameterDefinition) -> Variable:
    """Return an input that is no layer as a variable."""
    name, label, default = one.name(), one.description(), plain(one.defaultValue())
    if isinstance(one, QgsProcessingParameterNumber):
        return Variable(name, Type.NUMBER, label, default)
    if isinstance(one, QgsProcessingParameterEnum) and not one.allowMultiple():
        return _choice(one, label, default)
    if one.type() == "boolean":
        said = None if default is None else str(bool(default)).lower()
        return Variable(name, Type.CHOICE, label, said, choices=("true", "false"))
    if one.type() == "datetime":
        return Variable(name, Type.DATE, label, default)
    return Variable(name, Type.TEXT, label, default)


def losses(one: QgsProcessingParameterDefinition, position: Any) -> Iterator[Lost]:
    """Yield what is lost of an input; `position` is its component in the model."""
    name = one.name()
    if isinstance(one, QgsProcessingParameterNumber):
        if one.minimum() > -_HIGHEST or one.maximum() < _HIGHEST:
            yield Lost("", f"The limits of the input {name} are not taken over.")
    elif isinstance(one, QgsProcessingParameterEnum) and not one.usesStaticStrings():
        listed = ", ".join(f"{at} {text}" for at, text in enumerate(one.options()))
        yield Lost("", f"The choices of the input {name} go by their numbers: {listed}.")
    elif one.type() == "field":
        yield Lost("", f"The input {name} is a text and no longer bound to the fields of a layer.")
    elif one.type() not in LAYERS | _TEXTS | {"boolean", "enum"}:
        yield Lost("", f"The input {name} ({one.type()}) becomes a text.")
    optional = bool(one.flags() & QgsProcessingParameterDefinition.Flag.FlagOptional)
    if optional and one.defaultValue() is None:
        yield Lost("", f"The input {name} need not be given in the model; the workflow needs it.")
    if position is not None and position.comment().description():
        said = position.comment().description()
        yield Lost("", f'The comment "{said}" of the input {name} is not taken over.')


def plain(value: Any) -> Any:
    """Return a value of Processing as JSON has it, None for one that it has not."""
    if isinstance(value, QgsCoordinateReferenceSystem):
        return value.authid() or value.toWkt()
    if isinstance(value, (QDate, QDateTime)):
        return value.toString(Qt.DateFormat.ISODate)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    return value if isinstance(value, (str, int, float, bool)) else None


def _choice(one: QgsProcessingParameterEnum, label: str, default: Any) -> Variable:
    """Return a choice by its texts, or by the numbers that the steps of a model read."""
    options = tuple(one.options())
    if not one.usesStaticStrings():
        chosen = options.index(default) if default in options else default
        places = tuple(str(at) for at in range(len(options)))
        said = f"{label} ({', '.join(f'{at} {text}' for at, text in enumerate(options))})"
        return Variable(
            one.name(), Type.CHOICE, said, None if chosen is None else str(chosen), choices=places
        )
    chosen = options[default] if isinstance(default, int) else default
    return Variable(one.name(), Type.CHOICE, label, chosen, choices=options)
