# SPDX-License-Identifier: GPL-2.0-or-later
"""Which hosts may be contacted: the offline lock and the consent of the user."""

from __future__ import annotations

import pytest

from geo_olm.plugin.llm.gate import ConsentNeeded, Gate, OfflineRefused, hosts_of, with_host

HERE = [
    "http://127.0.0.1:11434/api",
    "http://localhost/v1",
    "http://[::1]:8080/",
    "http://127.9.9.9",
]
ELSEWHERE = [
    ("https://api.example.org/v1/chat", "api.example.org"),
    ("http://192.168.1.5:11434/api/chat", "192.168.1.5:11434"),
    ("http://127.0.0.1@api.example.org/v1", "api.example.org"),
    ("http://localhost.example.org/v1", "localhost.example.org"),
    ("http://user:secret@api.example.org:8443/", "api.example.org:8443"),
    ("http://[2001:db8::7]:80/v1", "[2001:db8::7]:80"),
]


@pytest.mark.parametrize("url", HERE)
def test_this_machine_is_always_reached(url: str) -> None:
    Gate(offline=True).check(url, with_consent=True)


@pytest.mark.parametrize(("url", "host"), ELSEWHERE)
def test_offline_refuses_every_other_address_in_the_words_of_the_design(
    url: str, host: str
) -> None:
    gate = Gate(offline=True, allowed=frozenset({host}))
    for with_consent in (True, False):
        with pytest.raises(OfflineRefused) as caught:
            gate.check(url, with_consent)
        assert caught.value.message == f"Offline is on, so {host} was not contacted."


@pytest.mark.parametrize(("url", "host"), ELSEWHERE)
def test_a_model_elsewhere_needs_the_users_word_once(url: str, host: str) -> None:
    with pytest.raises(ConsentNeeded) as caught:
        Gate().check(url, with_consent=True)
    assert caught.value.host == host
    assert f"GEO_OLM_SET_ALLOWED_HOSTS={host}" in caught.value.message
    assert "secret" not in caught.value.message
    Gate().check(url, with_consent=False)
    Gate(allowed=hosts_of(with_host("", host))).check(url, with_consent=True)


def test_consent_to_one_port_is_none_to_another() -> None:
    gate = Gate(allowed=hosts_of("10.0.0.7:8080"))
    gate.check("http://10.0.0.7:8080/v1", with_consent=True)
    with pytest.raises(ConsentNeeded):
        gate.check("http://10.0.0.7:9090/v1", with_consent=True)


def test_hosts_are_read_from_lines_commas_and_addresses() -> None:
    text = "api.example.org\n10.0.0.7:8080, https://models.example.org/v1\nhttp://"
    assert hosts_of(text) == {"api.example.org", "10.0.0.7:8080", "models.example.org"}
    assert with_host("a.example", "b.example") == "a.example\nb.example"
    assert with_host("a.example", "a.example") == "a.example"
