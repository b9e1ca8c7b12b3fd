# SPDX-License-Identifier: GPL-2.0-or-later
"""The model servers that share the runs of an evaluation, each by its address."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..llm.address import shown
from ..settings import Settings
from .method import AnyMethod, methods_named


@dataclass(frozen=True)
class Endpoint:
    """A model server by its address, and the methods as they ask it."""

    address: str
    methods: tuple[AnyMethod, ...]


def endpoints(addresses: str, names: str, settings: Settings) -> tuple[Endpoint, ...]:
    """Return the servers of a list of addresses, separated by commas or blanks, each once.

    Raises ValueError for what is no address, MethodError for an unknown method.
    """
    found: dict[str, Endpoint] = {}
    for address in addresses.replace(",", " ").split():
        own = replace(settings, address=address)
        found.setdefault(shown(address), Endpoint(address, tuple(methods_named(names, own))))
    return tuple(found.values())
