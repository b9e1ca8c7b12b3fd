# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model layer adds to a call over the bare official clients, how fast replies are parsed,
and which share of the prompts the server's cache held.

Both sides send one request of ten messages to a server on loopback that answers at once with a
reply of 60 tokens; ours also builds the schema, keeps the ledger, and understands the reply.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fake_ollama import last, line
from fake_openai import DONE, chunk, counts
from measure import Figure, Pair, compare

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm import doctor_question
from geo_olm.plugin.llm.assembly import Assembly
from geo_olm.plugin.llm.base import Choice, Finish, Spoken, Usage
from geo_olm.plugin.llm.exchange import ExchangeFactory
from geo_olm.plugin.llm.gate import Gate
from geo_olm.plugin.llm.ledger import Ledger
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.openai import OpenAIModel, payload
from geo_olm.plugin.llm.speaker import ModelSpeaker
from geo_olm.plugin.llm.textcall import find_calls
from geo_olm.plugin.llm.transport import qgis_exchange
from geo_olm.plugin.llm.ward import Ward
from geo_olm.plugin.llm.watch import never

ROOT = Path(__file__).resolve().parent.parent.parent
SET = doctor_question.load(ROOT / "resources" / "doctor.json")
CHOICE = Choice(SET.tools, SET.layers)
TOKENS = 60
REASON = " ".join(f"word{at * 7919 % 1000:03d}" for at in range(40))
CALL = json.dumps({"tool": "reject", "arguments": {"reason": REASON}})
MEGABYTE = 1_000_000
SHARE_AIM = "aim: at most 5 %"


def messages() -> tuple[Message, ...]:
    """Return a conversation of ten messages, as long as in the middle of a question."""
    first = SET.messages(SET.questions[0], SET.tools)
    more = [Message(Role.ASSISTANT if at % 2 else Role.USER, "word " * 60) for at in range(7)]
    return (*first, *more, Message(Role.USER, SET.questions[1].text))


def pieces() -> list[str]:
    """Return a reply in as many pieces as it has tokens."""
    size = -(-len(CALL) // TOKENS)
    return [CALL[at : at + size] for at in range(0, len(CALL), size)]


class Instant(BaseHTTPRequestHandler):
    """Answers every request at once."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    replies: dict[str, tuple[str, bytes]]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer()

    def _answer(self) -> None:
        kind, body = self.replies.get(self.path, ("application/json", b"{}"))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def replies() -> dict[str, tuple[str, bytes]]:
    """Return what the server answers with, by page."""
    plain = "application/json"
    listed = {"models": [{"model": "m", "name": "m", "size": 1, "digest": "d"}]}
    return {
        "/v1/models": (plain, b'{"object": "list", "data": [{"id": "m", "object": "model"}]}'),
        "/v1/chat/completions": (
            "text/event-stream",
            b"".join([*(chunk(content=one) for one in pieces()), chunk("stop"), counts(900, 60)])
            + DONE,
        ),
        "/api/tags": (plain, json.dumps(listed).encode()),
        "/api/ps": (plain, b'{"models": []}'),
        "/api/show": (plain, b'{"capabilities": [], "model_info": {"a.context_length": 8192}}'),
        "/api/chat": (
            "application/x-ndjson",
            b"".join([*(line(content=one) for one in pieces()), last(prompt=900, made=60)]),
        ),
    }


@contextmanager
def served() -> Iterator[str]:
    """Give the address of a server that answers at once."""
    handler = type("Handler", (Instant,), {"replies": replies()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give a call through the layer, and through the bare clients. Main thread."""
    with ExitStack() as stack:
        address, exchange = _begun(stack)
        yield [
            ("model layer: a call, OpenAI protocol", *openai_sides(address, exchange, stack)),
            ("model layer: a call, Ollama protocol", *ollama_sides(address, exchange, stack)),
        ]


def _begun(stack: ExitStack) -> tuple[str, ExchangeFactory]:
    """Start the server; return its address and an exchange over QGIS with a ledger of its own."""
    address = stack.enter_context(served())
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return address, qgis_exchange(Ward(Gate(), Ledger(Path(folder))))


def openai_sides(
    address: str, exchange: ExchangeFactory, stack: ExitStack
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a call through our layer and one through the bare client; `stack` closes both."""
    import openai

    model = OpenAIModel(address, transport=exchange)
    speaker = ModelSpeaker(model, "schema", 512, 0.0, 7)
    bare = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    stack.callback(model.close)
    stack.callback(bare.close)
    name = model.card().name

    def theirs() -> str:
        body = payload(name, speaker._request(messages(), CHOICE), False)
        stream = bare.chat.completions.create(**body)
        return "".join(choice.delta.content or "" for part in stream for choice in part.choices)

    return lambda: spoken(speaker), theirs


def ollama_sides(
    address: str, exchange: ExchangeFactory, stack: ExitStack
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a call through our layer and one through the bare client; `stack` closes both."""
    import ollama

    model = OllamaModel(address, transport=exchange)
    speaker = ModelSpeaker(model, "schema", 512, 0.0, 7)
    bare = ollama.Client(host=address)
    stack.callback(model.close)
    stack.callback(bare.close)
    name = model.card().name

    def theirs() -> str:
        request = speaker._request(messages(), CHOICE)
        sent = [{"role": one.role.value, "content": one.content} for one in request.messages]
        options = {"num_ctx": 8192, "num_predict": 512, "temperature": 0.0, "seed": 7}
        parts = bare.chat(name, sent, stream=True, format=request.schema, options=options)
        return "".join(part.message.content or "" for part in parts)

    return lambda: spoken(speaker), theirs


def spoken(speaker: ModelSpeaker) -> Spoken:
    """Ask once and return what was understood. Raises ValueError when it was nothing."""
    *_, found = speaker.choose(messages(), CHOICE, never)
    if not isinstance(found, Spoken) or not found.calls:
        raise ValueError("the reply was not understood")
    return found


def figures() -> Iterator[Figure]:
    """Give what the layer adds as a share of a real reply, the cache's share, the parsers'
    throughput."""
    kept = json.loads(_kept().read_text(encoding="utf-8"))
    yield _added(kept)
    tokens = kept["summary"]["tokens"]
    share = 100 * tokens["cached"] / tokens["prompt"]
    yield (
        "model layer: prompt tokens from the server's cache", share, "%",
        f"aim: 80 %; kept results {_kept().name}",
    )  # fmt: skip
    yield from _throughput()


def _kept() -> Path:
    """Return the evaluation to read: RESULTS, else the one that is kept with the tests."""
    named = os.environ.get("RESULTS")
    return Path(named) if named else ROOT / "tests" / "results" / "gis_dev.geo-olm.1.5b.json"


def _added(kept: dict[str, Any]) -> Figure:
    """Compare what the layer adds with a reply: of a server that is there, else of kept runs."""
    with ExitStack() as stack:
        address, exchange = _begun(stack)
        row = compare(("", *openai_sides(address, exchange, stack)))
        real = os.environ.get("OPENAI_BASE_URL", "")
        if real:
            own, _ = openai_sides(real.removesuffix("/v1"), exchange, stack)
            seconds, note = _median_s(own), f"of a reply of the model at {real}"
        else:
            run = kept["summary"]
            seconds = TOKENS * run["seconds"]["model"] / run["tokens"]["generated"]
            note = f"of {seconds:.1f} s for {TOKENS} tokens, kept results {_kept().name}"
    added = row.ours - (row.theirs or 0.0)
    name = f"model layer: the {added:.0f} ms that it adds, as a share"
    return name, 100 * added / 1000 / seconds, "%", f"{SHARE_AIM}; {note}"


def _median_s(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _throughput() -> Iterator[Figure]:
    prose = "The buffer of 500 m covers 3.2 km of roads. " * (MEGABYTE // 44)
    calls = ('<tool_call>{"name": "count", "arguments": {"layer": "schools"}}</tool_call>\n'
             * (50_000 // 77))  # fmt: skip

    def streamed() -> None:
        assembly = Assembly(10 * MEGABYTE)
        for at in range(0, len(prose), 4):
            for _ in assembly.write(prose[at : at + 4]):
                pass
        list(assembly.flush())
        assembly.reply(Finish.STOP, Usage())

    for name, work, size in (
        ("model layer: a stream in pieces of 4 letters", streamed, len(prose)),
        ("model layer: finding calls in prose", lambda: find_calls(prose, ("count",)), len(prose)),
        ("model layer: finding 50 calls", lambda: find_calls(calls, ("count",)), len(calls)),
    ):
        yield name, size / 1e6 / _median_s(work), "MB/s", ""
