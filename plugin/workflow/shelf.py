# SPDX-License-Identifier: GPL-2.0-or-later
"""The algorithms of the registry as the editor sees them: what there is, and what each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

RUN_ALGORITHM, ALGORITHM, PARAMETERS = "run_algorithm", "algorithm", "parameters"
"""The tool that runs any algorithm, and its arguments: the id, and the algorithm's parameters."""


@dataclass(frozen=True)
class Offered:
    """An algorithm; `refused` says why it is never run here, "" for one that may be added."""

    id: str
    label: str
    group: str
    provider: str
    about: str = ""
    refused: str = ""


class Shelf(Protocol):
    """What the editor asks of the registry. Main thread only."""

    def algorithms(self) -> Sequence[Offered]:
        """Return all algorithms, by provider, group and name."""

    def schema(self, algorithm: str) -> Mapping[str, Any] | None:
        """Return what an algorithm takes, as an object of JSON schema; None for an unknown one."""

    def found(self, phrase: str) -> Sequence[str]:
        """Return the tools and the ids of algorithms that fit a phrase, best first."""

    def recent(self) -> Sequence[str]:
        """Return the tools and algorithms that were added last, the latest first."""

    def used(self, key: str) -> None:
        """Note that a tool or an algorithm was added."""


class NoShelf:
    """Knows no algorithms."""

    def algorithms(self) -> Sequence[Offered]:
        """Return none."""
        return ()

    def schema(self, algorithm: str) -> Mapping[str, Any] | None:
        """Return None."""
        return None

    def found(self, phrase: str) -> Sequence[str]:
        """Return none."""
        return ()

    def recent(self) -> Sequence[str]:
        """Return none."""
        return ()

    def used(self, key: str) -> None:
        """Note nothing."""
