# SPDX-License-Identifier: GPL-2.0-or-later
"""New values from features: a calculated field in a new layer, and areas and lengths on the
ellipsoid."""

from __future__ import annotations

from typing import Any

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import needs_crs
from .expression import checked, chosen, evaluator, refuse_twice
from .selection import made
from .source import VectorSource, plain
from .statistic import computed, where
from .unit import AREAS, LENGTHS, SQUARES

_TYPES = {"real": 0, "integer": 1, "text": 2}
_PROBE_ROWS = 200


class CalculateField:
    """Adds a field with an expression's values, in a new layer."""

    definition = ToolDefinition(
        "calculate_field",
        "Make a new layer with an added field, calculated by a QGIS expression such as "
        '"pop" / "area_km2" ($area is in square metres); gives sum, mean, min and max of it.',
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "name": {"type": "string"},
                "expression": {"type": "string"},
                "type": argument.choice(*_TYPES, synonyms={"number": "real", "string": "text"}),
            },
            ["layer", "name", "expression"],
        ),
        label="Calculate field",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse an empty name or expression."""
        for name in ("name", "expression"):
            if not arguments[name].strip():
                raise MendableError(f'"{name}" cannot be empty.')

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Check units, guess the type from the first values, run the field calculator."""
        source = context.vector(arguments["layer"])
        name, text = arguments["name"].strip(), checked(arguments["expression"], source)
        refuse_twice(text, context.store.question())
        if name in source.names():
            raise MendableError(f"{source.key} has a field {name} already. Choose another name.")
        kind = arguments.get("type") or _guessed(text, source, context)
        parameters = {
            "INPUT": source.id,
            "FIELD_NAME": name,
            "FIELD_TYPE": _TYPES[kind],
            "FIELD_LENGTH": 0,
            "FIELD_PRECISION": 0,
            "FORMULA": text,
            "OUTPUT": "TEMPORARY_OUTPUT",
        }
        algorithm = "native:fieldcalculator"
        reference = made(algorithm, parameters, f"{source.key} with {name}", context)
        numbers = _numbers(context, reference.id, name, kind)
        shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
        return ToolResult(
            f"{wording.layer(reference)}; {name}: {shown}.",
            numbers={**numbers, "features": reference.features},
            layers=(reference,),
            algorithm=algorithm,
            parameters=parameters,
        )


def _guessed(text: str, source: VectorSource, context: Context) -> str:
    evaluate = evaluator(text, source)
    kinds = set()
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        value = evaluate(feature)
        if value is not None:
            kinds.add(type(value))
        if number >= _PROBE_ROWS:
            break
    if kinds <= {int, bool} and kinds:
        return "integer"
    return "real" if kinds <= {int, float, bool} else "text"


def _numbers(context: Context, layer_id: str, name: str, kind: str) -> dict[str, float]:
    source = context.vector(layer_id)
    place = source.fields.lookupField(name)
    values = [plain(feature[place]) for feature in source.rows(context.cancelled, only=[name])]
    filled = [value for value in values if value is not None]
    if len(filled) < len(values):
        context.note(f"{len(values) - len(filled)} features have no {name}: it gave no value.")
    if kind == "text" or not filled:
        return computed(filled, "distinct")
    everything = computed(filled)
    return {key: everything[key] for key in ("sum", "mean", "min", "max", "count")}


class Measure:
    """Areas and lengths on the ellipsoid."""

    definition = ToolDefinition(
        "measure",
        "Measure the area (m2, km2, ha) or length (m, km) of features in any CRS; conditions take "
        "only some of them.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POLYGON.value, Family.LINE.value),
                "what": argument.choice("area", "length", "perimeter"),
                "unit": argument.choice(*AREAS, *LENGTHS, synonyms=SQUARES),
                **argument.filtering(),
            },
            ["layer", "what", "unit"],
        ),
        label="Measure",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse an area in metres and a length in square metres."""
        known = AREAS if arguments["what"] == "area" else LENGTHS
        if arguments["unit"] not in known:
            raise MendableError(f"The unit of {arguments['what']} is one of {', '.join(known)}.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Measure every feature that meets the conditions; gives sum, mean, min and max."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        what, unit = arguments["what"], arguments["unit"]
        needs_crs(source, f"its {what} cannot be measured")
        _fits(what, source)
        taken = chosen(arguments, source, context.cancelled)
        context.note(*taken.notes)
        scale = AREAS[unit] if what == "area" else LENGTHS[unit]
        method = {
            "area": source.measurer.measureArea,
            "length": source.measurer.measureLength,
            "perimeter": source.measurer.measurePerimeter,
        }[what]
        values, empty = [], 0
        for feature in source.rows(context.cancelled, taken.expression, geometry=True):
            if feature.hasGeometry():
                values.append(method(feature.geometry()) / scale)
            else:
                empty += 1
        if not values:
            raise MendableError(f"No feature of {source.key}{where(taken)} has a geometry.")
        if empty:
            context.note(f"{empty} features without geometry were left out.")
        context.speak_of(source, taken, len(values) + empty)
        everything = computed(values)
        numbers = {key: everything[key] for key in ("sum", "mean", "min", "max", "count")}
        return ToolResult(
            f"{what} of {source.key}{where(taken)}, on the ellipsoid: "
            f"sum = {wording.number(numbers['sum'])} {unit} over "
            f"{wording.counted(len(values), 'feature')}"
            + (f", mean = {wording.number(numbers['mean'])} {unit}." if len(values) > 1 else "."),
            numbers=numbers,
            units={key: unit for key in numbers if key != "count"},
        )


def _fits(what: str, source: VectorSource) -> None:
    wanted = Family.LINE if what == "length" else Family.POLYGON
    if source.family not in (wanted, Family.VECTOR):
        raise MendableError(f"{source.key} is a {source.geometry} layer, so it has no {what}.")
