# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tools made: short ids, one layer-tree group, provenance, and the undo of a turn."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from qgis.core import QgsLayerTreeGroup, QgsMapLayer, QgsProject, QgsRasterLayer, QgsVectorLayer

from . import wording
from .base import LayerReference, ToolResult
from .condition import Filter
from .crs import settle
from .source import GEOMETRY, VectorSource, crs_name
from .subset import Subset, described

GROUP = "Geo-OLM results"
ANSWER, REJECTION = "answer", "reject"
"""Ids of results whose text is the model's own, so that its numbers prove nothing."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_PROPERTY = "geo_olm/result"
_SUBSETS_LISTED = 3


@dataclass
class Turn:
    """What one question made, and how to take it back."""

    question: str = ""
    shorts: list[str] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    restores: list[Callable[[], str]] = field(default_factory=list)


@dataclass(frozen=True)
class Provenance:
    """How a layer came to be."""

    tool: str
    parameters: dict[str, Any]
    question: str


class ResultStore:
    """The results of one chat over one project. Layers are touched on the main thread only; calls
    at the same time may add numbers and parts, so what is walked through is copied first."""

    def __init__(self, project: QgsProject) -> None:
        self._project = project
        self._last = 0
        self._open: set[int] = set()
        self._lock = RLock()
        self._turns: list[Turn] = []
        self._shorts: dict[str, str] = {}
        self._numbers: dict[str, tuple[float, str]] = {}
        self._told: list[float] = []
        self._files: set[str] = set()
        self._subsets: dict[str, Subset] = {}
        self._parents: dict[str, str] = {}
        self._asked = 0

    def open_id(self) -> str:
        """Return the short id that a call gets if it makes something; no other call gets it."""
        with self._lock:
            number = max(self._last, 0, *self._open) + 1
            self._open.add(number)
            return f"r{number}"

    def close_id(self, short: str) -> None:
        """Tell that a call has ended; an id that it did not take is free again."""
        with self._lock:
            self._open.discard(int(short[1:]))

    def take_id(self, short: str) -> None:
        """Mark a short id as given out."""
        with self._lock:
            self._last = max(self._last, int(short[1:]))
            if short not in self.results():
                self._turn().shorts.append(short)

    def order_of(self, layer_id: str) -> int:
        """Return when a layer was made, counted from 0."""
        return list(self._shorts).index(layer_id)

    def keep(self, result: ToolResult, arguments: dict[str, Any]) -> None:
        """Keep the numbers of a result, so that an answer may refer to them.

        Numbers that only repeat an argument of the call are the model's own.
        """
        self._files.update(str(Path(one).resolve()) for one in result.files)
        for key, number in result.numbers.items():
            self._numbers[f"{result.id}.{key}"] = (number, result.units.get(key, ""))
        if result.id not in (ANSWER, REJECTION):
            own = set(_NUMBER.findall(json.dumps(arguments, ensure_ascii=False, default=str)))
            told = (text for text in _NUMBER.findall(result.text) if text not in own)
            self._told.extend(float(text) for text in told)

    def files(self) -> frozenset[str]:
        """Return the files that the calls of this chat wrote."""
        return frozenset(self._files)

    def number(self, reference: str) -> tuple[float, str] | None:
        """Return the number and unit that "r2.count", or "r2" alone, means; None for no such."""
        if reference in self._numbers:
            return self._numbers[reference]
        known = list(self._numbers.items())
        own = [one for key, one in known if key.partition(".")[0] == reference]
        return own[0] if own else None

    def given(self) -> list[tuple[float, str]]:
        """Return every number of a result with its unit, the newest first."""
        return list(self._numbers.values())[::-1]

    def told(self) -> list[float]:
        """Return every number that the results gave or told."""
        return [number for number, _ in self.given()] + self._told

    def known_numbers(self) -> str:
        """Return a sentence that lists the numbers made last."""
        last = list(self._numbers.items())[-8:]
        if not last:
            return "No result has a number yet: call a tool first."
        return f"Known: {', '.join(f'{key} = {wording.number(one[0])}' for key, one in last)}."

    def short_of(self, layer_id: str) -> str:
        """Return the short id of a layer that a tool made, or ""."""
        return self._shorts.get(layer_id, "")

    def speak_of(self, short: str, source: VectorSource, taken: Filter, features: int) -> None:
        """Remember the features of a result that made no layer of them; none without a filter."""
        if taken.expression and features:
            title = described(source, taken)
            self._subsets[short] = Subset(
                short, source.id, taken.expression, title, features, self._asked
            )

    def subsets(self) -> list[Subset]:
        """Return those that can become a layer, the newest last. Main thread only."""
        made = self._made()
        return [
            one
            for short, one in list(self._subsets.items())
            if short not in made and self._project.mapLayer(one.layer_id) is not None
        ]

    def _made(self) -> set[str]:
        """Return the short ids of the layers that are there now."""
        return {short for key, short in self._shorts.items() if self._project.mapLayer(key)}

    def subset(self, text: str) -> Subset | None:
        """Return the one that `text` means by its short id or title. Main thread only."""
        found = [one for one in self.subsets() if text in (one.short, one.title)]
        return found[-1] if found else None

    def earlier_subsets(self) -> list[Subset]:
        """Return the last few of the questions before the present one. Main thread only."""
        return [one for one in self.subsets() if one.turn < self._asked][-_SUBSETS_LISTED:]

    def begin_turn(self, question: str) -> None:
        """Open the group of what the next calls make."""
        self._asked += 1
        self._turns.append(Turn(question))

    def question(self) -> str:
        """Return the question of the present turn."""
        return self._turns[-1].question if self._turns else ""

    def remember(self, restore: Callable[[], str]) -> None:
        """Keep a function that takes one change back; it runs on the main thread."""
        self._turn().restores.append(restore)

    def name_for(self, title: str) -> str:
        """Return a layer name that no layer of the project has yet."""
        taken = {layer.name() for layer in self._project.mapLayers().values()}
        name, number = title, 2
        while name in taken:
            name, number = f"{title} ({number})", number + 1
        return name

    def add(
        self, layer: QgsMapLayer, title: str, short: str, provenance: Provenance
    ) -> LayerReference:
        """Hand a new layer over to the project, on top of the group of results."""
        self.take_id(short)
        short = self._free(short)
        settle(layer)
        layer.setName(self.name_for(title))
        layer.setCustomProperty(_PROPERTY, short)
        _stamp(layer, provenance, self._inputs(provenance.parameters))
        self._project.addMapLayer(layer, False)
        self._group().insertLayer(0, layer)
        self._shorts[layer.id()] = short
        self._parents[layer.id()] = str(provenance.parameters.get("INPUT", ""))
        self._turn().layers.append(layer.id())
        return reference(layer)

    def _inputs(self, parameters: Any) -> list[str]:
        """Return the names of the layers that parameters name, by id, short id or name."""
        if isinstance(parameters, dict):
            parameters = list(parameters.values())
        if isinstance(parameters, (list, tuple)):
            found = [name for one in parameters for name in self._inputs(one)]
            return list(dict.fromkeys(found))
        if not isinstance(parameters, str):
            return []
        shorts = {short: identity for identity, short in self._shorts.items()}
        layer = self._project.mapLayer(shorts.get(parameters, parameters))
        if layer is not None:
            return [layer.name()]
        return [one.name() for one in self._project.mapLayersByName(parameters)[:1]]

    def _free(self, short: str) -> str:
        """Return the id, with a number added when the call made another layer before."""
        taken, number, free = self._made(), 2, short
        while free in taken:
            free, number = f"{short}.{number}", number + 1
        return free

    def has_changed(self) -> bool:
        """Tell whether the last turn made or changed something that can be taken back."""
        return bool(self._turns) and bool(self._turns[-1].layers or self._turns[-1].restores)

    def undo_turn(self) -> tuple[str, ...]:
        """Take back the last turn that changed something; newest change first."""
        while self._turns:
            turn = self._turns.pop()
            self._withdraw(turn.shorts)
            said = [restore() for restore in reversed(turn.restores)]
            for layer_id in reversed(turn.layers):
                layer = self._project.mapLayer(layer_id)
                if layer is not None:
                    said.append(f"Removed {layer.name()}.")
                    self._project.removeMapLayer(layer_id)
            self._drop_empty_group()
            if said:
                return tuple(item for item in said if item)
        return ()

    def _withdraw(self, shorts: list[str]) -> None:
        """Forget the results of a turn that is taken back."""
        for short in shorts:
            self._subsets.pop(short, None)
            for key in [key for key in list(self._numbers) if key.partition(".")[0] == short]:
                del self._numbers[key]

    def results(self) -> frozenset[str]:
        """Return the short ids of the results that were not taken back."""
        return frozenset(short for turn in self._turns for short in turn.shorts)

    def parent_of(self, layer_id: str) -> str:
        """Return the id of the layer that a result was made from, or ""."""
        return self._parents.get(layer_id, "")

    def _turn(self) -> Turn:
        if not self._turns:
            self._turns.append(Turn())
        return self._turns[-1]

    def _group(self) -> QgsLayerTreeGroup:
        root = self._project.layerTreeRoot()
        return root.findGroup(GROUP) or root.insertGroup(0, GROUP)

    def _drop_empty_group(self) -> None:
        root = self._project.layerTreeRoot()
        group = root.findGroup(GROUP)
        if group is not None and not group.children():
            root.removeChildNode(group)


def reference(layer: QgsMapLayer) -> LayerReference:
    """Describe a layer for results and records. Main thread only."""
    vector = isinstance(layer, QgsVectorLayer)
    geometry = "raster" if isinstance(layer, QgsRasterLayer) else "other"
    if vector:
        geometry = GEOMETRY[layer.geometryType()][1]
    return LayerReference(
        id=layer.id(),
        name=layer.name(),
        source=layer.source(),
        geometry=geometry,
        crs=crs_name(layer.crs()) if geometry != "table" else "",
        features=layer.featureCount() if vector else -1,
    )


def _stamp(layer: QgsMapLayer, provenance: Provenance, inputs: list[str]) -> None:
    """Write question, tool, parameters, inputs and time into the layer's metadata."""
    metadata = layer.metadata()
    if provenance.question:
        metadata.setAbstract(provenance.question)
    metadata.addHistoryItem(
        json.dumps(
            {
                "tool": provenance.tool,
                "parameters": provenance.parameters,
                "inputs": inputs,
                "time": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            },
            ensure_ascii=False,
            default=str,
        )
    )
    layer.setMetadata(metadata)
