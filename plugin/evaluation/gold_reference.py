# SPDX-License-Identifier: GPL-2.0-or-later
"""What the steps of a gold chain refer to: results and layers by the names that steps gave them."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from qgis.core import QgsExpression, QgsMapLayer, QgsProject

from ...tools.base import ToolResult
from .gold_layer import PROPERTIES, GoldError, Rows
from .task_fault import is_number

_INLINE = re.compile(r"\$([A-Za-z_]\w*)(?:\.(\w+))?")
_OF: dict[str, Callable[..., Any]] = {
    "max": max,
    "min": min,
    "sum": sum,
    "mean": statistics.fmean,
    "median": statistics.median,
}
_LABEL = "label_of_"


@dataclass(frozen=True)
class Bound:
    """What a name stands for: the result of a step, and its main layer ("" for none)."""

    result: ToolResult
    layer_id: str = ""


class Book:
    """The names of one chain. Any one thread; layers are read through `call`, on the main one."""

    def __init__(self, project: QgsProject, call: Callable[[Callable[[], Any]], Any]) -> None:
        self._project = project
        self._call = call
        self._bound: dict[str, Bound] = {}

    def bind(self, name: str, result: ToolResult, layer_id: str = "") -> None:
        """Give a result a name; a later one of the same name takes its place."""
        self._bound[name] = Bound(result, layer_id)

    def knows(self, name: str) -> bool:
        """Tell whether a step or a layer goes by a name, or a value of one of them."""
        first = name.lstrip("$").partition(".")[0]
        return name in self._bound or first in self._bound or bool(self.layer_id(name))

    def layer_id(self, name: str) -> str:
        """Return the id of the layer that a name means, a step's first, "" for none.

        "name.OUTPUT" means one output of an algorithm that made several.
        """
        bound = self._bound.get(name) or self._bound.get(name.lstrip("$"))
        if bound is not None and bound.layer_id:
            return bound.layer_id
        first, _, output = name.lstrip("$").partition(".")
        if first in self._bound and output in self._bound[first].result.outputs:
            return self._bound[first].result.outputs[output]
        return str(self._call(lambda: self._in_project(name)))

    def value(self, reference: Any) -> Any:
        """Return the number or text that a reference means. Raises GoldError."""
        if isinstance(reference, Mapping):
            return self._described(reference)
        if isinstance(reference, str):
            name, _, key = reference.lstrip("$").partition(".")
            return self._of_result(*((reference, "") if reference in self._bound else (name, key)))
        if is_number(reference):
            return reference
        raise GoldError(f"{reference!r} refers to nothing.")

    def filled(self, content: Any) -> Any:
        """Return a content with the value of every "$name.KEY" in it. Raises GoldError."""
        if isinstance(content, Mapping):
            if set(content) == {"step", "key"}:
                return self._described(content)
            return {key: self.filled(item) for key, item in content.items()}
        if isinstance(content, list):
            return [self.filled(item) for item in content]
        if not isinstance(content, str) or "$" not in content:
            return content
        whole = _INLINE.fullmatch(content)
        if whole and self.knows(whole.group(1)):
            found = self._of_result(whole.group(1), whole.group(2) or "")
            return int(found) if isinstance(found, float) and found.is_integer() else found
        return _INLINE.sub(self._inline, content)

    def _inline(self, found: re.Match[str]) -> str:
        if found.group(1) not in self._bound:
            return found.group(0)
        return str(self._of_result(found.group(1), found.group(2) or ""))

    def _described(self, reference: Mapping[str, Any]) -> Any:
        """Return the value of a reference in the form of an object."""
        if "step" in reference:
            return self._of_result(str(reference["step"]), str(reference.get("key", "")))
        for key in reference:
            if key.startswith(_LABEL):
                return self._label(reference, key)
            if key.endswith("_of") and key[:-3] in _OF:
                found = self._candidates(reference, reference[key])
                return _OF[key[:-3]]([value for value, _ in found])
        if "count_of" in reference:
            return self._of_result(str(reference["count_of"]), "count")
        if "layer" in reference:
            return self._of_layer(reference)
        raise _unknown(reference)

    def _of_layer(self, reference: Mapping[str, Any]) -> Any:
        name = str(reference["layer"])
        if "aggregate" in reference:
            text = str(reference["aggregate"])
            return self._call(lambda: Rows(self._layer(name), text).whole())
        if "field" in reference or "expression" in reference:
            text, row = _text(reference), int(reference.get("row", 0))
            return self._call(lambda: Rows(self._layer(name), text).at(row))
        for key in ("property", "key"):
            if key in reference:
                return self._of_result(name, str(reference[key]))
        raise _unknown(reference)

    def _of_result(self, name: str, key: str) -> Any:
        """Return a result's value by key, its first number without one, or a layer's property."""
        bound = self._bound.get(name)
        result = bound.result if bound is not None else ToolResult("")
        known: dict[str, Any] = {**result.numbers, **result.texts}
        if not key and known:
            return next(iter(known.values()))
        if key in known:
            return known[key]
        if key in PROPERTIES and self.layer_id(name):
            return self._call(lambda: PROPERTIES[key](self._layer(name)))
        equal = [one for one in known if one.lower() == key.lower()]
        if len(equal) == 1:
            return known[equal[0]]
        if bound is None and not self.layer_id(name):
            raise _nobody(name)
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise GoldError(f'"{name}" has no value "{key}"; {has}.')

    # -- layers, on the main thread

    def _in_project(self, name: str) -> str:
        if self._project.mapLayer(name) is not None:
            return name
        found = self._project.mapLayersByName(name)
        return str(found[-1].id()) if found else ""

    def _layer(self, name: str) -> QgsMapLayer:
        layer = self._project.mapLayer(self.layer_id(name))
        if layer is None:
            raise _nobody(name)
        return layer

    # -- the largest, the smallest, and their labels

    def _candidates(self, reference: Mapping[str, Any], of: Any) -> list[tuple[Any, Any]]:
        """Return the values to compare, each with its label or its row.

        They are several references in a list or by label, or one field of a layer.
        """
        if isinstance(of, list):
            return [(self.value(one), _label_of(one)) for one in of]
        if isinstance(of, Mapping) and "layer" not in of:
            return [(self.value(one), label) for label, one in of.items()]
        layer, text = _layer_and_text(reference, of)
        return list(self._call(lambda: Rows(self._layer(layer), text).all()))

    def _label(self, reference: Mapping[str, Any], key: str) -> Any:
        """Return what stands in the label's field where another field is largest or smallest."""
        what, of = key[len(_LABEL) :], reference[key]
        if what not in ("max", "min"):
            raise _unknown(reference)
        if isinstance(of, list) or (isinstance(of, Mapping) and "layer" not in of):
            return _OF[what](self._candidates(reference, of), key=lambda pair: pair[0])[1]
        whole = {**reference, **(of if isinstance(of, Mapping) else {})}
        label = whole.get("label", of if isinstance(of, str) else whole.get("field"))
        by = next((whole[one] for one in ("by", f"{what}_of", "value") if one in whole), None)
        if by is None and label != whole.get("field"):
            by = whole.get("field")
        if "layer" not in whole or not isinstance(label, str) or not isinstance(by, str):
            raise _unknown(reference)
        layer = str(whole["layer"])
        pairs = self._call(lambda: Rows(self._layer(layer), _column(by)).all())
        row = _OF[what](pairs, key=lambda pair: pair[0])[1]
        return self._call(lambda: Rows(self._layer(layer), _column(label)).at(row))


def _unknown(reference: Mapping[str, Any]) -> GoldError:
    return GoldError(f"The reference {dict(reference)} is of no known form.")


def _nobody(name: str) -> GoldError:
    return GoldError(f'No step and no layer is called "{name}".')


def _text(reference: Mapping[str, Any]) -> str:
    """Return the expression of a reference: its own, or the column of its field."""
    if "expression" in reference:
        return str(reference["expression"])
    return _column(str(reference["field"]))


def _column(field: str) -> str:
    return str(QgsExpression.quotedColumnRef(field))


def _label_of(reference: Any) -> Any:
    if isinstance(reference, Mapping):
        names = ("label", "count_of", "step", "layer")
        return next((reference[one] for one in names if one in reference), "")
    return str(reference).lstrip("$").partition(".")[0]


def _layer_and_text(reference: Mapping[str, Any], of: Any) -> tuple[str, str]:
    if isinstance(of, Mapping):
        return str(of["layer"]), _text(of)
    if "layer" in reference:
        return str(reference["layer"]), _column(str(of))
    if "field" in reference or "expression" in reference:
        return str(of), _text(reference)
    layer, _, field = str(of).lstrip("$").partition(".")
    return layer, _column(field)
