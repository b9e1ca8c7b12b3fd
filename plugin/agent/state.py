# SPDX-License-Identifier: GPL-2.0-or-later
"""A workflow of states as data: what each state is for, its tools, and where it may lead.

The idea is the state machine of the Geo-OLM paper (section 3): the model names its present
state, the state decides which tools and worked examples it is given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class WorkflowError(ValueError):
    """A workflow of states that cannot be used; the message names the state."""


@dataclass(frozen=True)
class State:
    """One state: its purpose in a few words, its tools, and the states that may follow; one with
    an `intent` is there for questions of that intent alone."""

    name: str
    purpose: str
    tools: tuple[str, ...]
    next: tuple[str, ...]
    intent: str = ""


@dataclass(frozen=True)
class Intent:
    """A kind of question that the model may name as USER_INTENT; `value` tells that its answer
    is a number."""

    name: str
    purpose: str
    value: bool = False


@dataclass(frozen=True)
class Workflow:
    """States, transitions and intents; read from a file, checked once, never changed."""

    name: str
    title: str
    states: tuple[State, ...]
    intents: tuple[Intent, ...]
    initial: str
    final: str
    error: str

    def state(self, name: str) -> State:
        """Return the state with this name. Raises WorkflowError when there is none."""
        for state in self.states:
            if state.name == name:
                return state
        raise WorkflowError(f'The workflow "{self.name}" has no state "{name}".')

    def reachable(self, name: str, intent: str = "") -> tuple[State, ...]:
        """Return the states that may follow `name` and that have tools, in the file's order;
        with an intent without those of others."""
        following = self.state(name).next
        return tuple(
            state
            for state in self.states
            if state.name in following
            and state.tools
            and (not intent or state.intent in ("", intent))
        )

    def home(self, tool: str) -> str:
        """Return the last state that offers this tool, or "" when none does."""
        return next((state.name for state in reversed(self.states) if tool in state.tools), "")

    def intent(self, name: str) -> Intent | None:
        """Return the intent with this name, or None."""
        return next((intent for intent in self.intents if intent.name == name), None)

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the states that a user follows, in order (all but Error)."""
        return tuple(state.name for state in self.states if state.name != self.error)

    def diagram(self) -> str:
        """Draw the table as a Mermaid state diagram."""
        lines = ["stateDiagram-v2", f"    [*] --> {self.initial}"]
        for state in self.states:
            lines += [f"    {state.name} --> {target}" for target in state.next]
        lines.append(f"    {self.final} --> [*]")
        return "\n".join(lines)


def _checked(workflow: Workflow) -> Workflow:
    names = [state.name for state in workflow.states]
    if len(set(names)) != len(names):
        raise WorkflowError(f'The workflow "{workflow.name}" names a state twice.')
    for special in (workflow.initial, workflow.final, workflow.error):
        workflow.state(special)
    for state in workflow.states:
        for target in state.next:
            if target not in names:
                raise WorkflowError(
                    f'The state "{state.name}" leads to "{target}", which is not there.'
                )
        if state.intent and workflow.intent(state.intent) is None:
            raise WorkflowError(
                f'The state "{state.name}" is for the intent "{state.intent}", which is not there.'
            )
    if workflow.state(workflow.final).next:
        raise WorkflowError(f'The final state "{workflow.final}" leads on.')
    return workflow


def _state(data: Mapping[str, Any]) -> State:
    return State(
        data["name"],
        data["purpose"],
        tuple(data["tools"]),
        tuple(data["next"]),
        str(data.get("intent", "")),
    )


def from_data(data: Mapping[str, Any]) -> Workflow:
    """Read a workflow from its JSON form. Raises WorkflowError when a part is missing or wrong."""
    try:
        return _checked(
            Workflow(
                name=data["name"],
                title=data["title"],
                states=tuple(_state(one) for one in data["states"]),
                intents=tuple(
                    Intent(
                        i["name"],
                        i["purpose"],
                        bool(i.get("value")),
                    )
                    for i in data["intents"]
                ),
                initial=data["initial"],
                final=data["final"],
                error=data["error"],
            )
        )
    except (KeyError, TypeError) as error:
        raise WorkflowError(f"The workflow lacks a part: {error}.") from error


def load(path: Path) -> Workflow:
    """Read a workflow from a file. Raises WorkflowError, and OSError when it cannot be read."""
    try:
        return from_data(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise WorkflowError(f"{path.name} is not a workflow: {error}") from error
