# SPDX-License-Identifier: GPL-2.0-or-later
"""What a form of a workflow other than our own cannot hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lost:
    """What cannot be held: the step ("" for the graph) and a sentence."""

    vertex: str
    text: str
