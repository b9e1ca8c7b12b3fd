# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a server sends ends in a reply or in the plugin's own error, with a sentence, in time:
through both protocols, with the official clients and with those that stand in for them."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator

import fake_ollama
import fake_openai
import pytest
from fake_openai import DONE, FakeOpenAI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_server import BREAK, Piece, ScriptedServer, Step
from test_model_case import ASKED, Side

from geo_olm.plugin.llm import assembly
from geo_olm.plugin.llm.base import ChatRequest, Finish, ModelError, Reply, StreamBroken
from geo_olm.plugin.llm.watch import Watch, never

pytestmark = pytest.mark.usefixtures("client")

REQUEST = ChatRequest(ASKED)
LONG = os.environ.get("GEO_OLM_LONG")


@pytest.fixture(params=["ollama", "openai"])
def side(request: pytest.FixtureRequest) -> Iterator[Side]:
    made = Side(request.param)
    yield made
    for model in made.made:
        model.close()


def piece(side: Side, text: str) -> bytes:
    if side.name == "ollama":
        return fake_ollama.line(content=text)
    return fake_openai.chunk(content=text)


def end(side: Side) -> list[bytes]:
    if side.name == "ollama":
        return [fake_ollama.last()]
    return [fake_openai.chunk("stop"), fake_openai.counts(20, 5), DONE]


def stream(side: Side, pieces: list[Piece]) -> Step:
    return fake_ollama.stream(pieces) if side.name == "ollama" else fake_openai.stream(pieces)


def asked(side: Side, step: Step, watch: Watch | None = None) -> Reply:
    """Return the reply to one request; leftover steps are not a fault here."""
    with side.server(step) as server:
        try:
            *_, reply = side.model(server, watch=watch).chat(REQUEST, never)
        finally:
            server.steps.clear()
            server.faults.clear()
    assert isinstance(reply, Reply)
    return reply


def failed(side: Side, step: Step, watch: Watch | None = None) -> ModelError:
    """Return the error that a step ends in; its message is a sentence for people."""
    with pytest.raises(ModelError) as caught:
        asked(side, step, watch)
    message = caught.value.message
    assert message.endswith(".")
    assert "Traceback" not in message
    assert len(message) < 400
    return caught.value


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@pytest.mark.parametrize("body", [b'{"error": {"message": "no"}}', b"<html>no</html>", b"\xff"])
def test_every_status_is_one_sentence(side: Side, status: int, body: bytes) -> None:
    error = failed(side, Step([body], status))
    assert status == 404 or str(status) in error.detail or type(error) is not ModelError
    if status == 401:
        assert "refuses the key" in error.message
    if status == 429:
        assert "busy" in error.message
        assert error.retry


def test_a_server_that_loads_is_told_as_such(side: Side) -> None:
    body = json.dumps({"error": {"message": "Loading model"}}).encode()
    error = failed(side, Step([body], 503))
    assert "still loading" in error.message
    assert error.retry


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_the_question_nowhere_else(side: Side, status: int) -> None:
    with FakeOpenAI() as aim:
        place = f"{aim.address}/v1/chat/completions"
        failed(side, Step([b""], status, headers=[("Location", place)]))
    assert aim.paths == []


GARBAGE = {
    "bytes": b"\x00\xff\xfe\x80garbage\n\n",
    "no JSON": b"data: {broken\n\n",
    "half a line": b'{"message": {"content": "a"',
    "a page": b"<html><body>Welcome</body></html>\n",
    "a list": b"data: []\n\n[]\n",
    "a number": b"data: 17\n\n17\n",
    "null": b"data: null\n\nnull\n",
    "text": b'data: "hello"\n\n"hello"\n',
    "other members": b'data: {"foo": 1}\n\n{"foo": 1}\n',
    "wrong kinds": b'data: {"choices": 5}\n\n{"message": 5, "done": false}\n',
    "wrong members": b'data: {"choices": [{"delta": 5}]}\n\n{"message": {"content": 5}}\n',
    "wrong calls": b'data: {"choices": [{"delta": {"tool_calls": [5]}}]}\n\n'
    b'{"message": {"content": "", "tool_calls": [5]}, "done": false}\n',
    "deep": b'data: {"choices": ' + b"[" * 3000 + b"\n\n" + b'{"message": ' + b"[" * 3000 + b"\n",
}


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("content_type", ["", "text/html"])
def test_garbage_is_told_and_keeps_what_had_come(side: Side, kind: str, content_type: str) -> None:
    step = stream(side, [piece(side, "Half"), GARBAGE[kind]])
    step = Step(step.pieces, kind=content_type or step.kind)
    error = failed(side, step)
    assert isinstance(error, StreamBroken)
    assert error.partial in ("Half", "")


def test_a_whole_reply_under_a_wrong_type_is_taken(side: Side) -> None:
    step = stream(side, [piece(side, "Three."), *end(side)])
    assert asked(side, Step(step.pieces, kind="text/plain")).text == "Three."


@pytest.mark.parametrize("size", [1, 2, 3, 5, 17])
def test_a_reply_in_the_smallest_pieces_is_the_same(side: Side, size: int) -> None:
    """Letters of several bytes are cut in two as well."""
    whole = b"".join([piece(side, "Ölçü – "), piece(side, "日本 17"), *end(side)])
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert asked(side, stream(side, list(parts))).text == "Ölçü – 日本 17"


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9])
@pytest.mark.parametrize("how", ["closed", "ended"])
def test_a_cut_stream_is_never_taken_for_whole(side: Side, share: float, how: str) -> None:
    whole = b"".join([*(piece(side, f"word {at} ") for at in range(20)), *end(side)])
    until = int(len(whole.partition(b"stop")[0]) * share)
    parts: list[Piece] = [whole[:until]]
    error = failed(side, stream(side, [*parts, *([BREAK] if how == "closed" else [])]))
    assert isinstance(error, StreamBroken)


def test_a_connection_closed_before_its_first_byte_is_told(side: Side) -> None:
    assert failed(side, stream(side, [BREAK])).retry


def test_slow_bytes_are_awaited_and_silence_is_not(side: Side) -> None:
    """Case A46, in small."""
    watch = Watch(first_token_s=0.8, idle_s=0.8)
    slow: list[Piece] = [0.3, piece(side, "a"), 0.3, piece(side, "b"), 0.3, *end(side)]
    assert asked(side, stream(side, slow), watch).text == "ab"
    begun = time.monotonic()
    error = failed(side, stream(side, [piece(side, "Half"), 2.0, *end(side)]), watch)
    assert time.monotonic() - begun < 3.5
    assert isinstance(error, StreamBroken)
    assert error.partial == "Half"
    failed(side, stream(side, [2.0, *end(side)]), watch)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_load_of_40_seconds_and_a_word_each_5_pass_the_limits(side: Side, client: str) -> None:
    """Case A46 in full: the whole takes longer than any single limit."""
    if client == "stand-in":
        pytest.skip("the small form covers the client that stands in")
    slow: list[Piece] = [40.0]
    for at in range(12):
        slow += [piece(side, f"{at} "), 5.0]
    watch = Watch(first_token_s=60.0, idle_s=10.0)
    assert asked(side, stream(side, [*slow, *end(side)]), watch).text.split()[-1] == "11"
    error = failed(side, stream(side, [*(piece(side, "w ") for _ in range(3)), 30.0]), watch)
    assert isinstance(error, StreamBroken)
    assert error.partial == "w w w "


def test_a_reply_without_end_is_ended_as_cut(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server heeds no bound of tokens: what has come is kept, the rest is not awaited."""
    monkeypatch.setattr(assembly, "LONGEST", 10_000)
    pieces: list[Piece] = [piece(side, f"number {at}, ") for at in range(3_000)]
    begun = time.monotonic()
    reply = asked(side, stream(side, [*pieces, 5.0]))
    assert reply.finish is Finish.LENGTH
    assert 10_000 < len(reply.text) < 11_000
    assert time.monotonic() - begun < 5


def test_a_line_without_end_is_not_gathered_for_ever(
    side: Side, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if client == "official":
        pytest.skip("the official clients gather a line whatever its length")
    monkeypatch.setattr("geo_olm.plugin.llm.standin.LONGEST_LINE", 100_000)
    failed(side, stream(side, [b"data: " + b"x" * 60_000, b"x" * 60_000, *end(side)]))


def events(side: Side) -> st.SearchStrategy[bytes]:
    """Pieces of a stream, whole and broken, in any order."""
    known = [piece(side, "a"), *end(side), b"\n", b": ping\n\n", *GARBAGE.values()]
    return st.one_of(st.sampled_from(known), st.binary(max_size=12))


@pytest.mark.parametrize("name", ["ollama", "openai"])
def test_any_stream_ends_in_a_reply_or_in_our_own_error(name: str) -> None:
    """One server for all examples: each plays its own pieces."""
    own = Side(name)
    with own.server() as server:
        server.breach = lambda _: ""  # type: ignore[method-assign]
        model = own.model(server)
        model.card()

        @settings(
            max_examples=300 if LONG == "1" else 40,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(events(own), max_size=6))
        def holds(pieces: list[bytes]) -> None:
            server.steps = [stream(own, list(pieces)), stream(own, list(pieces))]
            with contextlib.suppress(ModelError):
                *_, reply = model.chat(REQUEST, never)
                assert isinstance(reply, Reply)
            server.steps = []

        holds()
        server.faults.clear()
        model.close()


def test_the_server_of_these_tests_is_strict(side: Side) -> None:
    """A step that nobody asks for is a fault: the tests above clear theirs on purpose."""
    with pytest.raises(AssertionError, match="not asked for"), side.server(side.said("a")):
        pass
    assert issubclass(FakeOpenAI, ScriptedServer)
