# SPDX-License-Identifier: GPL-2.0-or-later
"""What all tests share: the package's name, no network beyond loopback, and the marks."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
LONG = os.environ.get("GEO_OLM_LONG")  # "1": make test-long, "0": make test


def _register_package() -> None:
    """Import the project's root as geo_olm, whatever its folder is called."""
    if "geo_olm" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "geo_olm", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["geo_olm"] = module
    spec.loader.exec_module(module)


_register_package()


def _is_local(host: Any) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _guarded(call: Callable[..., Any], host_of: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*arguments: Any, **named: Any) -> Any:
        host = host_of(*arguments)
        if not _is_local(host):
            pytest.fail(f"a test reached for {host!r}; tests use no network beyond loopback")
        return call(*arguments, **named)

    return guarded


def _peer(sock: socket.socket, address: Any) -> Any:
    return address[0] if sock.family in (socket.AF_INET, socket.AF_INET6) else None


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Fail the test that connects to, or looks up, a host that is not this machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name), _peer))
        lookup = _guarded(socket.getaddrinfo, lambda host, *_rest: host)
        patch.setattr(socket, "getaddrinfo", lookup)
        yield


@pytest.fixture(params=["official", "stand-in"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ask models through the official clients, and then where none can be imported."""
    kind: str = request.param
    if kind == "stand-in":
        for name in ("ollama", "openai", "httpx"):
            monkeypatch.setitem(sys.modules, name, None)
    return kind


def _missing(item: pytest.Item) -> str:
    """Return why a test cannot or shall not run here, or an empty text."""
    if item.get_closest_marker("shared") and not SHARED.is_dir():
        return f"there is no folder {SHARED}"
    if item.get_closest_marker("long") and LONG != "1":
        return "a long form; make test-long runs it"
    if item.get_closest_marker("model") and LONG != "1":
        store = Path(os.environ.get("GEO_OLM_STORE", ""))
        if LONG == "0" or not any(store.glob("models/*.gguf")):
            return "needs a real model; make test-long brings one"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what is missing here."""
    for item in items:
        reason = _missing(item)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
