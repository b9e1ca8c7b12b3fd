# SPDX-License-Identifier: GPL-2.0-or-later
"""Features taken out of a layer into a new one: by conditions, or the largest and smallest."""

from __future__ import annotations

from typing import Any

from . import argument, execution, wording
from .base import LayerReference, MendableError, ToolDefinition, ToolResult
from .condition import Filter, field_named, number_of
from .context import Context
from .expression import SourceFields, chosen, evaluator
from .source import VectorSource, plain
from .store import Provenance
from .subset import Subset, described

_TITLE_CHARACTERS = 60
_EXTRACT = "native:extractbyexpression"


def titled(text: str) -> str:
    """Return a layer name of a bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_CHARACTERS else line[: _TITLE_CHARACTERS - 1] + "…"


def made(
    algorithm: str, parameters: dict[str, Any], title: str, context: Context
) -> LayerReference:
    """Run an algorithm with one output layer and hand that layer over to the project."""
    outcome = execution.run(algorithm, parameters, context)
    layer = outcome.layers["OUTPUT"]
    shown = {"algorithm": algorithm, **parameters}
    return context.call(lambda: context.hand_over(layer, titled(title), shown))


def make_subset(subset: Subset, context: Context) -> None:
    """Make a layer, under its own short id, of features that an earlier result spoke of."""
    parameters = {
        "INPUT": subset.layer_id,
        "EXPRESSION": subset.expression,
        "OUTPUT": "TEMPORARY_OUTPUT",
    }
    layer = execution.run(_EXTRACT, parameters, context).layers["OUTPUT"]
    provenance = Provenance("filter", parameters, context.store.question())
    title = titled(subset.title)
    context.extracted.append(
        context.call(lambda: context.store.add(layer, title, subset.short, provenance))
    )


class FilterFeatures:
    """Takes the features that meet conditions into a new layer."""

    definition = ToolDefinition(
        "filter",
        "Make a new layer of the features that meet conditions; gives their count.",
        argument.arguments(
            {"layer": argument.layer(*argument.FEATURES), **argument.filtering()}, ["layer"]
        ),
        label="Filter",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse a filter without a condition."""
        if not arguments.get("conditions") and not arguments.get("where"):
            raise MendableError("filter needs conditions, or an expression in where.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Run the extraction by expression on the layer as it is in the project."""
        source = context.vector(arguments["layer"])
        taken = chosen(arguments, source, context.cancelled)
        context.note(*taken.notes)
        parameters = {
            "INPUT": source.id,
            "EXPRESSION": taken.expression,
            "OUTPUT": "TEMPORARY_OUTPUT",
        }
        title = described(source, taken)
        reference = made(_EXTRACT, parameters, title, context)
        if not reference.features:
            context.note(f"No feature of {source.key} meets the conditions.")
        return ToolResult(
            f"{wording.layer(reference)}; count = {reference.features}.",
            numbers={"count": reference.features},
            layers=(reference,),
            algorithm=_EXTRACT,
            parameters=parameters,
        )


class TopN:
    """Lists the features with the largest or smallest values."""

    definition = ToolDefinition(
        "top_n",
        "List the n features with the largest (or smallest) value of a field or expression.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "field": argument.field(),
                "expression": {
                    "type": "string",
                    "description": "a QGIS expression instead of a field",
                },
                "order": argument.choice(
                    "largest",
                    "smallest",
                    synonyms={"highest": "largest", "lowest": "smallest", "desc": "largest"},
                ),
                "n": {"type": "integer", "minimum": 1, "maximum": 50},
                **argument.filtering(),
            },
            ["layer"],
        ),
        label="Largest or smallest",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for one of field and expression."""
        if not arguments.get("field") and not arguments.get("expression"):
            raise MendableError("top_n needs a field or an expression.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Rank the features; those without a value are left out, ties are told."""
        source = context.vector(arguments["layer"])
        taken = chosen(arguments, source, context.cancelled)
        name, text = _ranked_by(arguments, source, context)
        evaluate = evaluator(text, source)
        found, left = [], 0
        for feature in source.rows(context.cancelled, taken.expression, geometry=True):
            value = evaluate(feature)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found.append((value, feature))
            else:
                left += 1
        if not found:
            raise MendableError(f"No feature of {source.key} has a number for {name}.")
        largest = arguments.get("order", "largest") == "largest"
        found.sort(key=lambda pair: -pair[0] if largest else pair[0])
        wanted = arguments.get("n", 1)
        context.note(*taken.notes, *_told(found, wanted, left, name))
        ids = ", ".join(str(feature.id()) for _, feature in found[:wanted])
        words = f"{name} is among the {min(wanted, len(found))} {arguments.get('order', 'largest')}"
        context.speak_of(source, Filter(f"$id IN ({ids})", words), len(found[:wanted]))
        return _listed(found[:wanted], name, arguments, source)


def _ranked_by(
    arguments: dict[str, Any], source: VectorSource, context: Context
) -> tuple[str, str]:
    if arguments.get("expression"):
        return arguments["expression"], arguments["expression"]
    name = field_named(arguments["field"], SourceFields(source, context.cancelled))
    return name, number_of(name, source.type_of(name))


def _told(found: list[Any], wanted: int, left: int, name: str) -> list[str]:
    said = []
    if left:
        said.append(f"{left} features without a number for {name} were left out.")
    if len(found) > wanted and found[wanted][0] == found[wanted - 1][0]:
        last = found[wanted - 1][0]
        more = sum(1 for value, _ in found[wanted:] if value == last)
        said.append(f"{more} more have the same value {wording.number(last)} as the last one.")
    return said


def _listed(
    found: list[Any], name: str, arguments: dict[str, Any], source: VectorSource
) -> ToolResult:
    label = _label_field(source, arguments.get("field", ""))
    table, numbers, texts = [], {}, {}
    for place, (value, feature) in enumerate(found, start=1):
        row = _row(feature, label, name, source)
        table.append({**row, name: value})
        key = "value" if place == 1 else f"value{place}"
        numbers[key] = value if isinstance(value, int) else float(value)
        if label:
            texts["name" if place == 1 else f"name{place}"] = str(plain(feature[label]))
    order = arguments.get("order", "largest")
    return ToolResult(
        f"{order} {name} of {source.key}:\n{wording.rows(table)}", numbers=numbers, texts=texts
    )


def _row(feature: Any, label: str, name: str, source: VectorSource) -> dict[str, Any]:
    texts = [one for one in source.names() if source.type_of(one) == "text" and one != name]
    others = [one for one in texts if one != label][:3]
    row = {label: plain(feature[label])} if label else {"feature": feature.id()}
    return {**row, **{one: plain(feature[one]) for one in others}}


def _label_field(source: VectorSource, ranked: str) -> str:
    """Return the field that most likely names a feature, "" when the layer has no text field."""
    texts = [name for name in source.names() if source.type_of(name) == "text" and name != ranked]
    for pattern in ("name", "name_en", "name_long", "title", "label"):
        for name in texts:
            if name.lower() == pattern:
                return name
    named = [name for name in texts if "name" in name.lower() or name.lower().startswith("nom")]
    return (named or texts or [""])[0]
