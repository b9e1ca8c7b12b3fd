# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schema of a planned graph, held to the agents, tools, layers and fields there are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...tools.base import BandProfile, Family, LayerProfile, ToolDefinition
from .role import Roles

Schema = dict[str, Any]
Ground = Callable[
    [Sequence[ToolDefinition], Sequence[LayerProfile], Mapping[str, Schema], Collection[str]],
    Schema,
]
"""Returns the schema of one call of some tools over some layers: extra properties, `tool`,
`arguments`; the fields of the layers called in the last are open. Raises ValueError where no tool
fits."""

_TEXT_LENGTH = 200
_UNMADE = (Family.VECTOR, Family.TABLE, Family.RASTER)


@dataclass(frozen=True)
class Offer:
    """What a plan may hold: tools over layers, up to `tasks` new steps beside those called in
    `steps`; `forms` names other kinds of tasks: abstract, ask, review. `all` are the tools that
    there are, `keys` the names of numbers that steps give."""

    tools: tuple[ToolDefinition, ...]
    layers: tuple[LayerProfile, ...]
    roles: Roles
    keys: tuple[str, ...] = ()
    tasks: int = 6
    steps: tuple[str, ...] = ()
    forms: frozenset[str] = frozenset()
    all: tuple[ToolDefinition, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that tasks may have, those of steps that are there first."""
        fresh = (f"v{number}" for number in range(1, len(self.steps) + self.tasks + 1))
        return tuple(dict.fromkeys((*self.steps, *fresh)))


def said(offer: Offer, ground: Ground) -> dict[str, Schema]:
    """Return the schemas of `tasks` and `answer` by name, in the order in which they are written.

    Raises ValueError where no tool fits the layers.
    """
    tasks = {
        "type": "array",
        "items": {
            "anyOf": [*calls(offer, ground, {"id": enumeration(offer.ids)}), *_others(offer)]
        },
        "minItems": 1,
        "maxItems": offer.tasks,
    }
    return {"tasks": tasks, "answer": enumeration(references(offer))}


def calls(offer: Offer, ground: Ground, before: dict[str, Schema]) -> list[Schema]:
    """Return the forms of one call, each with `before`, its agent, `tool` and `arguments`.

    Raises ValueError where no tool fits the layers.
    """
    before = {**before, "agent": enumeration(one.name for one in offer.roles.all())}
    unmade = [
        LayerProfile(key, "", family, family.value, bands=(BandProfile(1, ""),) * is_raster)
        for key in offer.ids
        for family in _UNMADE
        for is_raster in (int(family is Family.RASTER),)
    ]
    schema = ground(offer.tools, (*offer.layers, *unmade), before, offer.ids)
    branches: list[Schema] = schema.get("anyOf", [schema])
    for branch in branches:
        tool = branch["properties"]["tool"]["enum"][0]
        own = [one.name for one in offer.roles.all() if tool in one.tools]
        if own:
            branch["properties"]["agent"] = enumeration(own)
        else:
            branch["properties"].pop("agent")
            branch["required"] = [key for key in branch["required"] if key != "agent"]
    return branches


def _others(offer: Offer) -> list[Schema]:
    """Return the forms of tasks that call no tool."""
    identity = {"id": enumeration(offer.ids)}
    agent = enumeration(one.name for one in offer.roles.all())
    names = [*(one.name for one in offer.layers), *offer.ids]
    forms: dict[str, dict[str, Schema]] = {
        "abstract": {**identity, "agent": agent, "objective": text(_TEXT_LENGTH)},
        "ask": {**identity, "ask": text(_TEXT_LENGTH)},
        "review": {**identity, "review": enumeration(names)},
    }
    return [record(one) for name, one in forms.items() if name in offer.forms]


def references(offer: Offer) -> Iterable[str]:
    """Yield what an answer may be: nothing, or a number or text of a step."""
    yield ""
    for key in offer.ids:
        for name in offer.keys:
            yield f"{key}.{name}"


def record(properties: dict[str, Schema]) -> Schema:
    """Return the schema of an object that has all of these properties and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def enumeration(values: Iterable[str]) -> Schema:
    """Return the schema of one of some texts."""
    return {"type": "string", "enum": list(dict.fromkeys(values))}


def text(length: int) -> Schema:
    """Return the schema of a text of at most so many characters."""
    return {"type": "string", "maxLength": length}
