# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs an evaluation: TASKS, DATA, METHODS, MODEL, REPEATS, OUT, and ENDPOINTS, the addresses of
model servers that share the tasks, come from the environment."""

import json
import os
import sys
from pathlib import Path

from algorithm import run_algorithm
from failure import OK, WRONG_USE, FailureError, run
from model import ROOT, ensure


def main() -> int:
    """Run geo_olm:evaluate and print its summary and where the results are."""
    here = Path.cwd()
    for name in ("TASKS", "METHODS", "OUT"):
        if not os.environ.get(name, "").strip():
            raise FailureError(
                f"{name} is missing: make evaluate TASKS=file METHODS=a,b OUT=folder", WRONG_USE
            )
    tasks = (here / os.environ["TASKS"]).resolve()
    if not tasks.is_file():
        raise FailureError(f"There is no task file {tasks}; look at TASKS.", WRONG_USE)
    repeats = os.environ.get("REPEATS") or "1"
    if not repeats.isdecimal() or int(repeats) < 1:
        raise FailureError("REPEATS is a whole number above 0.", WRONG_USE)
    model = os.environ.get("MODEL", "")
    if model.endswith(".gguf"):
        model = str(here / model)
    out = (here / os.environ["OUT"]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    endpoints = os.environ.get("ENDPOINTS", "")
    asks_no_server = os.environ["METHODS"].strip() == "gold" or model.partition(":")[0] == "faults"
    if not endpoints and not asks_no_server:
        ensure(model, if_needed=True)
    run_algorithm(
        "geo_olm:evaluate",
        {
            "TASKS": str(tasks),
            "DATA": str(data_folder(tasks, here)),
            "METHODS": os.environ["METHODS"],
            "MODEL": model,
            "SERVER": os.environ.get("SERVER", ""),
            "REPEATS": int(repeats),
            "ENDPOINTS": endpoints,
            "OUT": str(out),
        },
    )
    results = out / "results.json"
    summary = json.loads(results.read_text(encoding="utf-8"))["summary"]
    print(json.dumps(summary, ensure_ascii=False, indent=1))
    print(results)
    print(out / "report.html")
    return OK


def data_folder(tasks: Path, here: Path) -> Path:
    """Return DATA, else ../data from the task file's folder, else ../shared/data."""
    if os.environ.get("DATA"):
        folder = (here / os.environ["DATA"]).resolve()
        if not folder.is_dir():
            raise FailureError(f"There is no folder {folder}; look at DATA.", WRONG_USE)
        return folder
    beside = tasks.parent.parent / "data"
    return beside if beside.is_dir() else ROOT.parent / "shared" / "data"


if __name__ == "__main__":
    sys.exit(run(main))
