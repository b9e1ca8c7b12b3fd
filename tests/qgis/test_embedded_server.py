# SPDX-License-Identifier: GPL-2.0-or-later
"""The embedded server: started, shared, found again after a crash, and ended."""

from __future__ import annotations

import itertools
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geo_olm.plugin.llm import process
from geo_olm.plugin.llm.base import BrokenModelFile, ModelError, OutOfMemory, RunCancelled
from geo_olm.plugin.llm.server import EmbeddedServer, ServerKeeper, ServerPlan, arguments

pytestmark = pytest.mark.usefixtures("qgis_app")

# The shell starts Python, so that a blank in its path does no harm.
STAND_IN = """#!/bin/sh
''''exec "{python}" "$0" "$@" # '''
import json, signal, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
words = sys.argv
model, port = words[words.index("--model") + 1], int(words[words.index("--port") + 1])
ready = time.monotonic() + {delay}
if {stubborn}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print({said!r}, file=sys.stderr)
if {fails}:
    sys.exit(1)
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        self.send_response(200 if time.monotonic() > ready else 503)
        self.end_headers()
        self.wfile.write(json.dumps({{"model_path": model}}).encode())
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def tiny_model(folder: Path) -> Path:
    """Write the smallest file that passes for a whole model."""
    text = b"a"
    head = b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") + bytes(8)
    head += (1).to_bytes(8, "little") + text + (1).to_bytes(4, "little")
    head += (8).to_bytes(8, "little") + bytes(4) + bytes(8)
    path = folder / "tiny model.gguf"
    path.write_bytes(head + bytes(-len(head) % 32) + bytes(32))
    return path


class Bench:
    """Makes stand-in programs, and servers over them that are ended after the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = tiny_model(folder)
        self.made: list[EmbeddedServer] = []

    def program(
        self, delay: float = 0.3, stubborn: bool = False, fails: bool = False, said: str = "hello"
    ) -> Path:
        path = self.folder / "stand-in server"
        path.write_text(
            STAND_IN.format(
                python=sys.executable, delay=delay, stubborn=stubborn, fails=fails, said=said
            )
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def plan(self, program: Path, name: str = "tiny", context: int = 2048) -> ServerPlan:
        return ServerPlan(program, self.model, name, context)

    def server(self, program: Path, **plan: object) -> EmbeddedServer:
        made = EmbeddedServer(self.plan(program, **plan), self.folder / "run")  # type: ignore[arg-type]
        self.made.append(made)
        return made

    def note(self) -> dict[str, object]:
        value: dict[str, object] = json.loads((self.folder / "run" / "server.json").read_text())
        return value

    def forget(self, server: EmbeddedServer) -> int:
        """Leave a server behind as a crash would: running, its owner gone."""
        noted = {**self.note(), "owner": 2**22 - 1, "owner_birth": "1"}
        (self.folder / "run" / "server.json").write_text(json.dumps(noted))
        pid, server._running = server.pid, None
        return pid


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    for server in made.made:
        server.stop()


def gone(pid: int) -> bool:
    until = time.monotonic() + 5
    while process.alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not process.alive(pid)


def test_a_server_starts_says_how_long_and_ends(bench: Bench) -> None:
    server = bench.server(bench.program())
    waited = list(server.starting())
    assert waited == sorted(waited)
    assert waited[-1] > 0.1
    pid = server.pid
    assert process.alive(pid)
    assert server.address.startswith("http://127.0.0.1:")
    assert list(server.starting()) == []
    assert server.pid == pid
    assert "hello" in server.log.read_text()
    server.stop()
    assert gone(pid)
    assert not (bench.folder / "run" / "server.json").exists()


def test_a_server_that_will_not_end_is_killed(bench: Bench) -> None:
    server = bench.server(bench.program(stubborn=True))
    server.start()
    pid, begun = server.pid, time.monotonic()
    server.stop()
    assert 2.5 < time.monotonic() - begun < 5
    assert gone(pid)


def test_a_stop_while_loading_leaves_nothing(bench: Bench) -> None:
    server = bench.server(bench.program(delay=60))
    asked = itertools.count()
    with pytest.raises(RunCancelled):
        list(server.starting(lambda: next(asked) > 3))
    assert server.pid == 0
    assert not (bench.folder / "run" / "server.json").exists()


def test_equal_plans_share_a_server_and_starting_another_ends_it(bench: Bench) -> None:
    program = bench.program()
    keeper = ServerKeeper(bench.folder / "run")
    bench.made += [keeper.server(bench.plan(program, context=size)) for size in (2048, 4096)]
    one, other = bench.made
    one.start()
    assert keeper.server(bench.plan(program)) is one
    pid = one.pid
    assert keeper.server(bench.plan(program, context=4096)) is other
    assert process.alive(pid)
    other.start()
    assert gone(pid)
    pid = other.pid
    keeper.stop()
    assert gone(pid)


def test_two_threads_that_start_a_server_get_one(bench: Bench) -> None:
    server = bench.server(bench.program(delay=0.5))
    pids: list[int] = []

    def start() -> None:
        server.start()
        pids.append(server.pid)

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 3
    assert set(pids) == {server.pid}
    assert process.alive(server.pid)


def test_a_server_left_by_a_crash_is_taken_over(bench: Bench) -> None:
    program = bench.program()
    first = bench.server(program)
    first.start()
    pid = bench.forget(first)
    second = bench.server(program)
    second.start()
    assert second.pid == pid
    assert bench.note()["owner"] == os.getpid()
    second.stop()
    assert gone(pid)


def test_a_server_left_by_a_crash_with_another_model_is_ended(bench: Bench) -> None:
    program = bench.program()
    first = bench.server(program)
    first.start()
    pid = bench.forget(first)
    second = bench.server(program, name="other")
    second.start()
    assert second.pid != pid
    assert gone(pid)


def test_a_process_that_only_has_the_number_is_left_alone(bench: Bench) -> None:
    program = bench.program()
    first = bench.server(program)
    first.start()
    noted = {**bench.note(), "pid": os.getpid(), "owner": 2**22 - 1}
    (bench.folder / "run" / "server.json").write_text(json.dumps(noted))
    second = bench.server(program, name="other")
    second.start()
    assert process.alive(os.getpid())
    assert second.pid != first.pid


def test_a_server_in_use_elsewhere_is_shared_but_not_ended(bench: Bench) -> None:
    program = bench.program()
    first = bench.server(program)
    first.start()
    parent = os.getppid()
    noted = {**bench.note(), "owner": parent, "owner_birth": process.birth(parent)}
    (bench.folder / "run" / "server.json").write_text(json.dumps(noted))
    guest = bench.server(program)
    guest.start()
    assert guest.pid == first.pid
    guest.stop()
    assert process.alive(first.pid)
    with pytest.raises(ModelError, match="in use by another QGIS"):
        bench.server(program, name="other").start()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("error loading model: invalid magic", BrokenModelFile),
        ("ggml: failed to allocate buffer of size 9", OutOfMemory),
        ("unknown argument: --jinja", ModelError),
    ],
)
def test_a_server_that_ends_at_once_says_why(
    bench: Bench, said: str, kind: type[ModelError]
) -> None:
    with pytest.raises(kind) as caught:
        bench.server(bench.program(fails=True, said=said)).start()
    assert said in caught.value.detail


def test_a_broken_file_starts_nothing(bench: Bench) -> None:
    bench.model.write_bytes(b"GGUF")
    server = bench.server(bench.program())
    with pytest.raises(BrokenModelFile, match=r"tiny model\.gguf is not a complete model file"):
        server.start()
    assert not server.log.exists()


def test_a_program_that_cannot_run_is_named(bench: Bench) -> None:
    program = bench.folder / "no program"
    program.write_text("text")
    with pytest.raises(ModelError, match="no program"):
        bench.server(program).start()


def test_the_command_line_binds_to_this_machine_only(bench: Bench) -> None:
    words = arguments(bench.plan(Path("server")), 4321)
    assert words[words.index("--host") + 1] == "127.0.0.1"
    assert words[words.index("--parallel") + 1] == "1"
    assert words[words.index("--ctx-size") + 1] == "2048"
    assert "--jinja" in words
