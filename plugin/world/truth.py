# SPDX-License-Identifier: GPL-2.0-or-later
"""What is true in a world, by measure, day and zone, and other numbers by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .ground import Zone
from .tally import Summary, Tally


@dataclass
class Truth:
    """Grows as the products are made; `zones` by measure, day and zone, `numbers` by name."""

    zones: dict[str, dict[str, dict[str, Summary]]] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)

    def take(self, measure: str, day: str, zones: Sequence[Zone], tally: Tally) -> None:
        """Keep what a measure is on a day in every zone that has a value."""
        found = {one.name: tally.of(place) for place, one in enumerate(zones)}
        kept = {name: one for name, one in found.items() if one.count}
        self.zones.setdefault(measure, {})[day] = kept

    def of(self, measure: str, day: str, zone: str) -> Summary:
        """Return what a measure is on a day in a zone. Raises KeyError where there is none."""
        return self.zones[measure][day][zone]

    def means(self, measure: str, day: str) -> dict[str, float]:
        """Return the means of a day by zone."""
        return {name: one.mean for name, one in self.zones[measure][day].items()}

    def sums(self, measure: str, day: str) -> dict[str, float]:
        """Return the sums of a day by zone."""
        return {name: one.sum for name, one in self.zones[measure][day].items()}

    def form(self) -> dict[str, Any]:
        """Return it as JSON."""
        zones = {
            measure: {
                day: {
                    name: {"count": one.count, "mean": one.mean, "sum": one.sum,
                           "min": one.least, "max": one.most}
                    for name, one in by_zone.items()
                }
                for day, by_zone in days.items()
            }
            for measure, days in self.zones.items()
        }  # fmt: skip
        return {"zones": zones, "numbers": self.numbers}


def largest(values: dict[str, float]) -> str:
    """Return the name of the largest value."""
    return max(values, key=lambda name: values[name])


def smallest(values: dict[str, float]) -> str:
    """Return the name of the smallest value."""
    return min(values, key=lambda name: values[name])
