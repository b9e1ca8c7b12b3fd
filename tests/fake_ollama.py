# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict Ollama on loopback: it refuses what the native chat endpoint refuses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from scripted_server import Piece, ScriptedServer, Step

NDJSON = "application/x-ndjson"


class FakeOllama(ScriptedServer):
    """Lists `models`; every chat request must set num_ctx and keep_alive, always the same."""

    def __init__(self, *steps: Step, models: Sequence[str] = ("qwen3:latest", "gemma:2b")) -> None:
        super().__init__(list(steps), chat_paths=("/api/chat",))
        self.models = list(models)
        self.trained = 32768
        self.unloaded: list[str] = []

    def page(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/api/version":
            return 200, {"version": "0.12.0"}
        if path == "/api/tags":
            return 200, {"models": [_card(name, at) for at, name in enumerate(self.models)]}
        if path == "/api/show":
            return 200, {
                "capabilities": ["completion", "tools"],
                "model_info": {"qwen3.context_length": self.trained},
                "details": {"family": "qwen3"},
            }
        if path == "/api/generate" and body.get("keep_alive") == 0:
            self.unloaded.append(body["model"])
            return 200, {"model": body["model"], "response": "", "done": True}
        return 404, {"error": "not found"}

    def breach(self, body: dict[str, Any]) -> str:
        options = body.get("options") or {}
        if body.get("model") not in self.models:
            return f"the model {body.get('model')} is not listed"
        if not options.get("num_ctx") or "keep_alive" not in body:
            return "num_ctx or keep_alive is missing"
        if len({json.dumps(item["options"]["num_ctx"]) for item in self.requests}) > 1:
            return "num_ctx changed within the chat"
        for message in body["messages"]:
            if message.get("role") == "tool" and not message.get("tool_name"):
                return "a tool result without the tool's name"
            if not isinstance(message.get("content", ""), str):
                return "content must be text"
            for call in message.get("tool_calls") or ():
                if not isinstance(call["function"]["arguments"], dict):
                    return "arguments must be an object"
        return ""


def line(**message: Any) -> bytes:
    """Return one line of a stream that goes on."""
    value = {"model": "m", "message": {"role": "assistant", **message}, "done": False}
    return json.dumps(value).encode() + b"\n"


def last(reason: str = "stop", prompt: int | None = 20, made: int = 5) -> bytes:
    """Return the last line; `prompt` None leaves the prompt's count out."""
    value: dict[str, Any] = {"model": "m", "message": {"role": "assistant", "content": ""}}
    value.update(done=True, done_reason=reason, eval_count=made)
    if prompt is not None:
        value["prompt_eval_count"] = prompt
    return json.dumps(value).encode() + b"\n"


def said(*texts: str, reason: str = "stop", prompt: int | None = 20) -> Step:
    """Return a step that says some text in pieces."""
    return Step([*(line(content=text) for text in texts), last(reason, prompt)], kind=NDJSON)


def called(*calls: tuple[str, Any], content: str = "") -> Step:
    """Return a step with native calls, given as name and arguments."""
    made = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    return Step([line(content=content, tool_calls=made), last()], kind=NDJSON)


def stream(pieces: Iterable[Piece]) -> Step:
    """Return a step of raw lines, pauses and breaks."""
    return Step(list(pieces), kind=NDJSON)


def refused(status: int, message: str) -> Step:
    """Return a step with an error."""
    return Step([json.dumps({"error": message}).encode()], status)


def _card(name: str, at: int) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "size": 1,
        "digest": f"{at:064d}",
        "modified_at": "2026-01-01T00:00:00Z",
        "details": {"family": "qwen3", "format": "gguf"},
    }
