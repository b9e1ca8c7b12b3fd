# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks one question headless: Q, LAYERS, MODEL, SERVER, SEED and JSON come from the environment.

The last line on standard output is the answer, or the reason; the rest goes to standard error.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from algorithm import run_algorithm
from failure import CANCELLED, FAILED, OK, WRONG_USE, FailureError, run
from layer_source import layer_sources
from model import ensure

CODES = {"ok": OK, "rejected": OK, "cancelled": CANCELLED}


def main() -> int:
    """Ask, print one line, and return the exit code that the status stands for."""
    question = os.environ.get("Q", "")
    if not question.strip():
        raise FailureError('There is no question; say Q="…".', WRONG_USE)
    here = Path.cwd()
    layers = layer_sources(os.environ.get("LAYERS", ""), here)
    model = os.environ.get("MODEL", "")
    if model.endswith(".gguf"):
        model = str(here / model)
    seed = os.environ.get("SEED", "")
    if seed and not seed.isdecimal():
        raise FailureError("SEED is a whole number.", WRONG_USE)
    ensure(model, if_needed=True)
    with tempfile.TemporaryDirectory(prefix="geo-olm-") as scratch:
        kept = os.environ.get("JSON")
        path = here / kept if kept else Path(scratch, "record.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        results = run_algorithm(
            "geo_olm:ask",
            {
                "QUESTION": question,
                "LAYERS": layers or None,
                "MODEL": model,
                "SERVER": os.environ.get("SERVER"),
                "SEED": int(seed) if seed else None,
                "JSON": str(path),
            },
        )
        record = json.loads(path.read_text(encoding="utf-8"))
    status = str(results.get("STATUS", record["status"]))
    text = record["answer"] if status == "ok" else record["reason"] or record["answer"]
    print(" ".join(str(text).split()))
    return CODES.get(status, FAILED)


if __name__ == "__main__":
    sys.exit(run(main, answers=True))
