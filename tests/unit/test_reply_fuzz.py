# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a model writes is read without another error than the parsers' own, and in time."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_olm.plugin.llm.assembly import Assembly
from geo_olm.plugin.llm.base import Finish, Usage
from geo_olm.plugin.llm.literal import MalformedError, extent, mended, read_call, read_json
from geo_olm.plugin.llm.markup import read_markup
from geo_olm.plugin.llm.saying import said_in_text
from geo_olm.plugin.llm.speaker import repeats
from geo_olm.plugin.llm.textcall import find_calls
from geo_olm.plugin.llm.thinking import CLOSE, OPEN, ThinkingStream, split_thinking

KNOWN = ("layer_info", "buffer_layer")
SAID = {"CURRENT_STAGE": {"type": "string", "enum": ["Load", "Answer"]}}
MEGABYTE = 1_000_000
LONGEST_S = 8.0
"""For a megabyte on a busy machine; a parser whose time grows with the square takes hours."""

PIECES = (
    *OPEN, *CLOSE, "<tool_call>", "</tool_call>", "<|tool_call|>", "<|/tool_call|>", "functools[",
    "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "<function=layer_info>", "</function>",
    '<invoke name="layer_info">', "<parameter=a>", "</parameter>", "```json\n", "```",
    "layer_info(", "buffer_layer.call(", "layer='a'", '{"name": "layer_info", "arguments": ',
    '{"a": 1}', "{", "}",
    "[", "]", "(", ")", '"', "'", "\\", "\\n", ",", ":", "=", "\n", " ", "é", "\x00",
    "\ud800", "1e999", "CURRENT_STAGE = Load", "None", "9" * 30,
)  # fmt: skip

replies = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=25).map(
    "".join
)


def names(text: str) -> list[tuple[str, str]]:
    found = find_calls(text, KNOWN)
    return [(call.name, json.dumps(call.arguments, sort_keys=True)) for call in found.calls]


@given(replies)
def test_a_reply_is_read_and_read_again_alike(text: str) -> None:
    found = find_calls(text, KNOWN)
    assert names(text) == [
        (call.name, json.dumps(call.arguments, sort_keys=True)) for call in found.calls
    ]
    said_in_text(text, SAID)
    repeats(text)


@given(replies)
def test_the_parsers_raise_nothing_but_their_own_error(text: str) -> None:
    for read in (read_json, read_call, mended):
        with contextlib.suppress(MalformedError):
            read(text)
    for at in range(min(len(text), 40)):
        with contextlib.suppress(MalformedError):
            assert at < extent(text, at) <= len(text)
        with contextlib.suppress(MalformedError):
            read_markup(text, at, False)


@given(replies, st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_reply_in_pieces_is_the_reply(text: str, sizes: list[int]) -> None:
    """Nothing is lost or said twice, wherever the stream is cut."""
    stream = ThinkingStream()
    parts: list[tuple[bool, str]] = []
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        parts += stream.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    parts += stream.flush()
    whole = ThinkingStream()
    once = [*whole.feed(text), *whole.flush()]
    assert ["".join(piece for kind, piece in parts if kind is side) for side in (True, False)] == [
        "".join(piece for kind, piece in once if kind is side) for side in (True, False)
    ]
    assert all(piece for _, piece in parts)


@given(replies)
def test_no_call_is_found_in_thinking(text: str) -> None:
    """Case A07."""
    assert find_calls(f"<think>{text.replace('<', '')}", KNOWN).calls == ()


@given(replies)
def test_thinking_and_speech_together_are_no_more_than_the_text(text: str) -> None:
    said, thought = split_thinking(text)
    assert len(said) + len(thought) <= len(text)


LONG = {
    "prose": "The buffer of 500 m covers 3.2 km of roads. ",
    "braces": "{",
    "brackets": "[",
    "opened strings": '{"',
    "objects": '{"a": "x"},',
    "lists in lists": '[{"a": "' + "y" * 600 + '"},',
    "single quotes": "{'a': '",
    "calls": "layer_info(layer='a')\n",
    "calls not closed": "layer_info(",
    "call lists": "[layer_info(layer='a'), ",
    "arguments": "f(a=",
    "marks": "<think>",
    "ends of thinking": "</think>",
    "thoughts": "<think>x</think>",
    "marks in strings": '{"a": "<think>"} ',
    "marks in open strings": "{'<think>",
    "tags": "<tool_call>",
    "tags with space": "<function   ",
    "functions": "<function=layer_info><parameter=a>",
    "parameters": "<parameter=a>b</parameter>",
    "fences": "```json\n",
    "mistral": "[TOOL_CALLS]layer_info[ARGS]{",
    "spaces": "      ",
    "lines": "\n",
    "indented": "    \t>",
    "one word": "a",
    "backslashes": "\\",
    "stages": "CURRENT_STAGE = * ",
    "a half mark": "<thin",
}


@pytest.mark.parametrize("kind", LONG)
def test_a_megabyte_is_read_in_time_of(kind: str) -> None:
    text = LONG[kind] * (MEGABYTE // len(LONG[kind]))
    begun = time.monotonic()
    find_calls(text, KNOWN)
    said_in_text(text, SAID)
    split_thinking(text)
    for read in (read_json, read_call):
        with contextlib.suppress(MalformedError):
            read(text)
    assert time.monotonic() - begun < LONGEST_S


@pytest.mark.parametrize("kind", ["prose", "marks in open strings", "thoughts", "a half mark"])
@pytest.mark.parametrize("size", [4, MEGABYTE])
def test_a_megabyte_is_streamed_in_time_of(kind: str, size: int) -> None:
    text = LONG[kind] * (MEGABYTE // len(LONG[kind]))
    assembly = Assembly()
    begun = time.monotonic()
    for at in range(0, len(text), size):
        list(assembly.write(text[at : at + size]))
    list(assembly.flush())
    reply = assembly.reply(Finish.STOP, Usage())
    assert time.monotonic() - begun < LONGEST_S
    assert len(reply.text) + len(reply.thinking) <= len(text)
