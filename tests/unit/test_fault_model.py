# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripted model of faults: its rates, its draws, and what each fault looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rival_case import TEAM, TWO, play, toolbox

from geo_olm.plugin.agent.event import CallFinished, Status
from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.evaluation.fault_model import FaultModel
from geo_olm.plugin.evaluation.fault_rate import Fault, asked_for, draw, rates
from geo_olm.plugin.evaluation.model_name import is_scripted
from geo_olm.plugin.llm.base import ChatRequest, Choice, Reply, Spoken, ToolSpec
from geo_olm.plugin.llm.speaker import ModelSpeaker, reply_schema


def model(fault: str = "", seed: int = 1) -> FaultModel:
    return FaultModel(TWO, TEAM, rates(fault), seed, "T")


def tools() -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(one.name, "", one.parameters) for one in toolbox().definitions())


def reply(made: FaultModel, **request: Any) -> Reply:
    asked = ChatRequest((Message(Role.USER, "Question"),), **{"tools": tools(), **request})
    (found,) = made.chat(asked, lambda: False)
    assert isinstance(found, Reply)
    return found


def test_without_faults_it_calls_the_next_step_of_the_chain() -> None:
    made = model()
    (call,) = reply(made).calls
    assert (call.name, call.arguments) == ("filter", {"layer": "countries", "where": "POP > 1"})
    result = toolbox().run("filter", call.arguments, lambda done: None, lambda: False)
    made.note(CallFinished("1", call.name, call.arguments, True, "", 0.0, result))
    (following,) = reply(made).calls
    assert (following.name, following.arguments) == ("count", {"layer": "r1"})


def test_a_call_that_failed_or_was_another_does_not_take_it_on() -> None:
    made = model()
    (call,) = reply(made).calls
    made.note(CallFinished("1", call.name, call.arguments, False, "No layer.", 0.0))
    made.note(CallFinished("2", call.name, {"layer": "rivers"}, True, "", 0.0))
    assert reply(made).calls[0].name == "filter"


@pytest.mark.parametrize(
    ("kind", "name", "arguments"),
    [
        ("wrong_argument", "filter", {"input_data_1": "countries", "where": "POP > 1"}),
        ("unknown_tool", "do_the_task", {"layer": "countries", "where": "POP > 1"}),
        ("wrong_order", "count", {"layer": "big"}),
    ],
)
def test_each_fault_of_a_call_is_what_its_name_says(
    kind: str, name: str, arguments: dict[str, Any]
) -> None:
    (call,) = reply(model(f"{kind}=1")).calls
    assert (call.name, call.arguments) == (name, arguments)


def test_an_early_end_and_a_malformed_call_are_texts_without_a_call() -> None:
    assert reply(model("early_end=1")).text == "That is done."
    broken = reply(model("malformed=1"))
    assert not broken.calls
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(broken.text)


def test_a_loop_is_the_call_before_again_although_it_was_done() -> None:
    made = model("loop=1")
    (call,) = reply(made).calls
    made.note(CallFinished("1", call.name, call.arguments, True, "", 0.0))
    assert reply(made).calls[0].arguments == call.arguments


def test_what_a_schema_forbids_cannot_be_written() -> None:
    choice = Choice(toolbox().definitions(), toolbox().layers())
    for kind in ("wrong_argument", "unknown_tool", "malformed"):
        found = reply(model(f"{kind}=1"), tools=(), schema=reply_schema(choice))
        assert json.loads(found.text) == {
            "tool": "filter",
            "arguments": {"layer": "countries", "where": "POP > 1"},
        }
    early = reply(model("early_end=1"), tools=(), schema=reply_schema(choice))
    assert json.loads(early.text)["tool"] == "answer"


def test_a_speaker_reads_its_replies_in_every_mode() -> None:
    listing = "Tools:\n- filter(layer, where?): Does filter."
    for mode in ("schema", "native", "text"):
        speaker = ModelSpeaker(model(), mode, 256, 0.0, 1)
        messages = (Message(Role.SYSTEM, listing), Message(Role.USER, "Question"))
        choice = Choice(toolbox().definitions(), toolbox().layers())
        *_, spoken = speaker.choose(messages, choice, lambda: False)
        assert isinstance(spoken, Spoken)
        assert [one.name for one in spoken.calls] == ["filter"]


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    first, second = play("react", fault="0.6", seed=3), play("react", fault="0.6", seed=3)
    assert [one.messages for one in first.requests] == [one.messages for one in second.requests]
    runs = {tuple(play("react", fault="0.6", seed=seed).calls) for seed in range(12)}
    assert len(runs) > 1


def test_faults_come_at_the_stated_rates() -> None:
    stated = rates("loop=0.2 early_end=0.1")
    drawn = [stated.at(draw(5, "T", number)) for number in range(4000)]
    assert drawn.count(Fault.LOOP) / 4000 == pytest.approx(0.2, abs=0.03)
    assert drawn.count(Fault.EARLY_END) / 4000 == pytest.approx(0.1, abs=0.03)
    assert drawn.count(Fault.MALFORMED) == 0


def test_one_rate_is_shared_by_all_kinds() -> None:
    whole = rates("0.3")
    assert [share for _, share in whole.by_kind] == pytest.approx([0.05] * len(Fault))
    assert str(whole) == "0.3"
    assert str(rates("loop=0.5")) == "loop=0.5"
    assert (str(rates("0")), rates("0").at(0.0)) == ("0", None)


@pytest.mark.parametrize("text", ["2", "-0.1", "lots", "loop=0.7 malformed=0.7", "typo=0.1"])
def test_rates_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rate|Unknown fault"):
        rates(text)


def test_only_a_model_called_faults_is_the_scripted_one() -> None:
    assert asked_for("faults:0.2") == rates("0.2")
    assert asked_for("faults") == rates("")
    assert asked_for("qwen2.5:7b") is None


def test_its_name_says_that_it_is_no_model() -> None:
    name = model("0.2").card().name
    assert name == "faults 0.2 (no model)"
    assert is_scripted(name)
    assert not is_scripted("qwen2.5-coder")


def test_grounded_and_confirmed_methods_bear_early_ends_that_plain_ones_do_not() -> None:
    def right(name: str) -> int:
        ends = [play(name, fault="early_end=0.4", seed=seed).end for seed in range(20)]
        return sum(end.status is Status.OK and end.value == 5 for end in ends)

    assert right("react-errtrm") > right("react")
