# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a run as JSON and back, as transcripts keep them; what passes is left out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ..tools.base import LayerReference, ToolResult
from .agent.event import (
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    CallStarted,
    Deed,
    Notice,
    Reach,
    Reflected,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
)
from .llm.base import Usage
from .transcript_redaction import without_secrets
from .workflow.form import FormError, read, written
from .workflow.plan_event import PlanDone

_LOG = logging.getLogger(__name__)
_KEPT = (
    RunStarted, StageChanged, CallStarted, CallFinished, Reflected, Notice, ApprovalAsked,
    ApprovalGiven, RunFinished,
)  # fmt: skip
KINDS = {one.__name__: one for one in _KEPT}
_PLAN = PlanDone.__name__
_Make = Callable[[Any], Any]


def text_of(event: Any) -> tuple[str, str] | None:
    """Return the kind of an event and its JSON without keys and passwords, None for one that is
    not kept: progress, and the words of an answer before it is whole."""
    if isinstance(event, PlanDone):
        return _PLAN, _json(written(event.graph))
    kind = type(event).__name__
    if kind not in KINDS:
        return None
    return kind, _json(_plain(event))


def event_of(kind: str, text: str) -> Any:
    """Return the event of a kind from its JSON, None for one that this version cannot read."""
    try:
        data = json.loads(text)
        if kind == _PLAN:
            return PlanDone(read(data, lambda remark: None))
        return _made(KINDS[kind], data)
    except (KeyError, TypeError, ValueError, FormError) as error:
        _LOG.info("an event of a transcript was left out (%s): %s", kind, error)
        return None


def _json(value: Any) -> str:
    return json.dumps(without_secrets(value), ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value


def _made(kind: type, data: Mapping[str, Any]) -> Any:
    """Return a dataclass from its fields; those that are not known here are left out."""
    nested = _nested(kind)
    known = {item.name for item in fields(kind)}
    return kind(**{
        name: nested.get(name, _frozen)(value) for name, value in data.items() if name in known
    })  # fmt: skip


def _nested(kind: type) -> Mapping[str, _Make]:
    """Return how the fields of a class are made that hold more than plain values."""
    makers: dict[type, dict[str, _Make]] = {
        CallFinished: {"arguments": dict, "result": _result},
        CallStarted: {"arguments": dict},
        ApprovalAsked: {"deeds": _several(Deed)},
        Deed: {"reach": Reach, "details": lambda rows: tuple((row[0], row[1]) for row in rows)},
        RunFinished: {
            "status": Status,
            "layers": _several(LayerReference),
            "usage": lambda data: _made(Usage, data),
            "seconds": dict,
        },
        ToolResult: {
            "layers": _several(LayerReference),
            "extracted": _several(LayerReference),
            **dict.fromkeys(("numbers", "texts", "units", "parameters", "outputs"), dict),
        },
    }
    return makers.get(kind, {})


def _several(kind: type) -> _Make:
    return lambda rows: tuple(_made(kind, row) for row in rows)


def _result(data: Mapping[str, Any] | None) -> ToolResult | None:
    return None if data is None else _made(ToolResult, data)


def _frozen(value: Any) -> Any:
    """Return a value as the events hold it: lists as tuples."""
    return tuple(value) if isinstance(value, list) else value
