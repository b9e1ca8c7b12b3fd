# SPDX-License-Identifier: GPL-2.0-or-later
"""The workflow and the worked examples against the tools that there really are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from geo_olm.plugin.agent import example, state
from geo_olm.plugin.place import RESOURCES
from geo_olm.tools.catalog import build_registry

WORKFLOW = state.load(RESOURCES / "workflows" / "analysis.json")
BANK = example.load(RESOURCES / "workflows" / "examples.json")
REGISTRY = build_registry()
NAMES = [tool.name for tool in REGISTRY.definitions()]
STEPS = [
    pytest.param(item, step, id=f"{item.question[:30]}-{place}")
    for item in BANK.examples
    for place, step in enumerate(item.steps)
]


def test_every_tool_of_the_workflow_exists() -> None:
    named = {name for item in WORKFLOW.states for name in item.tools}
    assert named - set(NAMES) == set()


def test_every_tool_is_offered_by_some_state() -> None:
    assert [name for name in NAMES if not WORKFLOW.home(name)] == []


@pytest.mark.parametrize("item", BANK.examples, ids=lambda item: item.question[:40])
def test_an_example_has_a_known_intent_and_ends_the_question(item: example.Example) -> None:
    assert WORKFLOW.intent(item.intent) is not None
    assert item.steps[-1].tool in ("answer", "reject")
    assert all(step.result for step in item.steps[:-1]), "a step lacks its result"


@pytest.mark.parametrize(("item", "step"), STEPS)
def test_a_step_of_an_example_is_a_call_that_the_tools_take(
    item: example.Example, step: example.Step
) -> None:
    tool, _fitting = REGISTRY.prepare(step.tool, dict(step.arguments))
    assert step.tool == tool.definition.name
    assert step.tool in WORKFLOW.state(step.stage).tools
    order = list(tool.definition.parameters["properties"])
    given = list(step.arguments)
    assert given == [name for name in order if name in given]


@pytest.mark.parametrize(("item", "step"), STEPS)
def test_a_step_refers_only_to_results_of_steps_before(
    item: example.Example, step: example.Step
) -> None:
    before = "\n".join(one.result for one in item.steps[: item.steps.index(step)])
    known = {*re.findall(r"\b(r\d+):", before), *item.keys}
    named: list[Any] = [*step.arguments.get("layers", []), step.arguments.get("layer", "")]
    references = [str(step.arguments.get("value", "")).partition(".")[0], *named]
    used = {name for name in references if re.fullmatch(r"r\d+", str(name))}
    assert used - known == set()


def test_every_tool_that_works_is_shown_by_some_example() -> None:
    shown = {step.tool for item in BANK.examples for step in item.steps}
    rarely = {"list_layers", "search_algorithms", "describe_algorithm"}
    assert set(NAMES) - shown - rarely == set()
