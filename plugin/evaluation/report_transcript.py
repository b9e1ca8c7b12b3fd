# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the transcript of one run as HTML, from the events that were kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

LONGEST = 1500
"""Characters of one result that are shown."""

_MOST = 200
"""Events of a run that are shown."""


def anchor(run: Mapping[str, Any]) -> str:
    """Return the name by which a link reaches a run's transcript."""
    return f"{run['task']}.{run['method']}.{run['repeat']}"


def transcript(run: Mapping[str, Any], folder: Path) -> str:
    """Return a run's transcript as a part that opens; `folder` is that of the results."""
    verdict = "right" if run["success"] else "wrong"
    head = f"{anchor(run)}: {verdict}, {run['status']}"
    lines = [f"<p>{escape(str(run.get('answer') or ''))}</p>"]
    lines += [f"<p class=miss>{escape(reason)}</p>" for reason in run.get("reasons") or ()]
    lines += list(_lines(folder / "runs" / anchor(run) / "events.jsonl"))
    name = escape(anchor(run), quote=True)
    return f'<details id="{name}"><summary>{escape(head)}</summary>{"".join(lines)}</details>'


def _lines(path: Path) -> Iterator[str]:
    if not path.is_file():
        yield "<p class=miss>The events of this run are not there.</p>"
        return
    shown = 0
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            try:
                event = json.loads(line)
            except ValueError:
                yield "<p class=miss>A line of the events cannot be read.</p>"
                continue
            text = _event(event)
            shown += bool(text)
            if shown > _MOST:
                yield f"<p>More than {_MOST} events; the rest is in {escape(path.name)}.</p>"
                return
            yield text


def _event(event: Mapping[str, Any]) -> str:
    kind, at = event.get("event"), f"<b>{float(event.get('t') or 0):.1f} s</b>"
    if kind == "RunStarted":
        return f"<p>{at} {escape(_cut(event.get('question')))}</p>"
    if kind == "StageChanged":
        return f"<p>{at} stage {escape(_cut(event.get('stage')))}</p>"
    if kind == "CallFinished":
        call = escape(f"{event.get('tool')} {json.dumps(event.get('arguments'), default=str)}")
        result = event.get("result")
        text = result.get("text") if isinstance(result, dict) else event.get("error")
        style = "" if event.get("ok") else " class=miss"
        return f"<p>{at} <code>{call}</code></p><pre{style}>{escape(_cut(text))}</pre>"
    if kind == "Reflected":
        return f"<p>{at} corrected to <code>{escape(_cut(event.get('text')))}</code></p>"
    if kind == "TokensUsed":
        used = event.get("usage") or {}
        words = ", ".join(f"{used.get(key, 0)} {key}" for key in ("cached", "evaluated"))
        return f"<p class=small>{at} {words}, {used.get('generated', 0)} written</p>"
    if kind == "RunFinished":
        return (
            f"<p>{at} {escape(_cut(event.get('status')))}: {escape(_cut(event.get('answer')))}</p>"
        )
    return ""


def _cut(text: Any) -> str:
    said = "" if text is None else str(text)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]} …"
