# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a method at a desk: its events from the start to the end, whatever happens between."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Protocol

from ....tools.base import LastingError, ToolCancelled, UnanswerableError
from ...agent.chat import Turn
from ...agent.closing import ANSWER, REJECT
from ...agent.event import AnswerDelta, Event, RunFinished, RunStarted, Status
from ...llm.base import ModelError, RunCancelled
from .desk import Desk, Ending, MethodEnded


class Rival(Protocol):
    """A method: takes a question from its desk to an ending, and yields the events on the way."""

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question. Raises what the desk raises."""


def played(rival: Rival, desk: Desk) -> Iterator[Event]:
    """Yield the events of one run; the last is a RunFinished. Any thread.

    Nothing is raised for what a model, a server or a tool does; a fault of the method is.
    """
    began = time.monotonic()
    desk.toolbox.begin_turn(desk.question)
    try:
        card = desk.speaker.card()
        yield RunStarted(desk.question, card.name, card.server.value, (), desk.limits.steps)
        ending = yield from rival.run(desk)
    except (RunCancelled, ToolCancelled):
        ending = Ending(Status.CANCELLED, "Stopped. What was made so far is kept.")
    except UnanswerableError as error:
        ending = Ending(Status.REJECTED, error.message)
    except (ModelError, LastingError) as error:
        ending = Ending(Status.FAILED, error.message)
    except MethodEnded as error:
        ending = Ending(Status.FAILED, str(error))
    made = tuple(one.id for one in desk.work.results if one.id not in ("", ANSWER, REJECT))
    desk.chat.turns.append(Turn(desk.question, ending.text, made))
    if ending.status is Status.OK:
        yield AnswerDelta(ending.text)
    yield _finished(desk, ending, time.monotonic() - began)


def _finished(desk: Desk, ending: Ending, total: float) -> RunFinished:
    results = desk.work.results
    layers = {layer.id: layer for one in results for layer in one.layers}
    files = dict.fromkeys(path for one in results for path in one.files)
    ok = ending.status is Status.OK
    return RunFinished(
        ending.status,
        ending.text,
        ending.value if ok else None,
        ending.unit if ok else "",
        "" if ok else ending.text,
        tuple(layers.values()),
        tuple(files),
        desk.talk.usage,
        {"model": desk.talk.seconds, "tools": desk.work.seconds, "total": total},
    )
