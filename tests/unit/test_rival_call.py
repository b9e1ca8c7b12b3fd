# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of each method against the formula of its description, and how each one ends."""

from __future__ import annotations

import json

import pytest
from plain_toolbox import made
from rival_case import REFUSED, RESOURCES, TEAM, TWO, play, toolbox

from geo_olm.plugin.agent.event import Reflected, Status
from geo_olm.plugin.agent.limit import Limits
from geo_olm.plugin.agent.message import Role
from geo_olm.plugin.evaluation.rival import example
from geo_olm.plugin.evaluation.rival.ask import Ask
from geo_olm.plugin.evaluation.rival.catalog import RIVALS
from geo_olm.plugin.evaluation.rival.desk import Mode
from geo_olm.tools.base import MendableError

K = 2
"""Replies with calls: filter by the database agent, count by the data agent."""

REQUESTS = {
    "geoflow": 1 + (1 + 1) + (1 + 1),
    "flow": 1 + 1 + (1 + 1) + (1 + 1),
    "geollm-qa": K + 1,
    "react": K + 1,
    "react-errtrm": K + 1 + 0 + 1,
    "squad": 1 + (1 + 1) + (1 + 1) + 1,
    "squad-errtrm": 1 + (1 + 1) + (1 + 1) + 1 + 1,
    "chameleon": 1 + K + 1,
    "magentic": 2 + 2 * (1 + 1 + 1) + 1 + 1,
    "group-chat": 2 * (1 + 1 + 1) + 1,
    "sequential": 4 + K,
    "swarm": K + 1 + 1,
    "stateflow": 1 + K + 1,
}
"""swarm hands over once; stateflow looks at the layers before it works."""


def test_every_rival_of_the_papers_has_a_formula() -> None:
    assert set(REQUESTS) == set(RIVALS)


@pytest.mark.parametrize("name", list(REQUESTS))
def test_a_run_without_faults_takes_the_requests_of_the_formula_and_is_right(name: str) -> None:
    found = play(name)
    assert len(found.requests) == REQUESTS[name]
    assert found.end.status is Status.OK, found.end.answer
    assert found.end.value == 5
    calls = [one for one in found.calls if one not in ("answer", "list_layers")]
    assert calls == ["filter", "count"]


@pytest.mark.parametrize("name", list(REQUESTS))
def test_every_method_can_reject_with_a_reason(name: str) -> None:
    found = play(name, REFUSED)
    assert found.end.status is Status.REJECTED
    assert found.end.reason == "there are no roads"


@pytest.mark.parametrize("name", ["react", "react-errtrm", "squad", "squad-errtrm"])
@pytest.mark.parametrize("mode", list(Mode))
def test_react_and_squad_run_in_both_modes(name: str, mode: Mode) -> None:
    found = play(name, mode=mode)
    assert found.end.value == 5
    native = [one for one in found.requests if one.tools]
    assert bool(native) is (mode is Mode.CHAT)
    shown = [one for one in found.requests if "- count(layer, where?)" in one.messages[0].content]
    assert bool(shown) is (mode is Mode.TEXT)


def test_tools_are_the_toolboxs_and_never_a_schema_for_each_algorithm() -> None:
    (first, *_) = play("geollm-qa").requests
    assert {one.name for one in first.tools} == {one.name for one in toolbox().definitions()}


def test_an_agent_of_a_team_sees_its_own_tools_only() -> None:
    offered = [sorted(one.name for one in request.tools) for request in play("sequential").requests]
    assert offered[0] == ["filter", "layer_info", "list_layers"]
    assert ["count", "statistics"] in offered
    assert not any("answer" in names for names in offered)


def fails_once() -> object:
    return toolbox(count=[MendableError("There is no layer r9."), made("count = 5.", count=5)])


WRONG = '{"tool": "count", "arguments": {"layr": "r1"}}'


def test_an_error_takes_one_more_request_in_react_and_a_reflection_in_react_errtrm() -> None:
    plain = play("react", tools=fails_once(), instead={1: WRONG})
    assert len(plain.requests) == (K + 1) + 1
    mended = play("react-errtrm", tools=fails_once(), instead={1: WRONG})
    assert len(mended.requests) == K + 1 + 1 + 1
    assert [one.text for one in mended.events if isinstance(one, Reflected)] == ['{"layer": "r1"}']
    assert (plain.end.value, mended.end.value) == (5, 5)


def test_a_reflection_stands_alone_outside_the_running_chat() -> None:
    found = play("react-errtrm", tools=fails_once(), instead={1: WRONG})
    reflecting = found.requests[2]
    assert reflecting.messages[0].content.startswith("SELF-REFLECT.")
    assert [one.role for one in reflecting.messages] == [Role.USER]
    assert [one.name for one in reflecting.tools] == ["count"]


def test_specialists_of_squad_reflect_in_squad_errtrm_alone() -> None:
    plain = play("squad", tools=fails_once(), instead={3: WRONG})
    mended = play("squad-errtrm", tools=fails_once(), instead={3: WRONG})
    assert not any(one.startswith("SELF-REFLECT.") for one in plain.prompts())
    assert len(mended.requests) == REQUESTS["squad-errtrm"] + 1


def test_an_early_end_is_noticed_by_the_confirmation_alone() -> None:
    plain = play("react", fault="early_end=1")
    assert plain.end.value is None
    assert len(plain.requests) == 1
    confirmed = play("react-errtrm", instead={0: "That is done."})
    assert confirmed.end.value == 5
    assert len(confirmed.requests) == 1 + 1 + (K + 1) + 1


def test_a_reply_that_makes_up_its_observation_is_cut_and_its_first_action_counts() -> None:
    text = (
        'Thought: a\nAction: {"tool": "filter", "arguments": {"layer": "countries", '
        '"where": "POP > 1"}}\nObservation: r1: 900 features\nThought: b\n'
        'Action: {"tool": "answer", "arguments": {"text": "900"}}'
    )
    found = play("react", instead={0: text})
    assert found.end.value == 5
    assert "900" not in found.requests[1].messages[-2].content


def test_a_call_that_cannot_be_read_is_asked_for_again_twice_and_no_more() -> None:
    found = play("react", fault="malformed=1")
    assert len(found.requests) == 3
    assert "could not be read" in found.prompts()[1]


def test_squad_revises_its_schedule_only_after_it_has_run_whole() -> None:
    first = json.dumps([{"agent": "database_agent", "task": "pick the big ones"}])
    found = play("squad", instead={0: first})
    kinds = [Ask.of(one) for one in found.prompts()]
    assert [one for one in kinds if one] == [Ask.SCHEDULE, Ask.VERDICT] * 2
    assert len(found.requests) == (1 + 2 + 1) + (1 + 2 + 1)
    assert found.end.value == 5
    assert "count was not called" in found.prompts()[4]


def test_squad_gives_up_after_three_schedules() -> None:
    found = play("squad", instead=dict.fromkeys(range(9), "no idea"))
    assert found.end.status is Status.FAILED
    assert len(found.requests) == 3 * (1 + 1)


def test_chameleon_takes_its_default_modules_for_a_plan_that_is_none() -> None:
    found = play("chameleon", instead={0: '["answer_generator", "count"]'})
    assert found.calls == ["list_layers"]
    assert len(found.requests) == 1 + 2 + 1


def test_chameleon_ends_at_the_first_error_and_plans_nothing_again() -> None:
    found = play("chameleon", tools=toolbox(filter=[MendableError("No field POP.")]))
    assert (found.end.status, found.end.reason) == (Status.FAILED, "Error: No field POP.")
    assert len(found.requests) == 1 + 1


def test_magentic_tries_ten_times_for_a_ledger_and_then_stops() -> None:
    found = play("magentic", instead=dict.fromkeys(range(2, 12), "satisfied, I think"))
    assert found.end.status is Status.FAILED
    assert len(found.requests) == 2 + 10


def test_magentic_stops_at_an_unknown_speaker_and_at_a_missing_key() -> None:
    assert "unknown speaker" in play("magentic", fault="unknown_tool=1").end.reason
    assert "lacks next_speaker" in play("magentic", fault="wrong_argument=1").end.reason


def test_magentic_plans_anew_after_three_stalls() -> None:
    answers = {
        "is_request_satisfied": False,
        "is_in_loop": True,
        "is_progress_being_made": False,
        "next_speaker": "map_agent",
        "instruction_or_question": "Zoom.",
    }
    stalled = json.dumps({key: {"reason": "", "answer": one} for key, one in answers.items()})
    found = play("magentic", instead=dict.fromkeys((2, 4, 6), stalled))
    kinds = [Ask.of(one) for one in found.prompts()]
    assert kinds[:2] == kinds[7:9] == [Ask.FACTS, Ask.PLAN]
    assert kinds[2:7:2] == [Ask.LEDGER] * 3
    assert len(found.requests) == 2 + 2 * (1 + 1) + 1 + REQUESTS["magentic"]
    assert found.end.value == 5


def test_magentic_hides_tool_calls_from_the_orchestrator() -> None:
    found = play("magentic")
    ledgers = [one for one in found.requests if "LEDGER." in one.messages[-1].content]
    assert len(ledgers) == 3
    assert not any(one.role is Role.TOOL for request in ledgers for one in request.messages)


def test_group_chat_loses_a_round_without_an_agent_and_ends_after_eleven() -> None:
    found = play("group-chat", instead={0: "the database agent"})
    assert len(found.requests) == 1 + REQUESTS["group-chat"]
    lost = play("group-chat", instead=dict.fromkeys(range(20), "nobody"))
    assert len(lost.requests) == 11
    assert lost.end.status is Status.FAILED


def test_sequential_restarts_once_after_an_error() -> None:
    found = play("sequential", instead={0: "I cannot.\nERROR"})
    assert found.end.value == 5
    assert len(found.requests) == 1 + REQUESTS["sequential"]
    assert len(play("sequential", instead=dict.fromkeys(range(9), "ERROR")).requests) == 2


def test_swarm_hands_over_by_a_call_and_changes_its_instructions() -> None:
    found = play("swarm")
    systems = [one.messages[0].content.split(" in a team")[0] for one in found.requests]
    assert systems == ["You are database_agent"] * 2 + ["You are data_agent"] * 2
    assert len(found.requests) == K + 1 + 1


def test_swarm_tells_an_unknown_tool_and_goes_on() -> None:
    call = json.dumps({"name": "fly", "arguments": {}})
    found = play("swarm", instead={0: f"<tool_call>{call}</tool_call>"})
    assert found.end.value == 5


def test_stateflow_moves_by_the_last_outcome_alone() -> None:
    found = play("stateflow", tools=fails_once())
    stages = [one.stage for one in found.events if type(one).__name__ == "StageChanged"]
    assert stages == ["Observe", "Solve", "Verify", "Error", "Verify"]
    assert found.end.value == 5


def test_stateflow_filters_tools_by_state_or_hints() -> None:
    def first(exposure: str) -> set[str]:
        return {one.name for one in play("stateflow", exposure=exposure).requests[0].tools}

    assert first("filter") == {"list_layers", "layer_info", "reject"}
    assert first("hint") == {one.name for one in toolbox().definitions()}


@pytest.mark.parametrize("name", list(REQUESTS))
def test_all_methods_end_at_the_same_number_of_steps(name: str) -> None:
    found = play(name, limits=Limits(steps=1))
    assert found.end.status in (Status.FAILED, Status.OK)
    assert len([one for one in found.calls if one != "answer"]) <= 1


def test_a_stop_ends_a_method_as_cancelled() -> None:
    assert play("magentic", cancelled=lambda: True).end.status is Status.CANCELLED


def test_examples_name_known_agents_and_end_with_an_answer_or_a_refusal() -> None:
    bank = example.load(RESOURCES / "evaluation" / "examples.json")
    assert len(bank.examples) >= 12
    for worked in bank.examples:
        *steps, last = worked.example.steps
        assert last.tool in ("answer", "reject")
        assert all(TEAM.owner(step.tool) for step in steps)
        assert len(worked.thoughts) == len(worked.example.steps)


def test_the_chain_of_the_case_is_one() -> None:
    assert [step.tool for step in TWO.work] == ["filter", "count"]


def test_geoflow_and_flow_try_three_times_for_a_graph_and_then_stop() -> None:
    for name in ("geoflow", "flow"):
        found = play(name, instead=dict.fromkeys(range(9), "no idea"))
        assert (found.end.status, len(found.requests)) == (Status.FAILED, 3)
    lost = play("geoflow", instead={0: "no idea"})
    assert (lost.end.value, len(lost.requests)) == (5, 1 + REQUESTS["geoflow"])


def test_flow_tries_three_times_for_the_agents_and_geoflow_wants_them_in_the_graph() -> None:
    found = play("flow", instead=dict.fromkeys(range(1, 9), '{"task1": "nobody"}'))
    assert (found.end.status, len(found.requests)) == (Status.FAILED, 1 + 3)
    assert play("geoflow", fault="unknown_tool=1").end.status is Status.FAILED
    assert play("flow", fault="wrong_argument=1").end.status is Status.FAILED


def test_geoflow_works_in_the_order_of_the_links_with_each_agents_own_tools() -> None:
    tasks = {
        "task1": {"objective": "Count.", "agent": "data_agent", "prev": ["task2"], "next": []},
        "task2": {"objective": "Pick.", "agent": "database_agent", "prev": [], "next": ["task1"]},
    }
    found = play("geoflow", instead={0: json.dumps({"tasks": tasks})})
    assert found.end.value == 5
    offered = [sorted(one.name for one in request.tools) for request in found.requests[1:]]
    assert offered == [["filter", "layer_info", "list_layers"]] * 2 + [["count", "statistics"]] * 2
    ring = {key: {**one, "prev": ["task1", "task2"]} for key, one in tasks.items()}
    lost = play("geoflow", instead=dict.fromkeys(range(9), json.dumps({"tasks": ring})))
    assert lost.end.status is Status.FAILED
