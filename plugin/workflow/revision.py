# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a model how a graph is to be changed, and again where the changed graph could not run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...tools.base import ToolDefinition
from ..agent.message import Message, Role
from . import change_schema
from .asking import Conversation, ReplyError, replied, user
from .candidate import mended
from .change import Change, ChangeError, applied, between
from .generation import Means, told, with_objectives
from .graph import Graph
from .plan_change import OPERATIONS, change_of
from .plan_form import PlanError, compact
from .plan_schema import Offer
from .topology import TopologyError, order

_EDIT = "edit"
"""What is not offered again to a model that edited a step into what it was."""


@dataclass(frozen=True)
class Wanted:
    """What is to be changed and why: `text` is told to the model, `tools` may be put into the
    graph; `only` are the steps that may be edited (all where none is named), `kinds` the
    operations."""

    text: str
    tools: tuple[ToolDefinition, ...]
    only: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset(OPERATIONS)


class Reviser:
    """Makes one change after the other, each in a conversation of its own. Any thread."""

    def __init__(self, means: Means, talk: Callable[[], Conversation]) -> None:
        """`talk` begins a conversation."""
        self.means = means
        self._talk = talk

    def change(self, graph: Graph, wanted: Wanted) -> Change:
        """Return the change that the model proposes; what it does not name stays identical.

        Raises PlanError where no reply can be used, ModelError and RunCancelled.
        """
        talk = self._begun(graph, wanted)
        offer = self._offer(graph, wanted)
        before, kinds, wrong = len(mended(graph, self.means.check).errors), wanted.kinds, ""
        for _ in range(self.means.asks + 1):
            schemas = change_schema.said(graph, offer, self.means.ground, wanted.only, kinds)
            try:
                reply = talk.ask(schemas)
                talk.messages.append(replied(reply))
                change = self._read(reply, graph, before)
            except (ReplyError, PlanError) as error:
                wrong = str(error)
            else:
                if not change.is_empty:
                    return change
                wrong, kinds = "That changes nothing.", kinds - {_EDIT} or kinds
            talk.messages.append(user(f"{wrong} Write the changes again."))
        raise PlanError(wrong)

    def _begun(self, graph: Graph, wanted: Wanted) -> Conversation:
        briefing, talk = self.means.briefing, self._talk()
        talk.messages.append(Message(Role.SYSTEM, briefing.revision_system()))
        for asked, reply in briefing.revisions():
            talk.messages += [user(asked), replied(reply)]
        head = briefing.tools([one.name for one in wanted.tools])
        lines = briefing.overview(graph.question, self.means.layers)
        form = json.dumps(compact(graph), ensure_ascii=False)
        talk.messages.append(user("\n".join([head, lines, f"Workflow: {form}", wanted.text])))
        return talk

    def _offer(self, graph: Graph, wanted: Wanted) -> Offer:
        means = self.means
        return Offer(
            wanted.tools,
            means.layers,
            means.roles,
            means.keys(means.definitions),
            tasks=1,
            steps=graph.ids(),
            all=means.definitions,
        )

    def _read(self, reply: object, graph: Graph, before: int) -> Change:
        """Return the change of a reply, mended. Raises PlanError where more is wrong after it."""
        change = change_of(reply, graph, self.means.known())
        try:
            changed = applied(graph, change)
            order(changed)
        except (ChangeError, TopologyError) as error:
            raise PlanError(str(error)) from error
        candidate = mended(changed, self.means.check)
        if len(candidate.errors) > before:
            raise PlanError(f"The changed workflow cannot run: {told(candidate.errors)}")
        found = candidate.graph
        if self.means.write is not None:
            found = with_objectives(found, self.means.write)
        return between(graph, found)


def tools_of(graph: Graph, definitions: Iterable[ToolDefinition]) -> frozenset[str]:
    """Return the names of the known tools that a graph uses."""
    known = {one.name for one in definitions}
    return frozenset(one.tool for one in graph.vertices if one.tool in known)
