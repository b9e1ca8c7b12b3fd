# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan's arguments as values of a graph: what names a layer, a step's output or a number of it.

A model writes v1 and v1.count where a graph holds references; what is safe is mended here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .value import Asked, Layer, Output, Template, Value

_REFERENCE = re.compile(r"\$?([A-Za-z_]\w*)(?:\.(\w+))?")
_BRACED = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_RESULT = re.compile(r"r(\d+)")
_MEASURED = re.compile(r"\s*(-?\d[\d,]*(?:\.\d+)?)\s*[^\W\d_]*[²³%°]?\s*")
_NUMBERS = ("integer", "number")

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Names:
    """What a plan may name: steps and variables by their ids, layers by any name that they go by.

    `layers` maps a name to the key under which tools take the layer.
    """

    steps: Collection[str]
    layers: Mapping[str, str]
    variables: Collection[str] = ()

    def step(self, name: str) -> str:
        """Return the id of the step that a name means, r1 for v1 too where no layer is called so;
        "" for none."""
        if name in self.steps:
            return name
        if name in self.layers:
            return ""
        found = _RESULT.fullmatch(name)
        other = f"v{found.group(1)}" if found else ""
        return other if other in self.steps else ""

    def layer(self, name: str) -> str:
        """Return the key of the layer that a name means, whatever its case; "" for none."""
        if name in self.layers:
            return self.layers[name]
        bare = name.strip().strip("\"'").casefold()
        found = {key for text, key in self.layers.items() if text.casefold() == bare}
        return found.pop() if len(found) == 1 else ""

    def output(self, text: str) -> Output | None:
        """Return the output that a whole text names, None where it names none."""
        found = _REFERENCE.fullmatch(text.strip().strip("{}"))
        step = self.step(found.group(1)) if found else ""
        return Output(step, found.group(2) or "") if found and step else None

    def template(self, text: str) -> Template | None:
        """Return a text with references within it as a template, None where there are none."""

        def braced(found: re.Match[str]) -> str:
            step = self.step(found.group(1))
            if step:
                return f"{{{Output(step, found.group(2) or '').text}}}"
            return found.group(0)

        told = _BRACED.sub(braced, text)
        others = {f"r{one[1:]}" for one in self.steps if one[:1] == "v"} - set(self.layers)
        ids = sorted({*self.steps, *others})
        if ids:
            within = rf"(?<![\w{{.\"'])({'|'.join(map(re.escape, ids))})\.([A-Za-z_]\w*)(?!\w)"
            told = re.sub(within, braced, told)
        known = [one for one, _ in Template(told).references() if self._is_known(one)]
        return Template(told) if known else None

    def _is_known(self, name: str) -> bool:
        return name in self.steps or name in self.variables


def value(raw: Any, schema: Schema, names: Names) -> Value:
    """Return one argument as a graph holds it; `schema` is its tool's for it."""
    if isinstance(raw, Mapping):
        within = schema.get("properties", {})
        return {str(key): value(one, within.get(key, {}), names) for key, one in raw.items()}
    if isinstance(raw, list):
        return [value(one, schema.get("items", {}), names) for one in raw]
    return _text(raw, schema, names) if isinstance(raw, str) else raw


def _text(text: str, schema: Schema, names: Names) -> Value:
    asked = _BRACED.fullmatch(text)
    if asked and asked.group(1) in names.variables:
        return Asked(asked.group(1))
    output = names.output(text)
    if "x-layer" in schema:
        key = names.layer(text)
        return output if output is not None and not key else Layer(key or text)
    if "x-field" in schema or "enum" in schema:
        return text
    if schema.get("type") in _NUMBERS and output is None:
        return _number(text, schema)
    if output is not None and (output.key or "type" not in schema):
        return output
    if not schema and names.layer(text):
        return Layer(names.layer(text))
    return names.template(text) or text


def _number(text: str, schema: Schema) -> Any:
    """Return the number of a text such as "5 classes", the text itself where it holds none."""
    found = _MEASURED.fullmatch(text)
    if not found:
        return text
    number = float(found.group(1).replace(",", ""))
    return int(number) if schema["type"] == "integer" and number.is_integer() else number


def told(one: Value, is_step: Callable[[str], bool]) -> Any:
    """Return a value as a model reads and writes it: v1, v1.count, {variable}, a layer's name."""
    if isinstance(one, Mapping):
        return {key: told(held, is_step) for key, held in one.items()}
    if isinstance(one, (list, tuple)):
        return [told(held, is_step) for held in one]
    if isinstance(one, Layer):
        return one.name
    if isinstance(one, Output):
        return one.text
    if isinstance(one, Asked):
        return f"{{{one.variable}}}"
    if isinstance(one, Template):
        return one.filled(
            lambda name, key: Output(name, key).text if is_step(name) and key else f"{{{name}}}"
        )
    return one
