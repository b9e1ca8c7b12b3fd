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

from ...tools.base import LayerProfile, ToolDefinition, ancestors
from ..agent.message import Memory, Message, Role
from ..llm.base import Speaker
from .asking import Conversation, ReplyError, replied, user
from .briefing import Briefing, Chosen, Understood
from .candidate import Candidate, Check, best_of, without_doubt
from .finding import Finding
from .graph import Graph, Vertex
from .leftover import linked
from .plan_event import Planned, Planning
from .plan_form import REJECT, Draft, Known, PlanError, compact, read
from .plan_schema import Ground, Offer, enumeration, said, text
from .role import Roles
from .value import Layer, Output, Value

_COUNT, _COUNTING = "count", ("count", "filter", "filter_time", "select_by_location")
_YES, _NO = "yes", "no"
_IS_ONE = "Look at {0} again. Is each feature of {0} one of the {1}?"
_NO_SUCH = (
    "No layer holds {0}: the features of {1} are something else. Name the layer and the field that "
    "hold them, or add them to the project."
)
_LAYERS = 4
_PLACE = "Location"
NOTHING = "nothing"
"""What a question refers to that can be understood by itself."""
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

    def __init__(
        self, means: Means, conversation: Conversation, memory: Memory | None = None
    ) -> None:
        """`memory` is what the chat remembers of plans; the conversation goes on in it."""
        self._means = means
        self._talk = conversation
        self._memory = Memory(conversation.messages) if memory is None else memory

    def plan(self, question: str) -> Planned:
        """Return the plan of a question. Raises ModelError, RunCancelled, and PlanError where no
        reply of the model could be read."""
        self._talk.tell(Planning("understanding"))
        understood = self._understood(question)
        if understood.missing:
            reason = _MISSING.format(understood.missing, ", ".join(understood.layers))
            return self._ended(understood, _Drawn([Candidate(Graph(question), rejected=reason)]))
        question = self._whole(question, understood)
        self._talk.tell(Planning("planning", question))
        chosen = self._means.briefing.examples(understood.english or question, understood)
        offer = self._offer(chosen)
        self._show(question, understood, chosen, offer)
        drawn = self._asked(question, offer)
        if not drawn.is_settled:
            self._talk.tell(Planning("choosing"))
            drawn.candidates += self._others(question, offer)
        if not drawn.candidates:
            raise PlanError("The model gave no plan that could be read. Ask in other words.")
        planned = self._ended(understood, drawn)
        return self._unless_other(planned, understood.english or question)

    def _unless_other(self, planned: Planned, question: str) -> Planned:
        """Return a plan, but refuse one that counts the features of a layer for what the model,
        asked for just that, says they are not. A small model plans such a count all the same."""
        candidate = planned.candidate
        layer = _counted_layer(candidate.graph, self._means.layers)
        what = self._means.briefing.counted(question, layer) if layer is not None else ""
        if layer is None or not what or not candidate.is_valid:
            return planned
        asked, messages = user(_IS_ONE.format(layer.name, what)), self._talk.messages
        messages.append(asked)
        try:
            reply = self._talk.ask({"answer": enumeration([_YES, _NO])})
        except ReplyError:
            reply = {}
        finally:
            messages.remove(asked)
        if reply.get("answer") != _NO:
            return planned
        refused = Candidate(Graph(question), rejected=_NO_SUCH.format(what, layer.key))
        return replace(planned, candidate=refused)

    # -- the first question

    def _begin(self, goes_on: bool) -> None:
        """Open the conversation, the same way for every question, so that servers keep it. What
        was said before stays where a question goes on from it; of a conversation that has grown
        too long only the last question, or none."""
        memory = self._memory
        if not (goes_on and memory.messages):
            memory.restart(self._opening(), keeps_last=False)
        elif not self._talk.leaves_room():
            memory.restart(self._opening(), keeps_last=True)
            if not self._talk.leaves_room():
                memory.restart(self._opening(), keeps_last=False)
        memory.begin_question()

    def _opening(self) -> list[Message]:
        briefing = self._means.briefing
        messages = [Message(Role.SYSTEM, briefing.system())]
        for asked, reply in briefing.openings():
            messages += [user(asked), replied(reply)]
        return messages

    def _understood(self, question: str) -> Understood:
        """Ask what a question means. One that speaks of an earlier result, or is only a part, is
        asked with what was said before; any other as if it were the first, so that nothing that
        was said leads it astray."""
        briefing, layers = self._means.briefing, self._means.layers
        own = tuple(one for one in layers if not one.short)
        refers = self._subjects(question, own)
        has_more = self._memory.questions > 0
        is_part = not refers and has_more and briefing.is_part(question, own)
        refers = refers or (() if is_part else self._perhaps(question, own))
        self._begin(goes_on=bool(refers) or is_part)
        shown = layers if refers or is_part else own
        self._talk.messages.append(user(briefing.overview(question, shown)))
        whole = briefing.is_english(question) and not is_part
        try:
            reply = self._talk.ask(self._first_schema(refers or (NOTHING,), whole, shown))
        except ReplyError:
            reply = {}
        self._talk.messages.append(replied(reply))
        return replace(self._taken(reply), is_part=is_part)

    def _subjects(self, question: str, own: Sequence[LayerProfile]) -> tuple[str, ...]:
        """Return the earlier results, the latest first, of which a question must speak: it begins
        with a word for that, or names a field that results alone have."""
        briefing, results = self._means.briefing, self._results
        if briefing.refers(question):
            return tuple(one.name for one in results)
        return tuple(one.name for one in results if briefing.names_field(question, one, own))

    def _perhaps(self, question: str, own: Sequence[LayerProfile]) -> tuple[str, ...]:
        """Return what else it may speak of: where a word for something stands further on it may
        also mean what the question itself names; that, and what a question is about that names
        nothing, the model has to say."""
        briefing, names = self._means.briefing, tuple(one.name for one in self._results)
        is_open = briefing.mentions(question) or not briefing.names_any(question, own)
        return (NOTHING, *names) if names and is_open else ()

    @property
    def _results(self) -> list[LayerProfile]:
        return [one for one in reversed(self._means.layers) if one.short]

    def _first_schema(
        self, refers: Sequence[str], whole: bool, layers: Sequence[LayerProfile]
    ) -> dict[str, dict[str, Any]]:
        names = [one.name for one in layers]
        return {
            "REFERS_TO": enumeration(refers),
            **({} if whole else {"ENGLISH": text(_ENGLISH_LENGTH)}),
            "NEEDS": text(_NEEDS_LENGTH),
            "USER_INTENT": enumeration(self._means.briefing.intents),
            "layers": {
                "type": "array",
                "items": enumeration(names),
                "minItems": 1,
                "maxItems": min(_LAYERS, len(names)),
            },
        }

    def _taken(self, reply: Mapping[str, Any]) -> Understood:
        """Return what a first reply means; what it speaks of is the first of its layers."""
        means = self._means
        known = {one.name: one for one in means.layers}
        refers = str(reply.get("REFERS_TO", ""))
        refers = refers if refers in known else ""
        usable = [one.name for one in self._usable(refers, str(reply.get("USER_INTENT", "")))]
        named = [str(one) for one in reply.get("layers") or () if one in usable]
        layers = [refers, *named] if refers else named or usable[:_LAYERS]
        needs = str(reply.get("NEEDS", ""))
        return Understood(
            str(reply.get("USER_INTENT", "")),
            tuple(dict.fromkeys(layers)),
            means.briefing.missing(needs, means.layers),
            str(reply.get("ENGLISH", "")).strip(),
            needs,
            refers,
        )

    def _usable(self, refers: str, intent: str) -> tuple[LayerProfile, ...]:
        """Return the layers that a plan may use: the project's own, and the result that the
        question speaks of. What that was made from is left out, so that its conditions cannot be
        lost; but for a question of place, in which both may play a part."""
        layers = self._means.layers
        about = next((one for one in layers if refers and one.name == refers), None)
        hidden = frozenset() if about is None or intent == _PLACE else ancestors(about, layers)
        return tuple(
            one for one in layers if one.name not in hidden and (not one.short or one is about)
        )

    def _whole(self, question: str, understood: Understood) -> str:
        """Take the layers that the question may use, and return it as a whole one: what was only a
        part is planned as if it had been asked in full at first."""
        layers = self._usable(understood.refers, understood.intent)
        self._means = replace(self._means, layers=layers)
        if not understood.is_part or not understood.english:
            return question
        reply = self._talk.messages[-1]
        self._begin(goes_on=False)
        overview = self._means.briefing.overview(understood.english, layers)
        self._talk.messages += [user(overview), reply]
        return understood.english

    # -- the graph

    def _offer(self, chosen: Chosen) -> Offer:
        means = self._means
        names = {*chosen.tools, *(tool for one in chosen.shown for tool in one.tools)}
        forms = frozenset(form for one in chosen.shown for form in one.forms)
        tools = tuple(one for one in means.definitions if one.name in names)
        keys = means.keys(tools)
        return Offer(tools, means.layers, means.roles, keys, forms=forms)

    def _show(self, question: str, understood: Understood, chosen: Chosen, offer: Offer) -> None:
        """Describe the tools and show the examples that the conversation does not hold yet."""
        briefing, messages, shown = self._means.briefing, self._talk.messages, self._memory.shown
        names = [one.name for one in offer.tools if one.name not in shown]
        head = briefing.tools(names) if names else ""
        for worked in chosen.shown:
            if worked.question in shown:
                continue
            lines = ["Layers:", *(f"- {one}" for one in worked.layers)]
            lines += [f"Question: {worked.question}", *worked.held]
            asked = "\n".join([head, *lines]).strip()
            messages += [user(asked), replied(worked.form)]
            head = ""
        shown.update(names, (one.question for one in chosen.shown))
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
                    self._talk.messages[begin:] = [replied(said_as(candidate))]
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
        candidate = without_doubt(draft.graph, self._means.check, self._means.doubt, draft.remarks)
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
        """Whether one may run and nothing makes it unlikely, or one says why nothing can."""
        return any(one.rejected or (one.is_valid and not one.doubts) for one in self.candidates)


def _counted_layer(graph: Graph, layers: Sequence[LayerProfile]) -> LayerProfile | None:
    """Return the layer whose features the answer of a graph counts, None for any other answer."""
    value = graph.answer.value
    if not isinstance(value, Output) or value.key != _COUNT:
        return None
    known = {one.key: one for one in layers}
    source: Value = value
    for _ in graph.vertices:
        if not isinstance(source, Output) or not graph.has(source.vertex):
            break
        vertex = graph.vertex(source.vertex)
        source = (vertex.parameters or {}).get("layer") if vertex.tool in _COUNTING else None
    return known.get(source.name) if isinstance(source, Layer) else None


def with_objectives(graph: Graph, write: Callable[[Vertex, Graph], str]) -> Graph:
    """Return a graph whose steps all have an objective, written where they have none."""
    steps = (
        one if one.objective else replace(one, objective=write(one, graph))
        for one in graph.vertices
    )
    return replace(graph, vertices=tuple(steps))


def said_as(candidate: Candidate) -> dict[str, Any]:
    """Return the form in which a candidate would have been said at once, mends included."""
    if candidate.rejected:
        refusal = {"id": "v1", "tool": REJECT, "arguments": {"reason": candidate.rejected}}
        return {"tasks": [refusal], "answer": ""}
    return compact(candidate.graph)


def told(findings: Sequence[Finding]) -> str:
    """Return the first findings as a model reads them."""
    return " ".join(
        f"{one.vertex}: {one.message}" if one.vertex else one.message for one in findings[:_TOLD]
    )
