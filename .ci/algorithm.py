# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs an algorithm of the plugin through qgis_process, with its inputs on standard input."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Any

from failure import FailureError

NOISE = ("QStandardPaths: XDG_RUNTIME_DIR", "Problem with GRASS installation")


def run_algorithm(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the algorithm's results; what it says on standard error is passed on as it comes."""
    given = {key: value for key, value in inputs.items() if value not in (None, "")}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as parcel:
        json.dump({"inputs": given}, parcel)
        parcel.seek(0)
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
            subprocess.Popen(
                ["qgis_process", "run", name, "-"],
                stdin=parcel,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            ) as process,
        ):
            try:
                last = _pass_on(process.stderr or ())
                code = process.wait()
            except KeyboardInterrupt:
                process.terminate()
                raise
            output.seek(0)
            text = output.read()
    results = _results(text)
    if code or results is None:
        raise FailureError(f"QGIS could not run {name}: {last or text.strip() or 'no message'}")
    return results


def _pass_on(lines: Iterable[str]) -> str:
    """Write the lines to standard error and return the last that says something."""
    last = ""
    for line in lines:
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
        start = output.find("\n{", start + 1)
        start += start >= 0
    return None
