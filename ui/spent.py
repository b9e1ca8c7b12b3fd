# SPDX-License-Identifier: GPL-2.0-or-later
"""The tokens and the cost of a turn or a chat, summed up for a tooltip."""

from __future__ import annotations

from dataclasses import dataclass

from qgis.PyQt.QtCore import QLocale

from ..plugin.agent.event import TokensUsed
from .number import number, tr


@dataclass(frozen=True)
class Spent:
    """Tokens read, of these from the cache, and written; dollars where they are known.

    `unpriced` tells that a call had no price, so that the sum would be too small.
    """

    read: int = 0
    cached: int = 0
    written: int = 0
    estimated: bool = False
    dollars: float = 0.0
    basis: str = ""
    unpriced: bool = False

    def plus(self, event: TokensUsed) -> Spent:
        """Return the sums with one more call."""
        usage = event.usage
        return Spent(
            self.read + usage.prompt,
            self.cached + usage.cached,
            self.written + usage.generated,
            self.estimated or usage.estimated,
            self.dollars + (event.cost or 0.0),
            event.basis or self.basis,
            self.unpriced or event.cost is None,
        )

    def lines(self, title: str) -> tuple[str, ...]:
        """Return a line of tokens, and one of the cost where all of it is known."""
        about = tr("est. ") if self.estimated else ""
        tokens = tr("{0}: {1}{2} read, {3} of them from the cache, {4} written").format(
            title, about, number(self.read), number(self.cached), number(self.written)
        )
        if self.unpriced or not self.basis:
            return (tokens,)
        cost = tr("{0}: {1} ({2})").format(title, money(self.dollars), self.basis)
        return (tokens, cost)


def money(dollars: float) -> str:
    """Return dollars with two figures that say something: "$0.0021", "$1.24"."""
    if dollars >= 1 or dollars == 0:
        return f"${QLocale().toString(dollars, 'f', 2)}"
    digits = 2
    while digits < 8 and dollars * 10**digits < 10:
        digits += 1
    return f"${QLocale().toString(dollars, 'f', digits)}"
