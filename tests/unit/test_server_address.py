# SPDX-License-Identifier: GPL-2.0-or-later
"""Every form in which an address is typed leads to one place."""

from __future__ import annotations

import pytest

from geo_olm.plugin.llm.address import is_loopback, ollama_root, openai_base, shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.0.0.1",
        "127.0.0.1:11434",
        ":11434",
        "localhost",
        "0.0.0.0",
        "0.0.0.0:11434",
        "http://127.0.0.1:11434/",
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:11434/v1/chat/completions",
        "http://localhost:11434/api/chat",
        " 'http://localhost:11434' ",
    ],
)
def test_every_form_of_the_default_is_the_default(text: str) -> None:
    """Case A44."""
    assert ollama_root(text) == "http://127.0.0.1:11434"


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("box:1234", "http://box:1234"),
        ("https://models.example.org", "https://models.example.org"),
        ("https://models.example.org/ollama/api", "https://models.example.org/ollama"),
        ("http://[::1]:11434", "http://[::1]:11434"),
    ],
)
def test_another_ollama_keeps_its_place(text: str, root: str) -> None:
    assert ollama_root(text) == root


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("127.0.0.1:8090", "http://127.0.0.1:8090/v1"),
        ("http://127.0.0.1:8090/v1/", "http://127.0.0.1:8090/v1"),
        ("http://localhost:1234/v1/chat/completions", "http://127.0.0.1:1234/v1"),
        ("http://127.0.0.1:8090/v1/models", "http://127.0.0.1:8090/v1"),
        ("https://models.example.org/api/v1", "https://models.example.org/api/v1"),
        ("https://models.example.org/v1beta/openai/", "https://models.example.org/v1beta/openai"),
    ],
)
def test_an_openai_address_ends_in_its_version(text: str, base: str) -> None:
    assert openai_base(text) == base


@pytest.mark.parametrize("text", ["http://", "ftp://box", "http://box:port", "http:///v1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"address of a server|[Pp]ort"):
        openai_base(text)


def test_a_name_and_a_password_are_not_shown() -> None:
    assert shown("https://me:secret@models.example.org:8443/v1") == "models.example.org:8443"


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("127.0.0.1:1", True),
        ("http://localhost", True),
        ("http://[::1]:5", True),
        ("http://127.8.0.1", True),
        ("http://192.168.1.4", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_this_machine_is_told_from_others(text: str, local: bool) -> None:
    assert is_loopback(text) is local
