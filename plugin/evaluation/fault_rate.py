# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a scripted model errs, by kind, and the draws that decide it: the same for a seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

PREFIX = "faults"


class Fault(str, Enum):
    """What a small model does wrong."""

    WRONG_ARGUMENT = "wrong_argument"
    UNKNOWN_TOOL = "unknown_tool"
    WRONG_ORDER = "wrong_order"
    EARLY_END = "early_end"
    MALFORMED = "malformed"
    LOOP = "loop"


@dataclass(frozen=True)
class Rates:
    """The probability of each kind of fault at one reply; the rest are right."""

    by_kind: tuple[tuple[Fault, float], ...] = ()

    def __str__(self) -> str:
        shares = {share for _, share in self.by_kind}
        if not self.by_kind:
            return "0"
        if len(self.by_kind) == len(Fault) and len(shares) == 1:
            return f"{sum(share for _, share in self.by_kind):g}"
        return " ".join(f"{kind.value}={share:g}" for kind, share in self.by_kind)

    def at(self, draw: float) -> Fault | None:
        """Return the fault that a draw from 0 to 1 means, None for a right reply."""
        for kind, share in self.by_kind:
            if draw < share:
                return kind
            draw -= share
        return None


def rates(text: str) -> Rates:
    """Read "0.2", a rate for all kinds together, or "loop=0.1 malformed=0.3". Raises ValueError."""
    parts = text.replace(",", " ").split()
    if not parts:
        return Rates()
    if len(parts) == 1 and "=" not in parts[0]:
        whole = _share(parts[0])
        found = [(kind, whole / len(Fault)) for kind in Fault] if whole else []
    else:
        pairs = [part.partition("=") for part in parts]
        unknown = sorted({name for name, _, _ in pairs} - {kind.value for kind in Fault})
        if unknown:
            known = ", ".join(kind.value for kind in Fault)
            raise ValueError(f"Unknown fault: {', '.join(unknown)}. Known are {known}.")
        found = [(Fault(name), _share(share)) for name, _, share in pairs]
    if sum(share for _, share in found) > 1:
        raise ValueError(f"The rates of faults add up to more than 1: {text}.")
    return Rates(tuple(found))


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f'A rate of faults is a number from 0 to 1, not "{text}".')
    return share


def draw(seed: int, key: str, number: int) -> float:
    """Return a number from 0 to 1 that depends on nothing but these three."""
    digest = hashlib.sha256(f"{seed}:{key}:{number}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / float(1 << 48)


def asked_for(model: str) -> Rates | None:
    """Return the rates of a model's name such as "faults:0.2", None for any other model.

    Raises ValueError for rates that cannot be read.
    """
    name, _, text = model.partition(":")
    return rates(text) if name.strip() == PREFIX else None
