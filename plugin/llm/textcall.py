# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds tool calls that a model wrote into its text: JSON in tags, in a fence or bare, behind the
marks of Llama, Mistral and Phi, tags for each parameter, and Python-style calls."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..agent.message import ToolCall
from .literal import MalformedError, UnclosedError, extent, read_call, read_json
from .markup import HEAD, read_markup
from .thinking import split_thinking

MAX_TEXT = 60_000
MAX_TRIES = 50

_ALPHABET = string.ascii_letters + string.digits
_TAGS = "tool_calls?|tools|function_call|function_calls"
_STRAY = re.compile(
    rf"</?(?:{_TAGS}|function|invoke|parameter|param|tool_response|think|thinking)(?:=[\w.-]*)?>"
    r"|<\|/?(?:im_end|eot_id|eom_id|end|endoftext|python_tag|tool_call)\|>|\[/?TOOL_CALLS\]"
)
_IPYTHON = "<|python_tag|>"
_OPENING = (
    rf"<(?P<tag>{_TAGS})>|<\|(?P<bar>tool_call)\|>"
    rf"|(?P<mark>\[TOOL_CALLS\]|{re.escape(_IPYTHON)}|\bfunctools(?=\s*\[))"
)
_XML = f"(?P<xml>{HEAD})"
_FENCE = r"(?P<fence>```[\w+-]*[ \t]*\n?)"
_BARE = r"(?P<bare>[{\[])"
_CLOSER = re.compile(rf"</(?:{_TAGS})>|```|<\|(?:eom_id|eot_id|im_end|end|/tool_call)\|>")
_CLOSING = re.compile(rf"\s*(?:{_CLOSER.pattern})")
_CALL = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_][\w-]*)\s*\(")
_MISTRAL = re.compile(r"([A-Za-z_][\w.-]*)\s*(?:\[ARGS\]\s*)?(?=\{)")
_BETWEEN = re.compile(r"[\s,;]*")

_NAME_KEYS = ("name", "tool", "function", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_NAME_KEY = re.compile(rf"""["'](?:{"|".join(_NAME_KEYS)})["']\s*:""")
_KINDS = {
    "tag": "mark",
    "bar": "mark",
    "mark": "mark",
    "xml": "xml",
    "fence": "fence",
    "bare": "bare",
    "call": "call",
}
_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function", "calls")


@dataclass(frozen=True)
class TextCalls:
    """What a reply's text holds: visible text, calls, thinking, and what was no proper call.

    `malformed` is one sentence for the model, or "". `ipython` tells that a call came behind
    Llama's python tag: its result belongs in a message of the tool's own role, which the model's
    template calls ipython.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    malformed: str = ""
    ipython: bool = False


def new_id() -> str:
    """Return a new id of nine letters and digits, the form that every chat template takes."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(9))


def find_calls(text: str, known_names: Collection[str], cut: bool = False) -> TextCalls:
    """Find the tool calls in a reply's text, in their order.

    Thinking is never searched. An unknown name counts only where the form leaves no doubt (a
    tag, a marker, or JSON with both a name and arguments), so that it can be answered by name.
    A call at the end that lacks only closing brackets is mended, unless the reply was `cut`.
    """
    spoken, thinking = split_thinking(text)
    search = _Search(spoken[:MAX_TEXT], known_names, cut or len(spoken) > MAX_TEXT)
    search.run()
    whole = search.visible() + spoken[MAX_TEXT:]
    malformed = "" if search.calls else search.malformed
    return TextCalls(without_tags(whole), tuple(search.calls), thinking, malformed, search.ipython)


def without_tags(text: str) -> str:
    """Return a text without stray tags and marks of calls, as a user may see it."""
    return re.sub(r"\n{3,}", "\n\n", _STRAY.sub("", text)).strip()


class _Search:
    """One pass over a text, cutting calls out of it."""

    def __init__(self, text: str, known: Collection[str], cut: bool) -> None:
        self._text = text
        self._known = set(known)
        self._cut = cut
        self._kept: list[str] = []
        self.calls: list[ToolCall] = []
        self.malformed = ""
        self.ipython = False
        names = "|".join(re.escape(name) for name in sorted(self._known))
        call = rf"|(?m:^[ \t>*`-]*)(?P<call>(?:{names})\s*\()" if names else ""
        self._start = re.compile(f"{_OPENING}|{_XML}|{_FENCE}|{_BARE}{call}")

    def run(self) -> None:
        at = 0
        for _ in range(MAX_TRIES):
            match = self._start.search(self._text, at)
            if match is None:
                break
            begin = match.start("call") if match.lastgroup == "call" else match.start()
            self._kept.append(self._text[at:begin])
            at = self._take(match, begin)
        self._kept.append(self._text[at:])

    def visible(self) -> str:
        return "".join(self._kept)

    def _take(self, match: re.Match[str], begin: int) -> int:
        """Read what begins at a match and return where the search goes on."""
        kind = _KINDS[match.lastgroup or ""]
        marked = kind in ("mark", "xml")
        inside = match.end() if kind in ("mark", "fence") else begin
        found, end = self._region(inside, marked)
        if found:
            self.calls += found
            self.ipython = self.ipython or match["mark"] == _IPYTHON
            closing = _CLOSING.match(self._text, end) if inside != begin else None
            return closing.end() if closing else end
        if marked:
            self.malformed = self.malformed or "no tool call was found in the tag"
            ending = _closing_of(match)
            at = self._text.find(ending, inside) if ending else -1
            return at + len(ending) if at >= 0 else len(self._text)
        stop = max(end, match.end())
        self._kept.append(self._text[begin:stop])
        return stop

    def _region(self, at: int, marked: bool) -> tuple[list[ToolCall], int]:
        """Read the calls that follow each other from `at`; return them and where they end."""
        found: list[ToolCall] = []
        end = at
        while True:
            gap = _BETWEEN.match(self._text, end)
            start = gap.end() if gap else end
            try:
                calls, stop = self._one(start, marked)
            except MalformedError as error:
                self.malformed = self.malformed or str(error)
                return found, end
            if not calls:
                return found, end if found else max(end, stop)
            found += calls
            end = stop

    def _one(self, at: int, marked: bool) -> tuple[list[ToolCall], int]:
        """Read one value or call at `at`. Raises MalformedError when it begins but is broken."""
        text = self._text
        listed = self._listed(at) if text[at : at + 1] == "[" else None
        if listed:
            return listed
        if text[at : at + 1] in ("{", "["):
            value, end = self._value(at, marked)
            return list(_calls_of(value, self._known, marked)), end
        markup = read_markup(text, at, self._cut) if marked else None
        if markup:
            name, arguments, end = markup
            return [ToolCall(new_id(), name, arguments)], end
        mistral = _MISTRAL.match(text, at) if marked else None
        if mistral:
            end = extent(text, mistral.end())
            arguments = read_json(text[mistral.end() : end])
            return [ToolCall(new_id(), mistral.group(1), arguments)], end
        call = _CALL.match(text, at)
        if call is None or not (marked or call.group(1) in self._known):
            return [], at
        end = extent(text, call.end() - 1)
        rest = text[end:].split("\n", 1)[0]
        if not marked and rest.strip(" \t;`.") and not rest.lstrip().startswith("<"):
            return [], at
        name, arguments = read_call(text[at:end])
        return [ToolCall(new_id(), name, arguments)], end

    def _listed(self, at: int) -> tuple[list[ToolCall], int] | None:
        """Read a list of Python-style calls of known tools, or return None."""
        found: list[ToolCall] = []
        end = at + 1
        while True:
            gap = _BETWEEN.match(self._text, end)
            end = gap.end() if gap else end
            if found and self._text[end : end + 1] == "]":
                return found, end + 1
            call = _CALL.match(self._text, end)
            if call is None or call.group(1) not in self._known:
                return None
            stop = extent(self._text, call.end() - 1)
            name, arguments = read_call(self._text[end:stop])
            found.append(ToolCall(new_id(), name, arguments))
            end = stop

    def _value(self, at: int, marked: bool) -> tuple[Any, int]:
        """Return the JSON value at `at` and its end; brackets in prose are no fault."""
        end = at + 1
        try:
            end = extent(self._text, at)
            return read_json(self._text[at:end]), end
        except MalformedError as error:
            if not marked and not _NAME_KEY.search(self._text, at, max(end, at + 200)):
                return None, end
            return self._closed(at, error)

    def _closed(self, at: int, error: MalformedError) -> tuple[Any, int]:
        """Return a value that lacks only its last brackets, and where it ends; else raise."""
        closer = _CLOSER.search(self._text, at)
        if closer is None and self._cut:
            raise error
        stop = closer.start() if closer else len(self._text)
        body = self._text[at:stop].rstrip()
        try:
            extent(body, 0)
        except UnclosedError as fault:
            return read_json(body + fault.missing), stop
        raise error


def _closing_of(match: re.Match[str]) -> str:
    """Return the tag that closes what a match opens, "" for a mark that nothing closes."""
    if match["bar"]:
        return f"<|/{match['bar']}|>"
    tag = match["tag"] or match["head"]
    return f"</{tag}>" if tag else ""


def _calls_of(value: Any, known: Collection[str], marked: bool) -> Iterator[ToolCall]:
    """Yield the calls that a JSON value describes."""
    if isinstance(value, list):
        for item in value:
            yield from _calls_of(item, known, marked)
        return
    if not isinstance(value, Mapping):
        return
    for key in _WRAPPERS:
        if isinstance(value.get(key), (dict, list)):
            yield from _calls_of(value[key], known, marked)
            return
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if not name:
        return
    given = next((key for key in _ARGUMENT_KEYS if key in value), None)
    if given is None and name in known:
        arguments: Any = {key: part for key, part in value.items() if key not in _NAME_KEYS}
    else:
        arguments = read_arguments(value[given]) if given else {}
    if name in known or marked or given:
        yield ToolCall(new_id(), name, arguments)


def read_arguments(value: Any) -> dict[str, Any]:
    """Return a call's arguments as an object: missing, null and empty ones are {}.

    Text is read as JSON. Raises MalformedError when it is not an object.
    """
    if isinstance(value, str) and value.strip():
        value = read_json(value)
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise MalformedError("malformed JSON: the arguments are not an object")
    return value
