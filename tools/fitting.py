# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters on their way into an algorithm: what the ways of all parameter types share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qgis.core import QgsMapLayer, QgsProcessingAlgorithm

from .base import MendableError
from .context import Context
from .expression import refuse_outside
from .source import LayerSource
from .spelling import bare, closest, listed

_LONGEST_PATH = 1_000


class Fitting:
    """The parameters of one call: those found so far, and the layers among them by parameter."""

    def __init__(self, algorithm: QgsProcessingAlgorithm, context: Context) -> None:
        self.algorithm = algorithm
        self.context = context
        self.definitions = {item.name(): item for item in algorithm.parameterDefinitions()}
        self.found: dict[str, Any] = {}
        self.sources: dict[str, LayerSource] = {}

    def parent(self, name: str) -> LayerSource | None:
        """Return the layer that another parameter was given."""
        return self.sources.get(name)

    def live(self, name: str) -> QgsMapLayer | None:
        """Return the project's layer of another parameter, whatever its kind. Main thread only."""
        return self.context.project.mapLayer(str(self.found.get(name, "")))


Way = Callable[[Fitting, Any, Any], Any]
"""Takes the fitting, a definition and what was given; returns what Processing takes. Raises
MendableError."""


def shown(value: Any) -> str:
    """Return a given value as a message shows it, not too long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def wrong(definition: Any, wanted: str, value: Any) -> MendableError:
    """Return the error of a value of the wrong type."""
    return MendableError(f"{definition.name()} must be {wanted}, not {shown(value)}.")


def decoded(value: Any) -> Any:
    """Return lists and objects that came as JSON in a text."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def many(value: Any) -> list[Any]:
    """Return a value as a list; a text may hold one as JSON."""
    found = decoded(value)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def one(definition: Any, value: Any) -> Any:
    """Return the only value that was given. Raises MendableError for several or none."""
    found = many(value)
    if len(found) != 1:
        raise MendableError(f"{definition.name()} takes one value, not {shown(value)}.")
    return found[0]


def is_number(value: Any) -> bool:
    """Tell whether a value is a number and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_number(definition: Any, value: Any) -> float:
    """Return a finite number, also from a text. Raises MendableError."""
    if is_number(value) or isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            raise wrong(definition, "a number", value) from None
        if math.isfinite(number):
            return number
    raise wrong(definition, "a number", value)


def as_text(definition: Any, value: Any) -> str:
    """Return a text; a number is one too. Raises MendableError."""
    if isinstance(value, str):
        return value
    if is_number(value) and math.isfinite(value):
        return str(value)
    if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    raise wrong(definition, "a text", value)


def as_objects(definition: Any, value: Any, key: str) -> list[dict[str, Any]]:
    """Return a list of objects; a text in it stands for an object with `key` alone.

    Raises MendableError.
    """
    found = []
    for item in many(value):
        if isinstance(item, str):
            item = {key: item}
        if not isinstance(item, dict):
            raise wrong(definition, f'a list of objects with "{key}"', value)
        found.append({str(name): inside for name, inside in item.items()})
    if not found:
        raise MendableError(f"{definition.name()} needs at least one object.")
    return found


def chosen(definition: Any, value: Any, names: list[str], what: str) -> str:
    """Return the name that is meant. Raises MendableError with the names there are."""
    text = as_text(definition, value)
    equal = [name for name in names if name == text] or [
        name for name in names if bare(name) == bare(text)
    ]
    if len(equal) == 1:
        return equal[0]
    near = closest(text, names) or names
    there = f"There are: {listed(near)}." if near else "This project has none."
    raise MendableError(f'{definition.name()} names no {what}: "{text}". {there}')


def inside_project(definition: Any, value: Any) -> Any:
    """Return a value of a free form that names no file, address or function that reaches out.

    Raises MendableError.
    """
    found = decoded(value)
    refuse_outside(found)
    for text in texts(found):
        if _is_elsewhere(text):
            raise MendableError(
                f"{definition.name()} takes only layers of the project, not files or addresses."
            )
    return found


def texts(value: Any) -> list[str]:
    """Return every text within a value."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, (dict, list, tuple)):
        return []
    inside = value.values() if isinstance(value, dict) else value
    return [text for item in inside for text in texts(item)]


def _is_elsewhere(text: str) -> bool:
    """Tell whether a part of a text is an address or a file, which Processing would open."""
    for part in text.replace("::~::", "|").split("|"):
        if "://" in part or "/vsi" in part.lower():
            return True
        if part.strip() and len(part) < _LONGEST_PATH and Path(part.strip()).is_file():
            return True
    return False
