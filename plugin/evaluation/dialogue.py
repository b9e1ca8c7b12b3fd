# SPDX-License-Identifier: GPL-2.0-or-later
"""What the turns of a dialogue make together, and the states of a project between them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qgis.core import QgsMapLayer, QgsProject, QgsReadWriteContext
from qgis.PyQt.QtXml import QDomDocument

from .outcome import Grade

State = dict[str, str]
"""The layers of a project by their ids, each with a digest of its style."""

_SUMS = ("tokens", "seconds")
_CATEGORY = QgsMapLayer.StyleCategory
_LOOK = _CATEGORY.Symbology | _CATEGORY.Labeling | _CATEGORY.Rendering | _CATEGORY.Diagrams


def state_of(project: QgsProject) -> State:
    """Return the present state of a project. Main thread only."""
    return {
        key: hashlib.sha256(_look(layer).encode("utf-8")).hexdigest()
        for key, layer in project.mapLayers().items()
    }


def _look(layer: QgsMapLayer) -> str:
    """Return how a layer is drawn; the rest of a style is not written alike twice by QGIS."""
    document = QDomDocument()
    layer.exportNamedStyle(document, QgsReadWriteContext(), _LOOK)
    return str(document.toString())


def keep_states(states: Sequence[State], folder: Path) -> None:
    """Write the states before each turn, and that at the end, for those who grade again."""
    text = json.dumps(list(states), indent=1)
    (folder / "states.json").write_text(text, encoding="utf-8")


def undone_misses(states: Sequence[State], now: State, expect: Mapping[str, Any]) -> list[str]:
    """Judge whether layers and styles are as they were before a turn, counted from 1."""
    before = states[int(expect["turn"]) - 1]
    if now == before:
        return []
    more, fewer = len(now.keys() - before.keys()), len(before.keys() - now.keys())
    if more or fewer:
        return [f"{more} layers too many and {fewer} too few after the undo"]
    return ["the styles are not as they were before"]


def joint_record(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the last record with the calls of all, and with their tokens and seconds summed."""
    whole = dict(records[-1])
    whole["question"] = records[0].get("question")
    whole["calls"] = [call for one in records for call in one.get("calls") or ()]
    for key in _SUMS:
        whole[key] = _summed([one.get(key) or {} for one in records])
    return whole


def joint_grade(grades: Sequence[Grade]) -> Grade:
    """A dialogue is right when all its turns are; each miss names its turn."""
    reasons = [
        f"turn {number}: {reason}" for number, one in enumerate(grades, 1) for reason in one.reasons
    ]
    return Grade(all(one.success for one in grades), tuple(reasons))


def _summed(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    keys = dict.fromkeys(key for one in parts for key in one)
    return {
        key: any(one.get(key) for one in parts)
        if any(isinstance(one.get(key), bool) for one in parts)
        else sum(one.get(key) or 0 for one in parts)
        for key in keys
    }
