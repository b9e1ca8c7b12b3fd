# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the cost of each model call into the events of a run."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from .agent.event import Event, TokensUsed
from .llm.base import ModelCard, ModelError
from .llm.cost import Costing, PriceTable, load
from .place import RESOURCES
from .settings import Settings

OWN = RESOURCES / "prices.json"
_LOG = logging.getLogger(__name__)


class Pricer:
    """Counts by the settings; a price table that cannot be read counts nothing."""

    def __init__(self, settings: Settings) -> None:
        path = Path(settings.price_file) if settings.price_file else OWN
        try:
            table = load(path)
        except ModelError as error:
            _LOG.warning("%s %s", error.message, error.detail)
            table = PriceTable()
        self._costing = Costing(table, settings.hourly_rate, settings.copies_memory_gb)

    def priced(self, event: Event, card: ModelCard) -> Event:
        """Return an event, with its cost where it is one of tokens and that is known."""
        if not isinstance(event, TokensUsed):
            return event
        cost = self._costing.of(card, event.usage, event.seconds)
        return replace(event, cost=cost.dollars, basis=cost.basis) if cost else event
