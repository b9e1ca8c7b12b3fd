# SPDX-License-Identifier: GPL-2.0-or-later
"""Features taken out of a layer into a new one: by conditions, or the largest and smallest."""

from __future__ import annotations

import heapq
from typing import Any

from qgis.core import QgsFeature

from . import argument, execution, wording
from .base import LayerReference, MendableError, ToolDefinition, ToolResult
from .condition import Filter, field_named, number_of
from .context import Context
from .expression import SourceFields, chosen, evaluator, refuse_twice
from .naming import naming_field
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
        evaluate, order = evaluator(text, source), arguments.get("order", "largest")
        ranking, left = _Ranking(arguments.get("n", 1), order == "largest"), 0
        for feature in source.rows(context.cancelled, taken.expression, geometry=True):
            value = evaluate(feature)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                ranking.add(value, feature)
            else:
                left += 1
        found = ranking.best()
        if not found:
            raise MendableError(
                f"No feature of {source.key} has a number for {name}. To find the value that "
                "occurs most often, use unique_values."
            )
        context.note(*taken.notes, *_told(found[-1][0], ranking.ties(), left, name))
        ids = ", ".join(str(feature.id()) for _, feature in found)
        words = f"{name} is among the {len(found)} {order}"
        context.speak_of(source, Filter(f"$id IN ({ids})", words), len(found))
        return _listed(found, name, arguments, source)


class _Ranking:
    """The best features of a stream, held alone; of equal ones the first stay."""

    def __init__(self, wanted: int, largest: bool) -> None:
        self._wanted, self._sign = wanted, 1 if largest else -1
        self._heap: list[tuple[float, int, QgsFeature]] = []
        self._ranks: list[float] = []

    def add(self, value: float, feature: QgsFeature) -> None:
        """Take one feature in."""
        rank = self._sign * value
        self._ranks.append(rank)
        if len(self._heap) < self._wanted:
            heapq.heappush(self._heap, (rank, -len(self._ranks), feature))
        elif rank > self._heap[0][0]:
            heapq.heapreplace(self._heap, (rank, -len(self._ranks), feature))

    def best(self) -> list[tuple[float, QgsFeature]]:
        """Return value and feature of the best, the best first."""
        return [(self._sign * rank, one) for rank, _, one in sorted(self._heap, reverse=True)]

    def ties(self) -> int:
        """Return how many were left out that equal the last of the best."""
        last = self._heap[0][0]
        return self._ranks.count(last) - sum(1 for rank, _, _ in self._heap if rank == last)


def _ranked_by(
    arguments: dict[str, Any], source: VectorSource, context: Context
) -> tuple[str, str]:
    if arguments.get("expression"):
        refuse_twice(arguments["expression"], context.store.question())
        return arguments["expression"], arguments["expression"]
    name = field_named(arguments["field"], SourceFields(source, context.cancelled))
    return name, number_of(name, source.type_of(name))


def _told(last: float, more: int, left: int, name: str) -> list[str]:
    said = []
    if left:
        said.append(f"{left} features without a number for {name} were left out.")
    if more:
        said.append(f"{more} more have the same value {wording.number(last)} as the last one.")
    return said


def _listed(
    found: list[Any], name: str, arguments: dict[str, Any], source: VectorSource
) -> ToolResult:
    label = naming_field(source, arguments.get("field", ""))
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
