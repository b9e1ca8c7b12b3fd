# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the meta-agent together over a project: its briefing, its schema, its checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..tools.base import LayerProfile, Toolbox, ToolDefinition
from .agent.message import Memory
from .llm.base import Cancelled, Usage
from .llm.grounding import ground
from .llm.speaker import ModelSpeaker
from .plan_briefing import ProjectBriefing, known_numbers
from .replay import agents
from .settings import Settings
from .workflow.asking import Conversation, Tell
from .workflow.briefing import Understood
from .workflow.candidate import Check
from .workflow.generation import Means, MetaAgent
from .workflow.graph import Graph, Vertex
from .workflow.objective import Place, written
from .workflow.plan_event import Planned
from .workflow.refinement import Refinement
from .workflow.revision import Reviser

_WARM = 0.7
"""Temperature of the candidates that are drawn after others failed."""


def grounded(
    definitions: Sequence[ToolDefinition],
    layers: Sequence[LayerProfile],
    before: Mapping[str, dict[str, Any]],
    unmade: Collection[str],
) -> dict[str, Any]:
    """Return the schema of one call, as workflow.plan_schema.Ground."""
    return ground(definitions, layers, None, before, unmade).schema


class Planner:
    """Makes graphs, and changes of them, over the toolbox's project; any thread.

    `usage` and `seconds` are the sums of all its conversations.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        speaker: ModelSpeaker,
        settings: Settings,
        check: Check,
        doubt: Check,
        tell: Tell,
        cancelled: Cancelled,
        memory: Memory | None = None,
        names: Mapping[str, Sequence[Place]] | None = None,
    ) -> None:
        """`memory` is what a chat remembers of plans, `names` are the proper names among the
        values of layers, each with what holds it.

        Raises OSError, ValueError and RoleError where a resource is broken.
        """
        roles = agents()
        tools = {one.name: one for one in toolbox.definitions()}
        self._speaker, self._settings = speaker, settings
        self._tell, self._cancelled = tell, cancelled
        self.memory = Memory() if memory is None else memory
        self._talks: list[Conversation] = []
        briefing = ProjectBriefing(toolbox, roles, cancelled, names)
        self.means = Means(
            toolbox.definitions(),
            toolbox.layers(),
            roles,
            briefing,
            grounded,
            check,
            known_numbers(briefing.bank),
            doubt,
            lambda number: speaker.varied(_WARM, (settings.seed or 0) + number),
            lambda vertex, graph: written(vertex, tools.get(vertex.tool)),
        )

    @property
    def usage(self) -> Usage:
        """The tokens of all that was asked."""
        return sum((one.usage for one in self._talks), Usage())

    @property
    def seconds(self) -> float:
        """The seconds of all that was asked."""
        return sum(one.seconds for one in self._talks)

    def plan(self, question: str) -> Planned:
        """Return the plan of a question. Raises ModelError, RunCancelled and PlanError."""
        talk = self._conversation()
        talk.messages = self.memory.messages
        return MetaAgent(self.means, talk, self.memory).plan(question)

    def reviser(self) -> Reviser:
        """Return what changes graphs by the model's words."""
        return Reviser(self.means, self._conversation)

    def refinement(self) -> Refinement:
        """Return what mends a graph whose step failed, for one run."""
        return Refinement(self.reviser(), self._alike)

    def _conversation(self) -> Conversation:
        talk = Conversation(
            self._speaker, self._cancelled, self._tell, token_cap=self._settings.run_tokens
        )
        self._talks.append(talk)
        return talk

    def _alike(self, graph: Graph, vertex: Vertex) -> Sequence[ToolDefinition]:
        """Return the tools of the examples most like a question whose step failed."""
        asked = f"{graph.question} {vertex.objective}"
        chosen = self.means.briefing.examples(asked, Understood("", ()))
        names = {tool for one in chosen.shown for tool in one.tools}
        return [one for one in self.means.definitions if one.name in names]
