# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict OpenAI-compatible server on loopback, with Mistral's rule for the ids of calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scripted_server import Piece, ScriptedServer, Step

SSE = "text/event-stream"
DONE = b"data: [DONE]\n\n"


class FakeOpenAI(ScriptedServer):
    """Lists `models` at /v1/models; ids of calls must be nine letters and digits."""

    def __init__(
        self,
        *steps: Step,
        models: Sequence[str] = ("small-model",),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(list(steps), chat_paths=("/v1/chat/completions",))
        self.models = list(models)
        self.meta = meta

    def page(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/v1/models":
            told = {"meta": self.meta} if self.meta is not None else {}
            return 200, {
                "object": "list",
                "data": [{"id": name, "object": "model", **told} for name in self.models],
            }
        if path == "/props" and self.meta is not None:
            return 200, {"default_generation_settings": {"n_ctx": 4096}}
        return 404, {"error": {"message": "not found"}}

    def breach(self, body: dict[str, Any]) -> str:
        if body.get("model") not in self.models:
            return f"the model {body.get('model')} is not listed"
        if not body.get("stream") or not (body.get("stream_options") or {}).get("include_usage"):
            return "usage was not asked for"
        known: set[str] = set()
        for message in body["messages"]:
            if not isinstance(message.get("content"), str):
                return "content must be text"
            for call in message.get("tool_calls") or ():
                if not isinstance(call["function"]["arguments"], str):
                    return "arguments must be a JSON string"
                if not re.fullmatch(r"[A-Za-z0-9]{9}", call.get("id") or ""):
                    return "an id must be nine letters and digits"
                known.add(call["id"])
            if message["role"] == "tool" and message.get("tool_call_id") not in known:
                return "tool_call_id does not match an earlier call"
        return ""


def chunk(finish: str | None = None, **delta: Any) -> bytes:
    """Return one event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**value, "choices": [choice]}).encode() + b"\n\n"


def counts(
    prompt: int, made: int, cached: int | None = None, timings: Mapping[str, int] | None = None
) -> bytes:
    """Return the event with the usage."""
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": made,
        "total_tokens": prompt + made,
    }
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    value: dict[str, Any] = {"id": "x", "object": "chat.completion.chunk", "created": 1}
    value.update(model="m", choices=[], usage=usage)
    if timings is not None:
        value["timings"] = timings
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def said(*texts: str, finish: str = "stop") -> Step:
    """Return a step that says some text in pieces."""
    return stream([*(chunk(content=text) for text in texts), chunk(finish), counts(20, 5), DONE])


def stream(pieces: Iterable[Piece]) -> Step:
    """Return a step of raw events, pauses and breaks."""
    return Step(list(pieces), kind=SSE)


def refused(status: int, message: str) -> Step:
    """Return a step with an error."""
    return Step([json.dumps({"error": {"message": message}}).encode()], status)
