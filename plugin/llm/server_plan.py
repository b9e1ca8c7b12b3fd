# SPDX-License-Identifier: GPL-2.0-or-later
"""What a llama.cpp server is started with: its command line and its environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
MAX_THREADS = 8
BATCH = 256
"""Tokens read at a time: a stop takes effect between two batches."""

ENVIRONMENT = {
    "LLAMA_ARG_OFFLINE": "1",
    "LLAMA_ARG_CACHE_RAM": "512",
    "LLAMA_ARG_UI": "0",
    "LLAMA_ARG_LOG_VERBOSITY": "4",
}
"""Options that older servers do not know are given as variables, which they leave alone. The
log's level is the least at which the layers on a graphics card are told."""

ON_PROCESSOR = ("--device", "none")


@dataclass(frozen=True)
class ServerPlan:
    """What a server is started with; two equal plans share one server.

    `threads` 0 takes as many as the machine has, eight at most. `graphics` lets it use graphics
    cards.
    """

    program: Path
    model: Path
    name: str
    context: int
    threads: int = 0
    graphics: bool = True


def arguments(plan: ServerPlan, port: int, offload: Sequence[str] = ()) -> list[str]:
    """Return the server's command line after the program: one slot, the chat template of the
    model, loopback only, and what says how much goes to a graphics card."""
    threads = plan.threads or max(1, min(MAX_THREADS, os.cpu_count() or 1))
    options: dict[str, Any] = {
        "--model": plan.model,
        "--alias": plan.name,
        "--host": HOST,
        "--port": port,
        "--ctx-size": plan.context,
        "--parallel": 1,
        "--batch-size": BATCH,
        "--threads": threads,
    }
    return ["--jinja", *(str(word) for pair in options.items() for word in pair), *offload]
