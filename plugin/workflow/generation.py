# SPDX-License-Identifier: GPL-2.0-or-later
"""The meta-agent: makes the graph of a question (GeoFlow paper, section 3).

It asks first what the question needs, chooses worked examples by that, then asks for the graph,
held to the agents, tools, layers and fields that there are. What the checks find is mended where
that is safe, else the model is asked again; where it does not manage, other candidates are drawn,
scored as the Flow paper does, and voted among.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...tools.base import LayerProfile, ToolDefinition
from ..agent.message import Message, Role
from ..llm.base import Speaker
from .asking import Conversation, ReplyError, replied, user
from .briefing import Briefing, Chosen, Understood
from .candidate import Candidate, Check, best_of, mended
from .finding import Finding
from .graph import Graph, Vertex
from .leftover import linked
from .plan_event import Planned, Planning
from .plan_form import Draft, Known, PlanError, read
from .plan_schema import Ground, Offer, said
from .role import Roles

_LAYERS = 4
_NEEDS_LENGTH, _ENGLISH_LENGTH = 120, 300
_MISSING = "There is no layer, field or value for {}. The nearest layers are {}."
_AGAIN = "That plan is not right: {} Write the whole plan again."
_TOLD = 3
"""Findings that are told when a plan is asked for again."""


def no_doubt(graph: Graph) -> Sequence[Finding]:
    """Find nothing."""
    return ()


@dataclass(frozen=True)
class Means:
    """What the meta-agent works with.

    `doubt` finds what does not keep a graph from running and yet makes it unlikely: a plan in
    which it finds something is asked for again once. `numbers` are the names of the numbers that
    tools are known to give. `vary` gives a speaker that samples otherwise, by a number from 1;
    `write` gives the objective of a step that has none. A plan that the checks refuse is asked
    for again `asks` times, then `candidates` others are drawn.
    """

    definitions: tuple[ToolDefinition, ...]
    layers: tuple[LayerProfile, ...]
    roles: Roles
    briefing: Briefing
    ground: Ground
    check: Check
    numbers: Mapping[str, tuple[str, ...]]
    doubt: Check = no_doubt
    vary: Callable[[int], Speaker] | None = None
    write: Callable[[Vertex, Graph], str] | None = None
    asks: int = 2
    candidates: int = 3

    def known(self) -> Known:
        """Return what a reply is read against."""
        names = {one.key: one.key for one in self.layers}
        names.update({one.name: one.key for one in self.layers})
        tools = {one.name: one for one in self.definitions}
        return Known(tools, self.roles, names, self.numbers)

    def keys(self, tools: Iterable[ToolDefinition]) -> tuple[str, ...]:
        """Return the names of the numbers that some tools give, each once."""
        found = (key for one in tools for key in self.numbers.get(one.name, ()))
        return tuple(dict.fromkeys(found))


class MetaAgent:
    """Plans one question at a time. Any thread."""

    def __init__(self, means: Means, conversation: Conversation) -> None:
        self._means = means
        self._talk = conversation

    def plan(self, question: str) -> Planned:
        """Return the plan of a question. Raises ModelError, RunCancelled, and PlanError where no
        reply of the model could be read."""
        self._begin()
        self._talk.tell(Planning("understanding"))
        understood = self._understood(question)
        if understood.missing:
            reason = _MISSING.format(understood.missing, ", ".join(understood.layers))
            return self._ended(understood, _Drawn([Candidate(Graph(question), rejected=reason)]))
        self._talk.tell(Planning("planning"))
        chosen = self._means.briefing.examples(understood.english or question, understood)
        offer = self._offer(chosen)
        self._show(question, understood, chosen, offer)
        drawn = self._asked(question, offer)
        if not drawn.is_settled:
            self._talk.tell(Planning("choosing"))
            drawn.candidates += self._others(question, offer)
        if not drawn.candidates:
            raise PlanError("The model gave no plan that could be read. Ask in other words.")
        return self._ended(understood, drawn)

    # -- the first question

    def _begin(self) -> None:
        """Open the conversation, the same way for every question, so that servers keep it."""
        briefing, messages = self._means.briefing, self._talk.messages
        if not messages:
            messages.append(Message(Role.SYSTEM, briefing.system()))
            for asked, reply in briefing.openings():
                messages += [user(asked), replied(reply)]

    def _understood(self, question: str) -> Understood:
        means, briefing = self._means, self._means.briefing
        names = [one.name for one in means.layers]
        self._talk.messages.append(user(briefing.overview(question, means.layers)))
        schemas: dict[str, dict[str, Any]] = {
            **(
                {}
                if briefing.is_english(question)
                else {"ENGLISH": {"type": "string", "maxLength": _ENGLISH_LENGTH}}
            ),
            "NEEDS": {"type": "string", "maxLength": _NEEDS_LENGTH},
            "USER_INTENT": {"type": "string", "enum": list(briefing.intents)},
            "layers": {
                "type": "array",
                "items": {"type": "string", "enum": names},
                "minItems": 1,
                "maxItems": min(_LAYERS, len(names)),
            },
        }
        try:
            reply = self._talk.ask(schemas)
        except ReplyError:
            reply = {}
        self._talk.messages.append(replied(reply))
        named = [str(one) for one in reply.get("layers") or () if one in names]
        return Understood(
            str(reply.get("USER_INTENT", "")),
            tuple(dict.fromkeys(named or names[:_LAYERS])),
            briefing.missing(str(reply.get("NEEDS", "")), means.layers),
            str(reply.get("ENGLISH", "")).strip(),
            str(reply.get("NEEDS", "")),
        )

    # -- the graph

    def _offer(self, chosen: Chosen) -> Offer:
        means = self._means
        names = {*chosen.tools, *(tool for one in chosen.shown for tool in one.tools)}
        forms = frozenset(form for one in chosen.shown for form in one.forms)
        tools = tuple(one for one in means.definitions if one.name in names)
        keys = means.keys(tools)
        return Offer(tools, means.layers, means.roles, keys, forms=forms)

    def _show(self, question: str, understood: Understood, chosen: Chosen, offer: Offer) -> None:
        briefing, messages = self._means.briefing, self._talk.messages
        head = briefing.tools([one.name for one in offer.tools])
        for worked in chosen.shown:
            lines = ["Layers:", *(f"- {one}" for one in worked.layers)]
            asked = "\n".join([head, *lines, f"Question: {worked.question}"]).strip()
            messages += [user(asked), replied(worked.form)]
            head = ""
        messages.append(user(f"{head}\n{briefing.task(question, understood)}".strip()))

    def _asked(self, question: str, offer: Offer) -> _Drawn:
        """Ask for the graph, again with what was wrong, until one can run; a doubt is told once."""
        drawn, begin, doubted = _Drawn([]), len(self._talk.messages), False
        for attempt in range(self._means.asks + 1):
            drawn.again = attempt
            try:
                candidate = self._drawn(question, offer)
            except (ReplyError, PlanError) as error:
                wrong = str(error)
            else:
                drawn.candidates.append(candidate)
                drawn.was_valid |= not attempt and candidate.was_valid
                wrong = told(candidate.errors or (() if doubted else candidate.doubts))
                doubted |= candidate.is_valid and bool(wrong)
                if not wrong:
                    break
            self._talk.tell(Planning("mending", wrong))
            self._talk.messages.append(user(_AGAIN.format(wrong)))
        else:
            del self._talk.messages[begin:]
        return drawn

    def _others(self, question: str, offer: Offer) -> list[Candidate]:
        """Draw other candidates for the request as it was before anything was asked again."""
        found: list[Candidate] = []
        if self._means.vary is None:
            return found
        for number in range(1, self._means.candidates + 1):
            try:
                found.append(self._drawn(question, offer, self._means.vary(number)))
            except (ReplyError, PlanError):
                continue
        return found

    def _drawn(self, question: str, offer: Offer, other: Speaker | None = None) -> Candidate:
        """Ask for one graph and return it read, mended and checked.

        Raises ReplyError and PlanError.
        """
        reply = self._talk.ask(said(offer, self._means.ground), other)
        if other is None:
            self._talk.messages.append(replied(reply))
        return self._checked(read(reply, self._means.known(), question))

    def _checked(self, draft: Draft) -> Candidate:
        if draft.rejected:
            return Candidate(draft.graph, rejected=draft.rejected, remarks=draft.remarks)
        candidate = mended(draft.graph, self._means.check, draft.remarks)
        candidate = replace(candidate, doubts=tuple(self._means.doubt(candidate.graph)))
        if self._means.write is None:
            return candidate
        return replace(candidate, graph=with_objectives(candidate.graph, self._means.write))

    def _linked(self, candidate: Candidate) -> Candidate:
        """Return a graph whose leftovers are used by the step that must have meant them, if any."""
        if candidate.rejected or not candidate.doubts:
            return candidate
        graph = linked(candidate.graph, [one.vertex for one in candidate.doubts if one.vertex])
        found = self._checked(Draft(graph, remarks=candidate.remarks))
        is_better = found.is_valid and len(found.doubts) < len(candidate.doubts)
        return found if is_better else candidate

    def _ended(self, understood: Understood, drawn: _Drawn) -> Planned:
        return Planned(
            self._linked(best_of(drawn.candidates)),
            understood,
            len(drawn.candidates),
            drawn.was_valid,
            drawn.again,
            self._talk.usage,
            self._talk.seconds,
        )


@dataclass
class _Drawn:
    """The candidates of a plan, and how often one was asked for again."""

    candidates: list[Candidate]
    again: int = 0
    was_valid: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether one may run, or says why nothing can."""
        return any(one.is_valid or one.rejected for one in self.candidates)


def with_objectives(graph: Graph, write: Callable[[Vertex, Graph], str]) -> Graph:
    """Return a graph whose steps all have an objective, written where they have none."""
    steps = (
        one if one.objective else replace(one, objective=write(one, graph))
        for one in graph.vertices
    )
    return replace(graph, vertices=tuple(steps))


def told(findings: Sequence[Finding]) -> str:
    """Return the first findings as a model reads them."""
    return " ".join(
        f"{one.vertex}: {one.message}" if one.vertex else one.message for one in findings[:_TOLD]
    )
