# SPDX-License-Identifier: GPL-2.0-or-later
"""The protocol of a chat model: what goes in, what streams out, and what can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, Union

from ...tools.base import LayerProfile, ToolDefinition
from ..agent.message import Message, ToolCall

Cancelled = Callable[[], bool]
"""Asked many times a second while a reply is awaited; true ends it."""


class Server(str, Enum):
    """Which kind of server answers."""

    AUTO = "auto"
    OLLAMA = "ollama"
    OPENAI = "openai"
    EMBEDDED = "embedded"


class Finish(str, Enum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    CALLS = "calls"


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it: name, one sentence, JSON schema of the arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class ChatRequest:
    """One request: the whole conversation, and how the reply may look.

    `schema` is a JSON schema that the server is asked to hold the reply to; `tools` are sent
    natively. `max_tokens` bounds the reply, `temperature` and `seed` its sampling.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: dict[str, Any] | None = None
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more calls; `prompt` = `cached` + `evaluated`.

    Where a server does not say what it cached, `cached` is 0 and `estimated` is true.
    """

    prompt: int = 0
    cached: int = 0
    evaluated: int = 0
    generated: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.evaluated + other.evaluated,
            self.generated + other.generated,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class TextDelta:
    """A piece of the visible reply."""

    text: str


@dataclass(frozen=True)
class ThinkingDelta:
    """A piece of the model's thinking, never shown as the answer and never executed."""

    text: str


@dataclass(frozen=True)
class Waiting:
    """Nothing has come yet: the model is being loaded or reads the prompt."""

    seconds: float
    loading: bool = False


@dataclass(frozen=True)
class Timing:
    """Seconds of one reply as the server took them; 0 where it does not say."""

    reading_s: float = 0.0
    writing_s: float = 0.0
    loading_s: float = 0.0


@dataclass(frozen=True)
class Reply:
    """The whole reply, the last item of every stream."""

    text: str
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    timing: Timing = field(default_factory=Timing)


@dataclass(frozen=True)
class Remark:
    """One sentence for the user about how the model runs: what was changed, cut or slow."""

    text: str
    warning: bool = False


Chunk = Union[TextDelta, ThinkingDelta, Waiting, Remark, Reply]


@dataclass(frozen=True)
class ModelCard:
    """What is known of a model without asking it anything.

    `context` is the number of tokens in force, `digest` identifies the weights ("" if the
    server does not say), `local` tells whether the address is on this machine. `models` are the
    names that the server, or the store, offers beside and with this one. `size` is what the
    weights take in bytes (0 is unknown), `capabilities` are the server's words for what it can
    do, and `residence` says where it is loaded ("" while it is not, or nobody says).
    """

    name: str
    server: Server
    address: str
    context: int
    digest: str = ""
    local: bool = True
    native_tools: bool = False
    models: tuple[str, ...] = ()
    size: int = 0
    capabilities: tuple[str, ...] = ()
    residence: str = ""


class ChatModel(Protocol):
    """A model that can be talked to. All methods may be called from any one thread at a time."""

    def card(self) -> ModelCard:
        """Describe the model. Raises ModelError when the server or the model is not there."""

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        """Stream the reply; the last item is a Reply.

        Raises ModelError, and RunCancelled within half a second after `cancelled` turns true.
        """

    def close(self) -> None:
        """Let go of connections (an embedded server keeps running; its owner stops it)."""


@dataclass(frozen=True)
class Choice:
    """What one reply may be.

    `tools` may be called, on `layers` and on `results` (references by kind: number, text,
    layer). `said` are the values that stand before the call, as JSON schemas by name, in order;
    `stages` narrows the value of CURRENT_STAGE for each tool. Without tools only `said` is asked.
    `offered` are the tools that a model with native calls is told of, the same ones all through a
    chat; empty means `tools`.
    """

    tools: tuple[ToolDefinition, ...] = ()
    layers: tuple[LayerProfile, ...] = ()
    results: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    said: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    stages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    offered: tuple[ToolDefinition, ...] = ()


@dataclass(frozen=True)
class Spoken:
    """A reply that was understood: what was said, the calls found, and the turn to remember.

    `native` tells that the calls came as structured calls, so results go back as tool messages.
    `malformed` says what could not be read of a call, or "".
    """

    reply: Reply
    said: dict[str, Any]
    calls: tuple[ToolCall, ...]
    message: Message
    native: bool = False
    malformed: str = ""


class Speaker(Protocol):
    """Talks to a model in the way that this model understands best."""

    def card(self) -> ModelCard:
        """Describe the model. Raises ModelError."""

    def choose(
        self, messages: tuple[Message, ...], choice: Choice, cancelled: Cancelled
    ) -> Iterator[Chunk | Spoken]:
        """Ask for one reply within `choice`; the last item is a Spoken. Raises as a ChatModel."""

    def write(
        self, messages: tuple[Message, ...], max_tokens: int, cancelled: Cancelled
    ) -> Iterator[Chunk]:
        """Ask for free text; the last item is a Reply. Raises as ChatModel.chat."""

    def estimate(self, messages: tuple[Message, ...]) -> int:
        """Estimate the tokens of these messages."""

    def exposure(self, wanted: str) -> str:
        """Return which tools to describe, filter or hint; for auto, what suits the model best.

        Raises ModelError.
        """


class RunCancelled(Exception):
    """The user stopped the run."""


class ModelError(Exception):
    """A model cannot answer: a sentence for the user with the next step, details for the log."""

    def __init__(self, message: str, detail: str = "", retry: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.retry = retry


class ServerDown(ModelError):
    """No server answers at the address."""


class ModelMissing(ModelError):
    """The server does not have the model; the message lists those that it has, `names` all.

    `can_pull` tells that the server can bring a model by itself.
    """

    def __init__(
        self, message: str, detail: str = "", names: tuple[str, ...] = (), can_pull: bool = False
    ) -> None:
        super().__init__(message, detail)
        self.names = names
        self.can_pull = can_pull


class FeatureRefused(ModelError):
    """The server refused tools or a schema; the caller may ask again without them."""


class ContextFull(ModelError):
    """The prompt does not fit the context in force."""


class OutOfMemory(ModelError):
    """The machine cannot hold the model or the context."""


class BrokenModelFile(ModelError):
    """A GGUF file is missing, incomplete or not a model."""


class StreamBroken(ModelError):
    """The reply ended early; `partial` is the text that had come."""

    def __init__(self, message: str, detail: str = "", partial: str = "") -> None:
        super().__init__(message, detail, retry=True)
        self.partial = partial


class NoModel(ModelError):
    """No model was found by any of the ways of the contract."""
