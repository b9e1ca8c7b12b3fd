# SPDX-License-Identifier: GPL-2.0-or-later
"""The places in a step's parameters at which links end: a name, or a name in an object
("parameters.INPUT", as steps have that run an algorithm of QGIS)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .value import Layer, Output, Value

Source = Any
"""A Layer or an Output."""


def name_of(port: str) -> str:
    """Return what a port is called in its tool or algorithm."""
    return port.rpartition(".")[2]


def value_at(parameters: Mapping[str, Value] | None, port: str) -> Value:
    """Return what a port holds, None for nothing."""
    here: Any = parameters
    for part in port.split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return here


def with_value(parameters: Mapping[str, Value] | None, port: str, value: Value) -> dict[str, Value]:
    """Return parameters in which a port holds a value; None takes it away."""
    found = dict(parameters or {})
    first, _, rest = port.partition(".")
    if rest:
        inner = found.get(first)
        found[first] = with_value(inner if isinstance(inner, Mapping) else {}, rest, value)
    elif value is None:
        found.pop(first, None)
    else:
        found[first] = value
    return found


def is_bound(parameters: Mapping[str, Value] | None, port: str) -> bool:
    """Tell whether a port takes a layer or what another step gives."""
    return isinstance(value_at(parameters, port), (Layer, Output))


def sources(parameters: Mapping[str, Value] | None) -> Iterator[tuple[Source, str]]:
    """Yield the layers and outputs that end at ports, each with its port."""
    for name, value in (parameters or {}).items():
        if isinstance(value, Mapping):
            yield from ((one, f"{name}.{port}") for one, port in sources(value))
        else:
            listed = value if isinstance(value, (list, tuple)) else (value,)
            yield from ((one, name) for one in listed if isinstance(one, (Layer, Output)))


def without(
    parameters: Mapping[str, Value] | None, gone: Callable[[Value], bool]
) -> dict[str, Value] | None:
    """Return parameters without some values, at any depth of objects and lists."""
    if parameters is None:
        return None
    found: dict[str, Value] = {}
    for name, value in parameters.items():
        if gone(value):
            continue
        if isinstance(value, Mapping):
            found[name] = without(value, gone)
        elif isinstance(value, (list, tuple)):
            found[name] = [one for one in value if not gone(one)]
        else:
            found[name] = value
    return found
