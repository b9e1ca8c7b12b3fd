# SPDX-License-Identifier: GPL-2.0-or-later
"""Every algorithm of the live registry: finding one, describing it, running it."""

from __future__ import annotations

import json
from typing import Any

from qgis.core import QgsApplication, QgsMapLayer, QgsProcessingAlgorithm

from . import argument, execution, offer, search, wording
from .base import LayerReference, MendableError, ToolDefinition, ToolResult
from .context import Context
from .parameter import fitted
from .parameter_schema import schema
from .registry import Unchecked
from .selection import titled
from .spelling import closest, folded

_MOST_OPTIONS = 15


def offered(algorithm: str) -> QgsProcessingAlgorithm:
    """Return an algorithm by id, forgiving its case and a missing provider.

    Raises MendableError for an unknown one, with the closest ids, and for one never offered.
    """
    registry = QgsApplication.processingRegistry()
    found = registry.algorithmById(algorithm.strip())
    if found is None:
        name = folded(algorithm).split(":")[-1]
        same = [one for one in registry.algorithms() if one.name().lower() == name]
        found = same[0] if len({one.id() for one in same}) == 1 else None
    if found is None:
        ids = [one.id() for one in registry.algorithms() if not offer.refused(one)]
        near = closest(algorithm.split(":")[-1], [one.split(":")[-1] for one in ids], 5)
        shown = [one for one in ids if one.split(":")[-1] in near]
        hint = f"Closest: {', '.join(shown)}." if shown else "Find it with search_algorithms."
        raise MendableError(f'There is no algorithm "{algorithm}". {hint}')
    reason = offer.refused(found)
    if reason:
        raise MendableError(f"{found.id()} is not available here: it {reason}.")
    return found


class SearchAlgorithms(Unchecked):
    """Finds algorithms by words."""

    definition = ToolDefinition(
        "search_algorithms",
        "Find processing algorithms by what they do; gives ids for run_algorithm.",
        argument.arguments({"words": {"type": "string"}}, ["words"]),
        label="Search algorithms",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Ask the search over the registry as it is now for what may be offered."""
        found = context.call(search.live).found(arguments["words"])
        if not found:
            said = json.dumps(arguments["words"], ensure_ascii=False)
            return ToolResult(f"No algorithm fits {said}. Use other words.")
        return ToolResult(wording.lines([f"{one.id}: {one.name}" for one in found]))


class DescribeAlgorithm(Unchecked):
    """Describes the parameters of an algorithm."""

    definition = ToolDefinition(
        "describe_algorithm",
        "Describe the parameters and outputs of an algorithm.",
        argument.arguments({"algorithm": {"type": "string"}}, ["algorithm"]),
        label="Describe an algorithm",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """List required parameters first, a line each."""
        return ToolResult(context.call(lambda: described(offered(arguments["algorithm"]))))


def described(algorithm: QgsProcessingAlgorithm) -> str:
    """Describe an algorithm in a few lines. Main thread only."""
    found = schema(algorithm)
    outputs = ", ".join(item.name() for item in algorithm.outputDefinitions())
    about = algorithm.shortDescription()
    lines = [f"{algorithm.id()}: {about or algorithm.displayName()}"]
    lines += [
        parameter_line(name, one, name in found["required"])
        for name, one in found["properties"].items()
        if "x-destination" not in one
    ]
    lines.append(f"Gives: {outputs}")
    return wording.lines(lines)


def parameter_line(name: str, found: dict[str, Any], required: bool) -> str:
    """Describe one parameter: name, type, meaning, choices, range, default."""
    text = f"{name} ({found['x-type']}): {found['description']}"
    item = found.get("items", found)
    if "enum" in item:
        several = ", several" if "items" in found else ""
        text += f" [{', '.join(item['enum'][:_MOST_OPTIONS])}{several}]"
    if "x-columns" in item:
        text += f" [rows of {', '.join(item['x-columns'])}]"
    if "properties" in item:
        text += f" [objects with {', '.join(item['properties'])}]"
    text += _limits(found)
    if "default" in found:
        return f"{text}, default {found['default']}"
    return text if required else f"{text}, optional"


def _limits(found: dict[str, Any]) -> str:
    least, most = found.get("minimum"), found.get("maximum")
    if least is not None and most is not None:
        return f", {least:g} to {most:g}"
    if least is not None:
        return f", from {least:g}"
    return "" if most is None else f", up to {most:g}"


class RunAlgorithm(Unchecked):
    """Runs any offered algorithm."""

    definition = ToolDefinition(
        "run_algorithm",
        "Run a processing algorithm by id with its parameters as an object; layers by name or "
        "result id, outputs are temporary.",
        argument.arguments(
            {"algorithm": {"type": "string"}, "parameters": {"type": "object"}},
            ["algorithm", "parameters"],
        ),
        label="Run an algorithm",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Fit the parameters, run, hand new layers over and summarise every output."""
        algorithm = context.call(lambda: offered(arguments["algorithm"]))
        parameters = fitted(algorithm, arguments["parameters"], context)
        outcome = execution.run(algorithm.id(), parameters, context)
        title = _title(algorithm, parameters, context)
        references = context.call(
            lambda: [
                (name, self._hand(layer, title, name, algorithm.id(), parameters, context))
                for name, layer in outcome.layers.items()
            ]
        )
        return _summary(algorithm, parameters, references, outcome, context)

    @staticmethod
    def _hand(
        layer: QgsMapLayer,
        title: str,
        output: str,
        algorithm: str,
        parameters: dict[str, Any],
        context: Context,
    ) -> LayerReference:
        name = title if output == "OUTPUT" else f"{title} {output.lower()}"
        return context.hand_over(layer, name, {"algorithm": algorithm, **parameters})


def _title(algorithm: QgsProcessingAlgorithm, parameters: dict[str, Any], context: Context) -> str:
    """Name a result for the algorithm and its first input layer."""
    kinds = ("source", "vector", "raster", "layer", "multilayer")
    keys = {source.id: source.key for source in context.sources()}
    for definition in algorithm.parameterDefinitions():
        value = parameters.get(definition.name())
        value = value[0] if isinstance(value, list) and value else value
        if definition.type() in kinds and isinstance(value, str) and value in keys:
            return titled(f"{algorithm.displayName()} of {keys[value]}")
    return algorithm.displayName()


def _summary(
    algorithm: QgsProcessingAlgorithm,
    parameters: dict[str, Any],
    references: list[tuple[str, LayerReference]],
    outcome: execution.Outcome,
    context: Context,
) -> ToolResult:
    numbers: dict[str, float] = {}
    texts: dict[str, str] = {}
    files = list(outcome.files)
    parts = [wording.layer(reference) for _, reference in references]
    for name, reference in references:
        if reference.features >= 0:
            numbers["count" if name == "OUTPUT" else f"{name}.count"] = reference.features
            if not reference.features:
                context.note(f"{reference.name} has no features. Check inputs and their CRS.")
    for name, value in outcome.values.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers[name] = float(value)
            parts.append(f"{name} = {wording.number(value)}")
        elif isinstance(value, str) and _is_file(algorithm, name):
            files += [value] if value not in files else []
        elif value not in (None, "", [], {}):
            texts[name] = str(value)
            parts.append(f"{name} = {wording.capped(wording.value(value), 200)}")
    return ToolResult(
        wording.capped("; ".join(parts) or f"{algorithm.displayName()} is done") + ".",
        numbers=numbers,
        texts=texts,
        layers=tuple(reference for _, reference in references),
        files=tuple(files),
        algorithm=algorithm.id(),
        parameters=parameters,
        outputs={name: reference.id for name, reference in references},
    )


def _is_file(algorithm: QgsProcessingAlgorithm, output: str) -> bool:
    definition = algorithm.outputDefinition(output)
    kinds = ("outputFile", "outputFolder", "outputHtml")
    return definition is not None and definition.type() in kinds
