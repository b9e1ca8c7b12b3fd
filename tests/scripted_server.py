# SPDX-License-Identifier: GPL-2.0-or-later
"""A loopback HTTP server that plays a script: it fails on a request that no step awaits, on a
step that no request took, and on a request that breaks the protocol."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Union

BREAK = None
"""In a step: close the connection in the middle of the body."""

Piece = Union[bytes, float, None]


@dataclass(frozen=True)
class Step:
    """One scripted answer to a chat request: pieces of the body, pauses in seconds, BREAK.

    `headers` are sent beside those of the body.
    """

    pieces: Sequence[Piece] = ()
    status: int = 200
    kind: str = "application/json"
    headers: Sequence[tuple[str, str]] = ()


@dataclass
class ScriptedServer:
    """Plays `steps` to requests for the chat pages; `requests` keeps what was asked."""

    steps: list[Step] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    chat_paths: tuple[str, ...] = ()

    def __enter__(self) -> ScriptedServer:
        owner = self

        class Handler(_Handler):
            script = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if kind is None:
            assert not self.faults, self.faults
            assert not self.steps, f"{len(self.steps)} steps were not asked for"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def place(self) -> str:
        return self.address[len("http://") :]

    def page(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Answer a page outside of the script."""
        return 404, {"error": "not found"}

    def breach(self, body: dict[str, Any]) -> str:
        """Return what breaks the protocol in a chat request, or ""."""
        return ""

    def next_step(self, body: dict[str, Any]) -> Step:
        self.requests.append(body)
        wrong = self.breach(body)
        if not wrong and not self.steps:
            wrong = "an unexpected request"
        if wrong:
            self.faults.append(wrong)
            return Step([json.dumps({"error": wrong}).encode()], status=400)
        return self.steps.pop(0)


class _Handler(BaseHTTPRequestHandler):
    script: ScriptedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer(json.loads(raw or b"{}"))

    def _answer(self, body: dict[str, Any]) -> None:
        script = self.script
        script.paths.append(self.path)
        script.headers.append({key.lower(): value for key, value in self.headers.items()})
        try:
            if self.path in script.chat_paths:
                self._play(script.next_step(body))
            else:
                status, value = script.page(self.path, body)
                self._play(Step([json.dumps(value).encode()], status))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _play(self, step: Step) -> None:
        self.send_response(step.status)
        self.send_header("Content-Type", step.kind)
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in step.headers:
            self.send_header(name, value)
        self.end_headers()
        for piece in step.pieces:
            if piece is BREAK:
                self.close_connection = True
                return
            if isinstance(piece, bytes):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            else:
                time.sleep(piece)
        self.wfile.write(b"0\r\n\r\n")
