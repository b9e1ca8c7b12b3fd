# SPDX-License-Identifier: GPL-2.0-or-later
"""What the doctor noted of a model holds for these weights only, and guides the speaker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_speaker import ASKED, CHOICE, HELD, OneReply

from geo_olm.plugin.llm.base import ModelCard, Reply, Server
from geo_olm.plugin.llm.doctor_note import ModelNote, is_same, key_of, read_note
from geo_olm.plugin.llm.speaker import Mode, ModelSpeaker

NOTE = ModelNote("one", "abc", "2026-01-01T00:00:00Z", "Good", "native", 2048, "hint", 11, 12)
CARD = ModelCard("one", Server.OPENAI, "127.0.0.1:1", 4096, "abc")


def speaker(mode: str, note: ModelNote | None) -> tuple[ModelSpeaker, OneReply]:
    model = OneReply(Reply(HELD))
    return ModelSpeaker(model, mode, 512, 0.0, 7, lambda card: note), model


def test_a_note_comes_back_from_what_was_kept() -> None:
    assert read_note(NOTE.as_dict()) == NOTE


@pytest.mark.parametrize(
    "change",
    [{"mode": "magic"}, {"exposure": "auto"}, {"context": "2048"}, {"right": True}, {"date": 3}],
)
def test_a_note_that_is_not_whole_counts_as_none(change: dict[str, Any]) -> None:
    told = {**NOTE.as_dict(), **change}
    assert read_note(told) is None
    assert read_note({}) is None


def test_a_note_is_of_the_same_weights_only() -> None:
    assert is_same(NOTE, CARD)
    assert not is_same(NOTE, replace(CARD, digest="def"))
    assert not is_same(NOTE, replace(CARD, name="two"))
    assert key_of(CARD) == "openai 127.0.0.1:1 one"


def test_the_measured_mode_is_used_where_none_is_set() -> None:
    chosen, model = speaker("auto", NOTE)
    list(chosen.choose(ASKED, CHOICE, lambda: False))
    assert (bool(model.requests[0].tools), model.requests[0].schema) == (True, None)
    assert chosen.mode is Mode.NATIVE


def test_a_mode_that_was_set_stays() -> None:
    chosen, model = speaker("schema", NOTE)
    list(chosen.choose(ASKED, CHOICE, lambda: False))
    assert model.requests[0].schema


def test_a_measured_context_counts_where_it_is_smaller() -> None:
    assert speaker("auto", NOTE)[0].card().context == 2048
    assert speaker("auto", replace(NOTE, context=9999))[0].card().context == 4096
    assert speaker("auto", None)[0].card().context == 4096


def test_the_exposure_is_what_was_set_else_what_was_measured() -> None:
    assert speaker("auto", NOTE)[0].exposure("auto") == "hint"
    assert speaker("auto", NOTE)[0].exposure("filter") == "filter"
    assert speaker("auto", None)[0].exposure("auto") == "filter"
