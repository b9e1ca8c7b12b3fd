# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs an algorithm of the plugin through qgis_process, with its inputs on standard input."""

import json
import signal
import subprocess
import sys
from typing import Any

from failure import FailureError

NOISE = ("QStandardPaths: XDG_RUNTIME_DIR", "Problem with GRASS installation")


def run_algorithm(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the algorithm's results; what it says on standard error is passed on as it comes."""
    given = {key: value for key, value in inputs.items() if value not in (None, "")}
    with subprocess.Popen(
        ["qgis_process", "run", name, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            assert process.stdin and process.stdout and process.stderr
            process.stdin.write(json.dumps({"inputs": given}))
            process.stdin.close()
            last = _pass_on(process)
            output = process.stdout.read()
            code = process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM)
            raise
    results = _results(output)
    if code or results is None:
        raise FailureError(f"QGIS could not run {name}: {last or output.strip() or 'no message'}")
    return results


def _pass_on(process: "subprocess.Popen[str]") -> str:
    last = ""
    for line in process.stderr or ():
        if not line.startswith(NOISE):
            sys.stderr.write(line)
            last = line.strip() or last
    return last


def _results(output: str) -> dict[str, Any] | None:
    """Find the JSON object in what qgis_process printed, whatever a provider printed before."""
    decoder = json.JSONDecoder()
    start = output.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(output, start)
        except ValueError:
            value = None
        if isinstance(value, dict) and "results" in value:
            results: dict[str, Any] = value["results"]
            return results
        start = output.find("\n{", start + 1) + 1 or -1
    return None
