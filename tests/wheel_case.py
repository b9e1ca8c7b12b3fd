# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiny wheels, a folder of them, and a loopback index that serves such a folder."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
import time
import zipfile
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TAG = "py3-none-any"


def make_wheel(
    folder: Path,
    name: str,
    version: str,
    requires: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
    tag: str = TAG,
    wrong: str = "",
) -> Path:
    """Write a wheel; a file named `wrong` gets another hash in the record than it has."""
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    held = {
        f"{name}/__init__.py": f'__version__ = "{version}"\n',
        **(files or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    rows = [f"{path},{_digest(text, path == wrong)},{len(text)}\n" for path, text in held.items()]
    held[f"{info}/RECORD"] = "".join(rows) + f"{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in held.items():
            archive.writestr(path, text)
    return wheel


def _digest(text: str, wrong: bool) -> str:
    data = text.encode() + (b"!" if wrong else b"")
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest}"


def client_wheels(folder: Path) -> Path:
    """Fill a folder with stand-ins for the packages that are wanted, and with odd ones."""
    ollama = {"ollama/_client.py": "class Client: pass\n"}
    make_wheel(folder, "ollama", "0.5.1", ["httpx>=0.27"], ollama)
    make_wheel(folder, "ollama", "0.6.3", ["httpx>=0.27", 'numpy; extra == "fast"'], ollama)
    make_wheel(folder, "ollama", "1.2.0", ["httpx>=0.27"], ollama)
    make_wheel(folder, "openai", "2.1.0", ["httpx<1,>=0.23", 'colorama; sys_platform == "none"'])
    make_wheel(folder, "httpx", "0.28.1", ["h11", "only-ours"])
    make_wheel(folder, "only_ours", "1.0")
    make_wheel(folder, "httpx", "1.0.0", ["h11"])
    make_wheel(folder, "h11", "0.16.0")
    make_wheel(folder, "h11", "9.9.9", tag="cp27-cp27m-win32")
    return folder


class LoopbackIndex(ThreadingHTTPServer):
    """Serves a folder of wheels by the simple repository interface; `spoil` names a file whose
    hash is told wrongly, `pause` waits before each file's second half."""

    daemon_threads = True

    def __init__(self, folder: Path, spoil: str = "", pause: float = 0.0) -> None:
        self.folder, self.spoil, self.pause = folder, spoil, pause
        self.paths: list[str] = []
        super().__init__(("127.0.0.1", 0), _IndexHandler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"

    def __enter__(self) -> LoopbackIndex:
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()

    def page(self, project: str) -> str:
        found = []
        for path in sorted(self.folder.glob("*.whl")):
            if re.sub(r"[-_.]+", "-", path.name.split("-")[0]).lower() != project:
                continue
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            digest = "0" * 64 if path.name == self.spoil else digest
            found.append(
                f'<a href="../../files/{path.name}#sha256={digest}" '
                f'data-requires-python="&gt;=3.6">{path.name}</a><br>'
            )
        return f"<!DOCTYPE html><html><body>{''.join(found)}</body></html>" if found else ""


class _IndexHandler(BaseHTTPRequestHandler):
    server: LoopbackIndex

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        index, parts = self.server, self.path.strip("/").split("/")
        index.paths.append(self.path)
        if parts[0] == "simple" and len(parts) == 2:
            body, kind = index.page(parts[1]).encode(), "text/html"
        elif parts[0] == "files":
            body, kind = (index.folder / parts[1]).read_bytes(), "application/octet-stream"
        else:
            body, kind = b"", "text/plain"
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2 if kind == "application/octet-stream" else 0
        try:
            self.wfile.write(body[:half])
            self.wfile.flush()
            time.sleep(index.pause if half else 0)
            self.wfile.write(body[half:])
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
