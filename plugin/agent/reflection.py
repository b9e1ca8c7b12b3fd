# SPDX-License-Identifier: GPL-2.0-or-later
"""The Error state: a failed call is asked about outside the running chat, and made again.

The model is given the call, its error and the tool's definition (Geo-OLM paper, section 3, error
handling).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Union

from ...tools.base import MendableError, RefusedError, ToolResult
from . import prompt
from .chat import Chat
from .event import Event, Reflected, StageChanged
from .limit import Limits
from .menu import Menu
from .message import ToolCall
from .talk import Talk
from .work import Work

Outcome = Union[ToolResult, str]
"""A result, or the error that could not be mended."""


@dataclass
class Reflection:
    """Runs calls of one run and mends those that fail in a way the model can mend."""

    prompts: prompt.Prompts
    talk: Talk
    work: Work
    menu: Menu
    chat: Chat
    limits: Limits
    enter: Callable[[str], StageChanged]

    def run(self, call: ToolCall, stage: str) -> Generator[Event, None, tuple[ToolCall, Outcome]]:
        """Run a call made in `stage`; return it as it was made last, and what came of it."""
        failure = ""
        for attempt in range(self.limits.retries + 1):
            try:
                return call, (yield from self.work.run(call))
            except RefusedError as error:
                self.menu.free = True
                return call, error.message
            except MendableError as error:
                failure = error.message
                self.menu.free = True
            if attempt == self.limits.retries or self.work.errors >= self.limits.errors:
                break
            yield self.enter(self.menu.workflow.error)
            corrected = yield from self._reflect(call, failure)
            yield self.enter(stage)
            if corrected is None:
                break
            call = corrected
        return call, failure

    def _reflect(self, call: ToolCall, error: str) -> Generator[Event, None, ToolCall | None]:
        tool = self.work.definition(call.name)
        choice = self.menu.correction(tool)
        message = prompt.reflection(
            self.prompts, self.menu.question, call, error, tool, choice.layers
        )
        spoken = yield from self.talk.choose((self.chat.messages[0], message), choice)
        corrected = spoken.calls[0] if spoken.calls else call
        if (corrected.name, corrected.arguments) == (call.name, call.arguments):
            yield Reflected(call.id, "No correction was found.")
            return None
        yield Reflected(call.id, prompt.as_json(corrected.arguments))
        return corrected
