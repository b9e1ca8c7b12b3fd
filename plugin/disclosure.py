# SPDX-License-Identifier: GPL-2.0-or-later
"""Gathers what the requests of one chat may hold of the project: names of layers and fields,
values of the data and of results. The ledger looks for them in each request."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..tools.base import LayerProfile
from .agent.event import CallFinished, Event
from .llm.holding import Known

_LOG = logging.getLogger(__name__)


class Disclosure:
    """What one chat knows; `layers` gives the profiles of the moment, on the asking thread."""

    def __init__(self, layers: Callable[[], tuple[LayerProfile, ...]]) -> None:
        self._layers = layers
        self._profiles: tuple[LayerProfile, ...] = ()
        self._values: dict[str, None] = {}

    def note(self, event: Event) -> None:
        """Take the values that a result told."""
        if isinstance(event, CallFinished) and event.result is not None:
            told = [*event.result.texts.values(), *map(_plain, event.result.numbers.values())]
            self._values.update(dict.fromkeys(told))

    def known(self) -> Known:
        """Return the names and values to look for, without repetitions.

        Where the layers cannot be read at this moment, those of the last request count: a name
        that is not found must not keep a request from being noted.
        """
        try:
            self._profiles = self._layers()
        except Exception as error:
            _LOG.warning("the layers were not read for the ledger: %s", error)
        profiles = self._profiles
        fields = [field for profile in profiles for field in profile.fields]
        values = [
            value
            for field in fields
            for value in (*field.samples, field.minimum, field.maximum)
            if value
        ]
        return Known(
            tuple(dict.fromkeys(profile.key for profile in profiles)),
            tuple(dict.fromkeys(field.name for field in fields)),
            tuple(dict.fromkeys([*values, *tuple(self._values)])),
        )


def _plain(number: float) -> str:
    """Return a number as a result writes it: whole ones without a point."""
    return f"{number:.0f}" if float(number).is_integer() else repr(number)
