# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells how the plans of an evaluation came to be: plan_table.py OUT [KEPT].

OUT is the folder of `make evaluate METHODS=geo-olm`; KEPT is a JSON file for the table.
"""

import json
import sys
from pathlib import Path

from failure import OK, WRONG_USE, FailureError, run

METHOD = "geo-olm"
SUMS = (
    "valid_at_once",
    "valid_after_checks",
    "ran_at_once",
    "mended_in_run",
    "ran",
    "right",
)


def main() -> int:
    """Print one line for each question and the sums; write them too where KEPT is named."""
    if len(sys.argv) not in (2, 3):
        raise FailureError(f"{Path(sys.argv[0]).name} OUT [KEPT]", WRONG_USE)
    out = Path(sys.argv[1])
    try:
        runs = json.loads((out / "results.json").read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, KeyError) as error:
        raise FailureError(f"There are no results in {out}: {error}", WRONG_USE) from error
    found = [row(one, out) for one in runs if one["method"] == METHOD]
    for one in found:
        print(json.dumps(one, ensure_ascii=False))
    summary = {
        "questions": len(found),
        **{key: sum(one[key] for one in found) for key in SUMS},
        "rejected": sum(one["status"] == "rejected" for one in found),
        **{f"mean_{key}": mean(found, key) for key in ("evaluated", "generated", "seconds")},
    }
    print(json.dumps(summary))
    if len(sys.argv) == 3:
        document = {"summary": summary, "runs": found}
        kept = json.dumps(document, ensure_ascii=False, indent=1)
        Path(sys.argv[2]).write_text(f"{kept}\n", encoding="utf-8")
    return OK


def row(one: dict[str, object], out: Path) -> dict[str, object]:
    """Return what became of one question."""
    events = out / "runs" / f"{one['task']}.{METHOD}.{one['repeat']}" / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    plans = [line for line in lines if line["event"] == "PlanMade"]
    plan = plans[-1] if plans else {}
    refined = sum(line["event"] == "GraphChanged" for line in lines)
    ran = one["status"] == "ok"
    return {
        "task": one["task"],
        "steps": len(plan.get("form", {}).get("tasks", [])),
        "valid_at_once": bool(plan.get("was_valid")),
        "valid_after_checks": bool(plan.get("is_valid")),
        "asked_again": plan.get("asked_again", 0),
        "candidates": plan.get("candidates", 0),
        "mends": len(plan.get("mended", [])),
        "refined": refined,
        "ran_at_once": ran and not refined,
        "mended_in_run": ran and bool(refined),
        "ran": ran,
        "status": one["status"],
        "right": bool(one["success"]),
        "value": one["value"],
        "evaluated": one["tokens"]["evaluated"],
        "generated": one["tokens"]["generated"],
        "seconds": round(one["seconds"]["total"], 1),
    }


def mean(found: list[dict[str, object]], key: str) -> float:
    """Return the mean of a number over all questions."""
    return round(sum(one[key] for one in found) / max(len(found), 1), 1)


if __name__ == "__main__":
    sys.exit(run(main))
