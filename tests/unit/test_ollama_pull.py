# SPDX-License-Identifier: GPL-2.0-or-later
"""A model is pulled through Ollama: how far it is, a stop, and what can go wrong."""

from __future__ import annotations

import pytest
from fake_ollama import FakeOllama

from geo_olm.plugin.llm.base import ModelError, RunCancelled, ServerDown
from geo_olm.plugin.llm.progress import Progress, Speed
from geo_olm.plugin.llm.pull import OllamaPull

pytestmark = pytest.mark.usefixtures("client")


def test_a_pull_tells_bytes_and_ends_with_the_model_listed() -> None:
    with FakeOllama() as server:
        server.library = {"tiny:1b": 1000}
        told = list(OllamaPull(server.address).pull("tiny:1b"))
        assert "tiny:1b" in server.models
    shares = [item.percent for item in told if item.total]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 100.0)
    assert {item.doing for item in told} == {"Pulling", "Checking", "Finishing"}
    assert told[0] == Progress(0, 0, "Pulling")
    assert told[0].percent == -1


def test_a_pull_that_was_stopped_goes_on_from_where_it_was() -> None:
    with FakeOllama() as server:
        server.library, server.pull_pause = {"tiny:1b": 1000}, 0.03
        pull = OllamaPull(server.address)
        seen: list[int] = []
        steps = pull.pull("tiny:1b", lambda: bool(seen) and seen[-1] >= 300)
        with pytest.raises(RunCancelled):
            seen.extend(step.done for step in steps)
        assert seen[-1] >= 300
        assert server.pulled["tiny:1b"] < 1000
        assert "tiny:1b" not in server.models
        again = [step.done for step in pull.pull("tiny:1b") if step.total and step.done]
        assert again[0] > 300
        assert again[-1] == 1000


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("write /x: no space left on device", "The disk of Ollama at"),
        ("max retries exceeded: dial tcp: lookup x: no such host", "does not reach its library"),
        ("pull model manifest: 412: requires a newer version of Ollama", "needs a newer Ollama"),
        ("something else", "something else"),
    ],
)
def test_a_pull_that_fails_says_why(fault: str, told: str) -> None:
    with FakeOllama() as server:
        server.library, server.pull_fault = {"tiny:1b": 1000}, fault
        with pytest.raises(ModelError) as caught:
            list(OllamaPull(server.address).pull("tiny:1b"))
    assert told in f"{caught.value.message} {caught.value.detail}"


def test_an_unknown_name_and_a_closed_port_are_one_sentence() -> None:
    with FakeOllama() as server:
        pull = OllamaPull(server.address)
        with pytest.raises(ModelError, match=r"The library of Ollama has no model named qwen9\."):
            list(pull.pull("qwen9"))
    with pytest.raises(ServerDown, match="Ollama does not answer"):
        list(pull.pull("qwen9"))


def test_a_speed_is_of_the_last_seconds_and_starts_again() -> None:
    now = [0.0]
    speed = Speed(lambda: now[0])
    found = []
    for second, done in enumerate((0, 100, 200, 300, 1300, 2300, 3300, 4300, 5300)):
        now[0] = float(second)
        found.append(speed.taken(done))
    assert found[:4] == [0.0, 100.0, 100.0, 100.0]
    assert found[-1] == 1000.0
    now[0] = 9.0
    assert speed.taken(0) == 0.0
