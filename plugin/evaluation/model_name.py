# SPDX-License-Identifier: GPL-2.0-or-later
"""What a model's name tells: its size and its quantisation."""

from __future__ import annotations

import re

from .fault_rate import PREFIX

_SIZE = re.compile(r"(?<![\w.])(?:\d+x)?\d+(?:\.\d+)?[bBmM](?![A-Za-z0-9])")
_QUANTISATION = re.compile(
    r"(?<![A-Za-z0-9])(I?Q\d(?:_[A-Z0-9]+)*|(?:BF|F|FP)(?:16|32)|INT[48]|AWQ|GPTQ)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def size(name: str) -> str:
    """Return the number of parameters as the name says it ("1.5B"), or ""."""
    found = _SIZE.search(name.replace(":", " ").replace("-", " ").replace("_", " "))
    return found.group(0).upper() if found else ""


def quantisation(name: str) -> str:
    """Return the quantisation as the name says it ("Q4_K_M"), or ""."""
    found = _QUANTISATION.search(name)
    return found.group(1).upper() if found else ""


def is_scripted(name: str) -> bool:
    """Tell whether a run was made with the model of faults, which is no model."""
    return name.partition(" ")[0].partition(":")[0] == PREFIX
