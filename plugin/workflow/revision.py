# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a model how a graph is to be changed, and again where the changed graph could not run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ...tools.base import ToolDefinition
from ..agent.message import Message, Role
from . import change_schema
from .asking import Conversation, ReplyError, replied, user
from .candidate import mended
from .change import Change, ChangeError, applied, between
from .finding import Finding
from .generation import Means, told
from .graph import Graph, Vertex
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
    operations. What `request` says should be found in the changed graph."""

    text: str
    tools: tuple[ToolDefinition, ...]
    only: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset(OPERATIONS)
    request: str = ""


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
        before, kinds, wrong = len(mended(graph, self.means.check).errors), wanted.kinds, ""
        found: list[tuple[int, Change]] = []
        for _ in range(self.means.asks + 1):
            try:
                change = self._asked(talk, graph, wanted, kinds, before)
            except (ReplyError, PlanError) as error:
                wrong = str(error)
            else:
                doubts = self._doubts(graph, change, wanted)
                if change.is_empty:
                    wrong, kinds = "That changes nothing.", kinds - {_EDIT} or kinds
                elif found or not doubts:
                    found.append((len(doubts), change))
                    break
                else:
                    found.append((len(doubts), change))
                    wrong = told(doubts)
            talk.messages.append(user(f"{wrong} Write the changes again."))
        if not found:
            raise PlanError(wrong)
        return min(found, key=lambda one: one[0])[1]

    def _asked(
        self,
        talk: Conversation,
        graph: Graph,
        wanted: Wanted,
        kinds: frozenset[str],
        before: int,
    ) -> Change:
        offer = self._offer(graph, wanted)
        ground = self.means.ground
        reply = talk.ask(change_schema.said(graph, offer, ground, wanted.only, kinds))
        talk.messages.append(replied(reply))
        return self._read(reply, graph, before)

    def _doubts(self, graph: Graph, change: Change, wanted: Wanted) -> list[Finding]:
        """Return what a request says and the changed graph does not hold."""
        if not wanted.request:
            return []
        changed = replace(applied(graph, change), question=wanted.request)
        return [one for one in self.means.doubt(changed) if not one.vertex]

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
        return self._worded(between(graph, candidate.graph), candidate.graph)

    def _worded(self, change: Change, graph: Graph) -> Change:
        """Return a change whose steps all have an objective."""
        write = self.means.write

        def worded(steps: Iterable[Vertex]) -> tuple[Vertex, ...]:
            if write is None:
                return tuple(steps)
            return tuple(
                one if one.objective else replace(one, objective=write(one, graph)) for one in steps
            )

        return replace(change, edited=worded(change.edited), inserted=worded(change.inserted))


def tools_of(graph: Graph, definitions: Iterable[ToolDefinition]) -> frozenset[str]:
    """Return the names of the known tools that a graph uses."""
    known = {one.name for one in definitions}
    return frozenset(one.tool for one in graph.vertices if one.tool in known)
