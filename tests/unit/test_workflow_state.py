# SPDX-License-Identifier: GPL-2.0-or-later
"""The workflow of states as data: what is refused, what follows what, and its diagram."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from agent_case import RESOURCES
from source_tree import ROOT

from geo_olm.plugin.agent.state import Workflow, WorkflowError, from_data, load

SMALL: dict[str, Any] = {
    "name": "small",
    "title": "A small one",
    "initial": "Init",
    "final": "End",
    "error": "Error",
    "intents": [{"name": "Count", "purpose": "how many", "value": True}],
    "states": [
        {"name": "Init", "purpose": "begin", "tools": [], "next": ["Work", "Error"]},
        {"name": "Work", "purpose": "do it", "tools": ["count", "answer"], "next": ["Work", "End"]},
        {"name": "Error", "purpose": "mend", "tools": [], "next": ["Work"]},
        {"name": "End", "purpose": "the end", "tools": [], "next": []},
    ],
}


def changed(*path: Any, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(SMALL)
    part: Any = data
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return data


def analysis() -> Workflow:
    return load(RESOURCES / "workflows" / "analysis.json")


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (changed("states", 1, "next", value=["Nowhere"]), "Nowhere"),
        (changed("states", 1, "name", value="Init"), "twice"),
        (changed("states", 3, "next", value=["Work"]), "End"),
        (changed("initial", value="Begin"), "Begin"),
        (changed("final", value="Stop"), "Stop"),
        (changed("error", value="Oh"), "Oh"),
        (changed("states", value=[]), "Init"),
        ({key: value for key, value in SMALL.items() if key != "states"}, "states"),
        (changed("states", 1, value={"name": "Work"}), "purpose"),
        (changed("states", value=None), "lacks a part"),
    ],
)
def test_a_broken_workflow_is_refused_with_the_part_that_is_wrong(
    data: dict[str, Any], named: str
) -> None:
    with pytest.raises(WorkflowError, match=named):
        from_data(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"a"'])
def test_a_file_that_is_no_workflow_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "flow.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WorkflowError):
        load(path)


def test_a_workflow_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    workflow = load(path)
    assert workflow.stages == ("Init", "Work", "End")
    assert [state.name for state in workflow.reachable("Work")] == ["Work"]
    assert [state.name for state in workflow.reachable("Error")] == ["Work"]
    assert (workflow.home("count"), workflow.home("nothing")) == ("Work", "")
    intent = workflow.intent("Count")
    assert intent is not None
    assert intent.value
    assert workflow.intent("Dream") is None


def test_a_state_that_is_not_there_is_named() -> None:
    with pytest.raises(WorkflowError, match="Dream"):
        from_data(SMALL).state("Dream")


def test_a_tool_that_two_states_offer_is_at_home_in_the_last() -> None:
    data = changed("states", 0, "tools", value=["answer"])
    assert from_data(data).home("answer") == "Work"


def test_the_plugins_workflow_has_the_stages_of_the_paper() -> None:
    workflow = analysis()
    assert workflow.stages == ("Init", "Load", "Filter", "Analyse", "Map", "Answer", "End")
    assert (workflow.initial, workflow.final, workflow.error) == ("Init", "End", "Error")


def test_from_every_state_of_the_plugins_workflow_the_end_can_be_reached() -> None:
    workflow = analysis()
    for state in workflow.states:
        seen, waiting = set(), [state.name]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += workflow.state(name).next
        assert workflow.final in seen, state.name


def test_every_state_that_works_may_fail_into_the_error_state() -> None:
    workflow = analysis()
    without = [state.name for state in workflow.states if state.next and state.name != "Error"]
    assert [name for name in without if "Error" not in workflow.state(name).next] == []


def test_the_diagram_draws_every_transition_once() -> None:
    lines = from_data(SMALL).diagram().splitlines()
    assert lines == [
        "stateDiagram-v2",
        "    [*] --> Init",
        "    Init --> Work",
        "    Init --> Error",
        "    Work --> Work",
        "    Work --> End",
        "    Error --> Work",
        "    End --> [*]",
    ]


def test_the_diagram_of_the_plugins_workflow_stands_in_contributing() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"```mermaid\n{analysis().diagram()}\n```" in text


PAPERS = ("remote_sensing", "multi_scope", "earthquake")


def of_papers(name: str) -> Workflow:
    return load(ROOT / "resources" / "workflows" / f"{name}.json")


@pytest.mark.parametrize("name", PAPERS)
def test_in_the_papers_workflows_every_state_ends_and_may_fail(name: str) -> None:
    workflow = of_papers(name)
    assert workflow.name == name
    for state in workflow.states:
        seen, waiting = set(), [state.name]
        while waiting:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                waiting += workflow.state(at).next
        assert workflow.final in seen, state.name
        if state.next and state.name != workflow.error:
            assert workflow.error in state.next


def test_the_papers_workflows_have_the_states_of_the_papers() -> None:
    assert of_papers("remote_sensing").stages == ("Init", "Load", "Filter", "Detect", "Map", "End")
    assert of_papers("earthquake").stages == (
        "Init", "Load", "Filter", "Detect", "Correlate", "Answer", "End",
    )  # fmt: skip
    several = of_papers("multi_scope")
    assert [one.name for one in several.intents] == [
        "Vision", "Agriculture", "Climate", "Urban", "Forest",
    ]  # fmt: skip


@pytest.mark.parametrize("intent", ["Vision", "Agriculture", "Climate", "Urban", "Forest"])
def test_an_intent_takes_the_place_of_the_detecting_state(intent: str) -> None:
    workflow = of_papers("multi_scope")
    after = [state.name for state in workflow.reachable("Filter", intent)]
    assert after == ["Load", "Filter", intent, "Map"]
    assert len(workflow.reachable("Filter")) == 8


def test_a_state_for_an_intent_that_is_not_there_is_refused() -> None:
    data = changed("states", 0, "intent", value="Dream")
    with pytest.raises(WorkflowError, match='for the intent "Dream"'):
        from_data(data)
