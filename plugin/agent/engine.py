# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine: takes a question from Init to End through the states of a workflow.

It is dull on purpose: what a state offers and where it leads is data, what the model may reply
is a schema, and everything that happens is an event. The states, the reflection on errors and
the confirmed end follow the Geo-OLM paper, section 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Union

from ...tools.base import (
    LastingError,
    LayerProfile,
    MendableError,
    Toolbox,
    ToolCancelled,
    ToolDefinition,
    ToolResult,
)
from ..llm.base import (
    Cancelled,
    Choice,
    ContextFull,
    ModelError,
    Reply,
    RunCancelled,
    Speaker,
    Spoken,
    TextDelta,
    ThinkingDelta,
    Usage,
    Waiting,
)
from . import prompt
from .chat import Chat, Turn
from .event import (
    AnswerDelta,
    AnswerReset,
    CallFinished,
    CallProgress,
    CallStarted,
    Event,
    ModelState,
    Notice,
    Reflected,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from .example import ExampleBank
from .limit import Limits, LoopBreaker
from .message import Message, Role, ToolCall
from .state import State, Workflow
from .wording import Format, reword
