# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict Ollama on loopback, after the public reference of its native API.

It refuses what Ollama refuses, cuts a prompt at num_ctx, loads a model anew for another num_ctx,
and keeps what a test may ask about: loads, keep_alive values, what the model saw of a prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scripted_server import Piece, ScriptedServer, Step

NDJSON = "application/x-ndjson"
DEFAULT_CONTEXT = 4096
COUNTED = -1
"""As the prompt's count in a scripted last line: as many tokens as the model saw."""

_ROLES = {"system", "user", "assistant", "tool"}
_DURATION = re.compile(r"-?\d+(\.\d+)?(ns|us|ms|s|m|h)([\d.]+(ns|us|ms|s|m|h))*")
_WHOLE_NUMBERS = ("num_ctx", "num_predict", "seed")


class FakeOllama(ScriptedServer):
    """Lists `models`; every chat request must set num_ctx and keep_alive, always the same.

    `capabilities` and `info` are what /api/show tells of each model that is named there; with
    `may_grow` a chat may change its num_ctx. `library` holds the bytes of models to pull.
    """

    def __init__(self, *steps: Step, models: Sequence[str] = ("qwen3:latest", "gemma:2b")) -> None:
        super().__init__(list(steps), chat_paths=("/api/chat", "/api/pull"))
        self.models = list(models)
        self.trained = 32768
        self.info: dict[str, Any] = {}
        self.capabilities: dict[str, tuple[str, ...]] = {}
        self.size, self.share_on_card = 1_000_000_000, 1.0
        self.may_grow = False
        self.loaded: tuple[str, int] | None = None
        self.loads: list[tuple[str, int]] = []
        self.unloaded: list[str] = []
        self.keep_alives: list[Any] = []
        self.seen: list[list[str]] = []
        self.library: dict[str, int] = {}
        self.pulled: dict[str, int] = {}
        self.pull_pause = 0.0
        self.pull_fault = ""

    # -- pages outside of the script

    def page(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        pages = {
            "/api/version": lambda: (200, {"version": "0.12.0"}),
            "/api/tags": lambda: (200, {"models": [self._card(name) for name in self.models]}),
            "/api/ps": lambda: (200, {"models": self._running()}),
            "/api/show": lambda: self._show(body),
            "/api/generate": lambda: self._generate(body),
            "/api/embed": lambda: self._embed(body),
        }
        return pages[path]() if path in pages else (404, {"error": "not found"})

    def _card(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "model": name,
            "size": self.size,
            "digest": f"{self.models.index(name):064d}",
            "modified_at": "2026-01-01T00:00:00Z",
            "details": {"family": "qwen3", "format": "gguf"},
        }

    def _running(self) -> list[dict[str, Any]]:
        if self.loaded is None:
            return []
        name, context = self.loaded
        more = {"expires_at": "2026-01-01T00:05:00Z", "context_length": context}
        return [{**self._card(name), **more, "size_vram": int(self.size * self.share_on_card)}]

    def _show(self, body: dict[str, Any]) -> tuple[int, Any]:
        name = body.get("model")
        if name not in self.models:
            return 404, {"error": f"model '{name}' not found"}
        return 200, {
            "template": "{{ .Prompt }}",
            "capabilities": list(self._can(str(name))),
            "model_info": {
                "general.architecture": "qwen3",
                "qwen3.context_length": self.trained,
                **self.info,
            },
            "details": {"family": "qwen3"},
        }

    def _can(self, name: str) -> tuple[str, ...]:
        return self.capabilities.get(name, ("completion", "tools"))

    def _generate(self, body: dict[str, Any]) -> tuple[int, Any]:
        if body.get("model") not in self.models:
            return 404, {"error": f"model '{body.get('model')}' not found"}
        if body.get("keep_alive") == 0 and not body.get("prompt"):
            self.unloaded.append(body["model"])
            self.loaded = None
            return 200, {"model": body["model"], "response": "", "done": True,
                         "done_reason": "unload"}  # fmt: skip
        return 404, {"error": "not found"}

    def _embed(self, body: dict[str, Any]) -> tuple[int, Any]:
        name = body.get("model")
        if name not in self.models:
            return 404, {"error": f"model '{name}' not found"}
        self.keep_alives.append(body.get("keep_alive"))
        if "embedding" not in self._can(str(name)):
            return 400, {"error": "this model does not support embeddings"}
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        if body.get("truncate") is False and any(tokens(text) > self.trained for text in texts):
            return 400, {"error": "the input length exceeds the context length"}
        return 200, {"model": name, "embeddings": [[len(text), 1.0] for text in texts]}

    # -- the script

    def next_step(self, body: dict[str, Any]) -> Step:
        if "messages" not in body and not self.steps:
            return Step(self._pulling(body), kind=NDJSON)  # type: ignore[arg-type]
        refusal = self._refusal(body)
        if refusal:
            self.requests.append(body)
            return refused(*refusal)
        step = super().next_step(body)
        if step.status == 200 and "messages" in body:
            self._load(body)
            step = Step([self._counted(piece) for piece in step.pieces], step.status, step.kind)
        return step

    def _refusal(self, body: dict[str, Any]) -> tuple[int, str] | None:
        """Return what Ollama itself refuses, by status and text."""
        name, can = body.get("model"), self._can(str(body.get("model")))
        if body.get("tools") and "tools" not in can:
            return 400, f"registry.ollama.ai/library/{name} does not support tools"
        if body.get("think") is True and "thinking" not in can:
            return 400, f'"{name}" does not support thinking'
        if any(item.get("images") for item in body.get("messages", ())) and "vision" not in can:
            return 500, "this model is missing data required for image input"
        form = body.get("format")
        if form is not None and form not in ("", "json") and not isinstance(form, dict):
            return 400, f'invalid format: {form!r}; expected "json" or a valid JSON Schema'
        for option in _WHOLE_NUMBERS:
            value = (body.get("options") or {}).get(option, 0)
            if not isinstance(value, int) or isinstance(value, bool):
                return 400, f'option "{option}" must be of type integer'
        alive = body.get("keep_alive")
        if isinstance(alive, str) and not _DURATION.fullmatch(alive):
            return 400, f'time: invalid duration "{alive}"'
        return None

    def breach(self, body: dict[str, Any]) -> str:
        options = body.get("options") or {}
        if body.get("model") not in self.models:
            return f"the model {body.get('model')} is not listed"
        if not options.get("num_ctx") or "keep_alive" not in body:
            return "num_ctx or keep_alive is missing"
        sizes = {json.dumps(item["options"]["num_ctx"]) for item in self.requests}
        if len(sizes) > 1 and not self.may_grow:
            return "num_ctx changed within the chat"
        for message in body["messages"]:
            if message.get("role") not in _ROLES:
                return f"an unknown role {message.get('role')}"
            if message.get("role") == "tool" and not message.get("tool_name"):
                return "a tool result without the tool's name"
            if not isinstance(message.get("content", ""), str):
                return "content must be text"
            for call in message.get("tool_calls") or ():
                if not isinstance(call["function"]["arguments"], dict):
                    return "arguments must be an object"
        return ""

    def _load(self, body: dict[str, Any]) -> None:
        """Load the model where another one, or another context, is loaded; cut the prompt."""
        context = (body.get("options") or {}).get("num_ctx", DEFAULT_CONTEXT)
        wanted = (str(body["model"]), context)
        if self.loaded != wanted:
            self.loads.append(wanted)
            self.loaded = wanted
        self.keep_alives.append(body.get("keep_alive"))
        texts = [item.get("content", "") for item in body.get("messages", ())]
        while sum(map(tokens, texts)) > context and len(texts) > 1:
            texts.pop(0)
        texts[:1] = [text[-context * 4 :] for text in texts[:1]]
        self.seen.append(texts)

    def _counted(self, piece: Piece) -> Piece:
        """Fill the prompt's count in where the script leaves it to the server."""
        mark = f'"prompt_eval_count": {COUNTED}'.encode()
        if not isinstance(piece, bytes) or mark not in piece:
            return piece
        saw = sum(map(tokens, self.seen[-1]))
        return piece.replace(mark, f'"prompt_eval_count": {saw}'.encode())

    def _pulling(self, body: dict[str, Any]) -> Iterator[Piece]:
        """Send a pull's lines; what was fetched before is not fetched again."""
        name = str(body.get("model"))
        yield _json({"status": "pulling manifest"})
        if name not in self.library:
            yield _json({"error": "pull model manifest: file does not exist"})
            return
        whole, digest = self.library[name], "sha256:1234"
        told = {"status": "pulling 1234", "digest": digest, "total": whole}
        yield _json(told)
        while self.pulled.get(name, 0) < whole:
            if self.pull_fault:
                yield _json({"error": self.pull_fault})
                return
            yield self.pull_pause
            self.pulled[name] = min(whole, self.pulled.get(name, 0) + max(1, whole // 10))
            yield _json({**told, "completed": self.pulled[name]})
        self.models.append(name)
        for status in ("verifying sha256 digest", "writing manifest", "success"):
            yield _json({"status": status})


def tokens(text: str) -> int:
    """Count tokens as this server does: one for four characters."""
    return len(text) // 4


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def line(**message: Any) -> bytes:
    """Return one line of a stream that goes on."""
    value = {"model": "m", "message": {"role": "assistant", **message}, "done": False}
    return json.dumps(value).encode() + b"\n"


def last(reason: str = "stop", prompt: int | None = 20, made: int = 5) -> bytes:
    """Return the last line; `prompt` None leaves the prompt's count out, COUNTED fills it in."""
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
