# SPDX-License-Identifier: GPL-2.0-or-later
"""A loopback server of files that takes ranges, and breaks off, stalls or redirects when told."""

from __future__ import annotations

import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FileServer:
    """Serves `files` by path. `break_after` ends the next reply after so many bytes, once for
    each number; `pause` waits before each piece; `ranges` false answers with the whole file."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked: list[tuple[str, str]] = []
        self.break_after: list[int] = []
        self.redirects: dict[str, str] = {}
        self.pause = 0.0
        self.ranges = True

    def __enter__(self) -> FileServer:
        owner = self

        class Handler(_Handler):
            files = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    files: FileServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        owner, wanted = self.files, self.headers.get("Range", "")
        owner.asked.append((self.path, wanted))
        if self.path in owner.redirects:
            self._head(302, 0, {"Location": owner.redirects[self.path]})
            return
        data = owner.files.get(self.path)
        if data is None:
            self._head(404, 0, {})
            return
        found = re.fullmatch(r"bytes=(\d+)-", wanted) if owner.ranges else None
        start = int(found.group(1)) if found else 0
        if found and start >= len(data):
            self._head(416, 0, {"Content-Range": f"bytes */{len(data)}"})
            return
        more = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if found else {}
        self._head(206 if found else 200, len(data) - start, more)
        self._send(data[start:])

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, data: bytes) -> None:
        limit = self.files.break_after.pop(0) if self.files.break_after else len(data)
        sent = 0
        try:
            while sent < min(limit, len(data)):
                piece = data[sent : min(sent + 4096, limit)]
                self.wfile.write(piece)
                self.wfile.flush()
                sent += len(piece)
                time.sleep(self.files.pause)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True
