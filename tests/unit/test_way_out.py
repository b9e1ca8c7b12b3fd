# SPDX-License-Identifier: GPL-2.0-or-later
"""There is one way out of this machine: no module beside the transport reaches for the network."""

from __future__ import annotations

import ast
import re

import pytest
from source_tree import ROOT, imports, modules

REACHING = {
    "http", "socket", "ssl", "ftplib", "smtplib", "urllib.request", "httpx", "requests", "aiohttp",
    "ollama", "openai",
}  # fmt: skip
ALLOWED = {
    "plugin.llm.plain_exchange": {"http", "socket", "ssl"},  # without QGIS
    "plugin.llm.httpx_transport": {"httpx"},  # over an exchange
    "plugin.llm.ollama_client": {"httpx"},
    "plugin.llm.openai_client": {"httpx"},
    "plugin.llm.server": {"socket"},  # looks for a free port of this machine
    "plugin.llm.server_note": {"http"},  # asks our own server on this machine
    "plugin.dependency.wheel_source": {"urllib.request"},  # url2pathname alone
}
OF_QGIS = re.compile(
    r"Qgs(?:NetworkAccessManager|BlockingNetworkRequest|FileDownloader|NetworkContentFetcher\w*)"
    r"|QNetworkAccessManager|QTcpSocket|QWebSocket"
)
SENDS_BY_QGIS = {"plugin.llm.transport"}
READS_THE_PROXY = {"plugin.egress"}


def reached(name: str) -> str:
    top = name.partition(".")[0]
    return name if name == "urllib.request" else top


def test_no_module_imports_a_network_library_beside_those_that_may() -> None:
    wrong = [
        f"{module.name}:{one.line} imports {one.name}"
        for module in modules()
        for one in imports(module)
        if not one.own
        and not one.typing
        and reached(one.name) in REACHING
        and reached(one.name) not in ALLOWED.get(module.name, set())
    ]
    assert wrong == []


def test_the_list_of_those_that_may_is_no_longer_than_needed() -> None:
    found = {module.name: {reached(one.name) for one in imports(module)} for module in modules()}
    unused = {name: allowed - found.get(name, set()) for name, allowed in ALLOWED.items()}
    assert {name: left for name, left in unused.items() if left} == {}


def test_only_the_transport_sends_by_qgis_network() -> None:
    named = {module.name for module in modules() if OF_QGIS.search(module.source)}
    assert named == SENDS_BY_QGIS | READS_THE_PROXY


def test_a_transport_cannot_be_made_without_its_ward() -> None:
    tree = ast.parse((ROOT / "plugin" / "llm" / "transport.py").read_text(encoding="utf-8"))
    public = [
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]
    assert public == ["qgis_exchange"]


@pytest.mark.parametrize("word", [r"pypi\.org", r"pythonhosted", r"huggingface", r"npmjs"])
def test_no_source_names_the_host_of_a_registry(word: str) -> None:
    wrong = [m.name for m in modules() if re.search(word, m.source, re.IGNORECASE)]
    assert wrong == []
