# SPDX-License-Identifier: GPL-2.0-or-later
"""A small mind behind the fake servers: it reads what it is sent, forgets what is cut, and answers
the doctor's questions as well or as badly as a test wants."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fake_ollama
import fake_openai
from fake_ollama import FakeOllama
from fake_openai import DONE, FakeOpenAI
from scripted_server import BREAK, Piece, Step

QUESTIONS = json.loads(
    (Path(__file__).resolve().parent.parent / "resources" / "doctor.json").read_text("utf-8")
)["questions"]
SPOKEN = ", ".join(["one", "two", "three", "four", "five", "six", "seven", "eight"] * 8)
HELLO = "Good morning, dear people of the village."


def tokens(text: str) -> int:
    """Count tokens as this mind does: one for two characters, as digits are counted."""
    return len(text) // 2


@dataclass
class Mind:
    """What the model can do.

    `context` is where it cuts in silence (0: nowhere); `refuses_at` where the server refuses a
    prompt instead. `wrong` are the labels of questions that it gets wrong, `wrong_with_all` of
    those that it gets wrong when all tools are listed. `pause` waits before each reply, `piece`
    before each piece. `dies_at` breaks the connection at this request, counted from 1.
    """

    context: int = 0
    refuses_at: int = 0
    schema: bool = True
    native: bool = True
    text: bool = True
    refuses_tools: bool = False
    thinks: bool = False
    forgetful: bool = False
    counts: bool = True
    caches: bool = True
    wrong: Sequence[str] = ()
    wrong_with_all: Sequence[str] = ()
    pause: float = 0.0
    piece: float = 0.0
    dies_at: int = 0
    asked: int = 0
    sizes: list[int] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def sees(self, body: dict[str, Any]) -> str:
        """Return the prompt as the model sees it, its beginning cut off where it is too long."""
        whole = "\n".join(item["content"] for item in body["messages"])
        self.asked += 1
        self.sizes.append(tokens(whole))
        return whole[-2 * self.context :] if self.context else whole

    def reply(self, seen: str, schema: Any, tools: Any) -> tuple[str, dict[str, Any] | None]:
        """Return the text, or a native call as name and arguments."""
        if schema is None and not tools and "single word ready" in seen:
            return "ready", None
        if "numbers from 1 to 60" in seen:
            return SPOKEN, None
        if "word were you told" in seen:
            known = re.search(r"word to remember is (\w+)", seen)
            return known[1] if known and not self.forgetful else "I cannot tell", None
        if "good morning" in seen:
            return ('{"word": "kestrel"}' if schema and self.schema else HELLO), None
        return self._called(seen, schema, tools)

    def _called(self, seen: str, schema: Any, tools: Any) -> tuple[str, dict[str, Any] | None]:
        if "the colour red" in seen:
            made = {"name": "set_colour", "arguments": {"layer": "roads", "colour": "red"}}
        else:
            question = next(item for item in QUESTIONS if item["text"] in seen)
            missed = (*self.wrong, *(self.wrong_with_all if "- values(" in seen
                                     and "- buffer(" in seen else ()))  # fmt: skip
            name = "count" if question["label"] in missed else question["tool"]
            arguments = {"layer": "parks"} if name != question["tool"] else question["arguments"]
            made = {"name": name, "arguments": arguments}
        if tools and self.native:
            return "", made
        if (schema and self.schema) or self.text:
            key = "tool" if "tool" in seen and "colour red" not in seen else "name"
            return json.dumps({key: made["name"], "arguments": made["arguments"]}), None
        return "I would look at the layers first.", None


class OpenAIMind(FakeOpenAI):
    """A mind behind the OpenAI protocol."""

    def __init__(self, mind: Mind, **given: Any) -> None:
        super().__init__(**given)
        self.mind = mind

    def next_step(self, body: dict[str, Any]) -> Step:
        mind, seen = self.mind, self.mind.sees(body)
        if mind.asked == mind.dies_at:
            self.steps.append(fake_openai.stream([fake_openai.chunk(content="We"), BREAK]))
            return super().next_step(body)
        if body.get("tools") and mind.refuses_tools:
            self.steps.append(fake_openai.refused(500, "tools param requires --jinja flag"))
            return super().next_step(body)
        if mind.refuses_at and mind.sizes[-1] > mind.refuses_at:
            fault = f"the request exceeds the available context size ({mind.refuses_at} tokens)"
            self.steps.append(fake_openai.refused(400, fault))
            return super().next_step(body)
        schema = (body.get("response_format") or {}).get("json_schema")
        text, call = mind.reply(seen, schema, body.get("tools"))
        pieces: list[Piece] = [mind.pause]
        if mind.thinks:
            pieces.append(fake_openai.chunk(reasoning_content="Let me see."))
        if call is not None:
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            made = [{"index": 0, "id": "abcdefghi", "type": "function", "function": function}]
            pieces.append(fake_openai.chunk(tool_calls=made))
        words = re.findall(r"\S+\s*", text)
        for word in words:
            pieces += [mind.piece, fake_openai.chunk(content=word)]
        pieces.append(fake_openai.chunk("stop"))
        if mind.counts:
            cached = tokens(seen) - 40 if mind.caches and mind.asked > 1 else 0
            made_count = max(1, len(words))
            pieces.append(fake_openai.counts(tokens(seen), made_count, max(0, cached)))
        self.steps.append(fake_openai.stream([*pieces, DONE]))
        return super().next_step(body)


class OllamaMind(FakeOllama):
    """A mind behind Ollama's own protocol."""

    def __init__(self, mind: Mind, **given: Any) -> None:
        super().__init__(**given)
        self.mind = mind

    def next_step(self, body: dict[str, Any]) -> Step:
        if "messages" not in body or self._refusal(body):
            return super().next_step(body)
        mind, seen = self.mind, self.mind.sees(body)
        text, call = mind.reply(seen, body.get("format"), body.get("tools"))
        pieces: list[Piece] = [mind.pause]
        if mind.asked == mind.dies_at:
            pieces += [fake_ollama.line(content="We"), BREAK]
        if mind.thinks:
            pieces.append(fake_ollama.line(thinking="Let me see."))
        if call is not None:
            made = [{"function": {"name": call["name"], "arguments": call["arguments"]}}]
            pieces.append(fake_ollama.line(content="", tool_calls=made))
        words = re.findall(r"\S+\s*", text)
        for word in words:
            pieces += [mind.piece, fake_ollama.line(content=word)]
        told = json.loads(fake_ollama.last("stop", tokens(seen), max(1, len(words))))
        told.update(load_duration=1_500_000_000, prompt_eval_duration=tokens(seen) * 5_000_000)
        told.update(eval_duration=max(1, len(words)) * 25_000_000)
        self.steps.append(fake_ollama.stream([*pieces, json.dumps(told).encode() + b"\n"]))
        return super().next_step(body)
