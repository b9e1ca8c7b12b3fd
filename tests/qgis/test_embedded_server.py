# SPDX-License-Identifier: GPL-2.0-or-later
"""The embedded server: started, shared, found again after a crash, and ended."""

from __future__ import annotations

import itertools
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
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
if "--list-devices" in words:
    print({listed!r})
    sys.exit(0)
if "--help" in words:
    print({helped!r})
    sys.exit(0)
with open({starts!r}, "a") as starts:
    starts.write(json.dumps(words[1:]) + "\\n")
on_card = "--n-gpu-layers" in words
if on_card and {card_fails}:
    print("ErrorOutOfDeviceMemory: failed to load model", file=sys.stderr)
    sys.exit(1)
if on_card:
    print("load_tensors: offloaded {layers} layers to GPU", file=sys.stderr)
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

    def program(self, **given: object) -> Path:
        path = self.folder / "stand-in server"
        usual = {
            "delay": 0.3, "stubborn": False, "fails": False, "said": "hello", "listed": "",
            "helped": "", "card_fails": False, "layers": "29/29",
        }  # fmt: skip
        starts = str(self.folder / "starts")
        path.write_text(STAND_IN.format(python=sys.executable, starts=starts, **{**usual, **given}))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def plan(self, program: Path, name: str = "tiny", context: int = 2048) -> ServerPlan:
        return ServerPlan(program, self.model, name, context)

    def server(self, program: Path, **plan: object) -> EmbeddedServer:
        made = EmbeddedServer(self.plan(program, **plan), self.folder / "run")  # type: ignore[arg-type]
        self.made.append(made)
        return made

    def starts(self) -> list[list[str]]:
        """Return the words that each start of the program was given."""
        return [json.loads(line) for line in (self.folder / "starts").read_text().splitlines()]

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


CARD = "Available devices:\n  CUDA0: NVIDIA RTX A2000 (4096 MiB, 3500 MiB free)\n"
FITS = "--n-gpu-layers N  layers in VRAM, a number, 'auto' or 'all' (default: auto)"


def test_without_a_card_nothing_is_said_of_one(bench: Bench) -> None:
    server = bench.server(bench.program(listed="Available devices:\n  (none)\n"))
    server.start()
    assert (server.residence, server.told()) == ("on the processor", ())
    assert "--n-gpu-layers" not in bench.starts()[0]


def test_a_card_takes_all_layers_and_it_is_said(bench: Bench) -> None:
    server = bench.server(bench.program(listed=CARD, helped=FITS))
    server.start()
    assert server.residence == "all 29 layers on NVIDIA RTX A2000"
    assert server.told() == ()
    words = bench.starts()[0]
    assert words[words.index("--n-gpu-layers") + 1] == "auto"
    assert bench.note()["lies"] == server.residence
    server.stop()
    assert server.residence == ""


def test_a_card_that_is_too_small_takes_a_part_and_it_is_told_once(bench: Bench) -> None:
    server = bench.server(bench.program(listed=CARD, helped=FITS, layers="12/29"))
    server.start()
    assert server.residence == "12 of 29 layers on NVIDIA RTX A2000"
    (remark,) = server.told()
    assert remark.text.startswith("Only 12 of 29 layers on NVIDIA RTX A2000 fit")
    assert remark.warning
    assert server.told() == ()


def test_an_older_program_is_told_how_many_layers(bench: Bench) -> None:
    server = bench.server(bench.program(listed=CARD, helped="--n-gpu-layers N"))
    server.start()
    words = bench.starts()[0]
    assert words[words.index("--n-gpu-layers") + 1] == "1"  # the tiny model has only its output


def test_a_start_that_fails_on_the_card_goes_on_on_the_processor(bench: Bench) -> None:
    server = bench.server(bench.program(listed=CARD, helped=FITS, card_fails=True))
    server.start()
    assert server.residence == "on the processor"
    (remark,) = server.told()
    assert remark.text == (
        "The model could not be started on NVIDIA RTX A2000, so it runs on the processor and is "
        "slower. server.log.1 tells why."
    )
    assert "ErrorOutOfDeviceMemory" in server.log.with_name("server.log.1").read_text()
    assert bench.starts()[1][-2:] == ["--device", "none"]
    server.stop()
    server.start()
    assert len(bench.starts()) == 3  # the card is not tried again
    assert server.told() == ()


def test_a_user_who_wants_no_card_gets_none(bench: Bench) -> None:
    plan = replace(bench.plan(bench.program(listed=CARD, helped=FITS)), graphics=False)
    server = EmbeddedServer(plan, bench.folder / "run")
    bench.made.append(server)
    server.start()
    assert server.residence == "on the processor"
    assert bench.starts()[0][-2:] == ["--device", "none"]


OTHER_QGIS = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import conftest
from qgis.PyQt.QtCore import QCoreApplication
from geo_olm.plugin.llm.server import EmbeddedServer, ServerPlan
app = QCoreApplication([])
plan = ServerPlan(Path({program!r}), Path({model!r}), "tiny", 2048)
server = EmbeddedServer(plan, Path({folder!r}))
print("ready", flush=True)
sys.stdin.readline()
server.start()
print(server.pid, flush=True)
sys.stdin.readline()
server.stop()
"""


def test_two_programs_that_start_at_the_same_instant_get_one_server(bench: Bench) -> None:
    script = OTHER_QGIS.format(
        tests=str(Path(__file__).parent.parent), program=str(bench.program(delay=1.0)),
        model=str(bench.model), folder=str(bench.folder / "run"),
    )  # fmt: skip
    pipe = subprocess.PIPE
    others = [
        subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True)
        for _ in range(2)
    ]
    assert [told(other) for other in others] == ["ready", "ready"]
    for other in others:
        go_on(other)
    pids = {told(other) for other in others}
    starts = bench.starts()
    for other in others:
        other.communicate("\n", timeout=20)
    assert len(pids) == len(starts) == 1
    assert gone(int(pids.pop()))


def test_a_lock_that_a_crash_left_holds_nobody_up(bench: Bench) -> None:
    (bench.folder / "run").mkdir()
    lock = bench.folder / "run" / "server.lock"
    lock.write_text(f"{2**22 - 1}\nqgis\n{socket.gethostname()}\n")
    server = bench.server(bench.program())
    begun = time.monotonic()
    server.start()
    assert time.monotonic() - begun < 5
    assert not lock.exists()


def told(other: subprocess.Popen[str]) -> str:
    assert other.stdout is not None
    return other.stdout.readline().strip()


def go_on(other: subprocess.Popen[str]) -> None:
    assert other.stdin is not None
    other.stdin.write("\n")
    other.stdin.flush()
