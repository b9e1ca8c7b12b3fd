# SPDX-License-Identifier: GPL-2.0-or-later
"""A kept chat as Markdown, HTML or JSON for others: without keys, and without folders of files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from .agent.event import CallFinished, Notice, RunFinished
from .transcript_form import text_of
from .transcript_redaction import without_paths, without_secrets
from .transcript_store import ChatRow, PastTurn

ENDINGS = (".md", ".html", ".json")
_STYLE = (
    "body{font-family:sans-serif;max-width:50em;margin:2em auto;padding:0 1em}"
    "h2{font-size:1.1em;border-top:1px solid #ccc;padding-top:1em}"
    "li{margin:.2em 0}.state{color:#666}pre{white-space:pre-wrap}"
)


@dataclass(frozen=True)
class _Told:
    """What is told of one question."""

    question: str
    state: str
    steps: tuple[str, ...]
    answer: str
    results: tuple[str, ...]


def exported(chat: ChatRow, turns: tuple[PastTurn, ...], ending: str) -> str:
    """Return a chat as a text of the form that a file's ending says; Markdown for others."""
    if ending.lower() == ".json":
        return _json(chat, turns)
    told = [_told(one) for one in turns]
    title = _clean(chat.title)
    return _html(title, chat, told) if ending.lower() == ".html" else _markdown(title, chat, told)


def write(path: Path, chat: ChatRow, turns: tuple[PastTurn, ...]) -> None:
    """Write a chat into a file. Raises OSError."""
    path.write_text(exported(chat, turns, path.suffix), encoding="utf-8")


def _clean(value: Any) -> Any:
    return without_paths(without_secrets(value))


def _told(turn: PastTurn) -> _Told:
    end = next((one for one in reversed(turn.events) if isinstance(one, RunFinished)), None)
    results = ()
    if end is not None:
        results = (*(one.name for one in end.layers), *(Path(one).name for one in end.files))
    return _Told(
        _clean(turn.question),
        turn.state,
        tuple(_clean(one) for one in _steps(turn)),
        _clean(end.answer if end is not None else ""),
        tuple(_clean(one) for one in results),
    )


def _steps(turn: PastTurn) -> Iterator[str]:
    for event in turn.events:
        if isinstance(event, CallFinished):
            layer = event.arguments.get("layer", "")
            named = f" ({layer})" if isinstance(layer, str) and layer else ""
            came = event.result.text if event.result is not None else event.error
            yield f"{event.tool}{named}: {came}"
        elif isinstance(event, Notice):
            yield event.text


def _when(chat: ChatRow) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(chat.started))


def _markdown(title: str, chat: ChatRow, told: list[_Told]) -> str:
    parts = [f"# {_literal(title)}", _when(chat)]
    for one in told:
        parts.append(f"## {_literal(one.question)}")
        if one.steps:
            parts.append("\n".join(f"- {_literal(step)}" for step in one.steps))
        parts.append(one.answer.replace("<", "&lt;") or f"*{one.state}*")
        if one.results:
            parts.append("Results: " + ", ".join(map(_literal, one.results)))
    return "\n\n".join(parts) + "\n"


def _literal(text: str) -> str:
    """Return a text on one line in which no sign is Markdown's or HTML's."""
    flat = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    for sign in "\\`*_[]#|":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def _html(title: str, chat: ChatRow, told: list[_Told]) -> str:
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1><p class='state'>{escape(_when(chat))}</p>",
    ]
    for one in told:
        steps = "".join(f"<li>{escape(step)}</li>" for step in one.steps)
        parts.append(f"<h2>{escape(one.question)}</h2>")
        parts.append(f"<ul>{steps}</ul>" if steps else "")
        parts.append(f"<pre>{escape(one.answer)}</pre><p class='state'>{escape(one.state)}</p>")
        if one.results:
            parts.append(f"<p>{escape(', '.join(one.results))}</p>")
    return "\n".join([*filter(None, parts), "</body></html>"]) + "\n"


def _json(chat: ChatRow, turns: tuple[PastTurn, ...]) -> str:
    told = []
    for turn in turns:
        forms = [text_of(event) for event in turn.events]
        told.append({
            "question": turn.question,
            "state": turn.state,
            "started": turn.started,
            "events": [
                {"kind": form[0], **json.loads(form[1])} for form in forms if form is not None
            ],
        })  # fmt: skip
    whole = {"version": 1, "title": chat.title, "started": chat.started, "turns": told}
    return json.dumps(_clean(whole), ensure_ascii=False, indent=1) + "\n"
