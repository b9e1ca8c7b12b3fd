# SPDX-License-Identifier: GPL-2.0-or-later
"""Tools as the agent knows them: definitions, layer profiles, results and errors, without QGIS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

Progress = Callable[[float], None]
"""Takes the share done, 0 to 100."""


class Family(str, Enum):
    """The kind of layer that an argument takes."""

    ANY = "any"
    VECTOR = "vector"
    POINT = "point"
    LINE = "line"
    POLYGON = "polygon"
    TABLE = "table"
    RASTER = "raster"


@dataclass(frozen=True)
class FieldProfile:
    """A field of a vector layer or table.

    `type` is one of integer, real, text, date, time, datetime, boolean, other; `samples` are up
    to a few distinct values as text; `minimum`/`maximum` are set for numbers and dates;
    `distinct` is None when counting stopped early; `empty` counts NULL (and blank text).
    `values` are the distinct texts that were met, of text fields only: to find what a question
    names, not to be shown.
    """

    name: str
    type: str
    alias: str = ""
    samples: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""
    distinct: int | None = None
    empty: int | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class BandProfile:
    """A band of a raster, numbered from 1."""

    number: int
    name: str
    type: str = ""
    nodata: float | None = None


@dataclass(frozen=True)
class LayerProfile:
    """A layer as the model sees it.

    `key` is the unique text by which tools take it (the layer's name, with a number added when
    two layers share it); `short` is the id of the result that made it ("r3") or "", and
    `parent` the key of the layer that it was made from.
    `crs` is "" when the layer has none; `unit` is the unit of its coordinates.
    """

    key: str
    id: str
    family: Family
    geometry: str
    crs: str = ""
    unit: str = ""
    features: int = -1
    fields: tuple[FieldProfile, ...] = ()
    bands: tuple[BandProfile, ...] = ()
    cells: str = ""
    short: str = ""
    has_z: bool = False
    source: str = ""
    parent: str = ""

    @property
    def title(self) -> str:
        """The layer's key, after the id of the result that made it."""
        return f"{self.short} = {self.key}" if self.short else self.key

    @property
    def name(self) -> str:
        """What a model calls the layer: the id of the result that made it, else its key."""
        return self.short or self.key


@dataclass(frozen=True)
class ToolDefinition:
    """A tool: its name, one sentence, its arguments as JSON schema.

    Beside the plain keywords a property may carry `x-layer` (a Family value, or a list of them:
    the argument names a layer of that kind), `x-field` (the name of the layer argument whose
    field this is) with `x-types` (field types that fit), `x-band` (the raster argument whose band
    this is), `x-for` (families by layer argument for which it has a meaning), and `x-result`
    ("number", "text", "layer": it refers to an earlier result). Grounding reads these marks.
    `label` is what a user reads on the card; `lasting` marks what outlives the session.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    label: str = ""
    lasting: bool = False


@dataclass(frozen=True)
class LayerReference:
    """A layer in a result or a record; `features` is -1 for rasters."""

    id: str
    name: str
    source: str
    geometry: str
    crs: str
    features: int


def ancestors(layer: LayerProfile, layers: tuple[LayerProfile, ...]) -> frozenset[str]:
    """Return the names of the layers that a layer was made from, step by step."""
    known = {one.key: one for one in layers}
    found: dict[str, str] = {}
    while layer.parent in known and layer.parent not in found:
        layer = known[layer.parent]
        found[layer.key] = layer.name
    return frozenset(found.values())


@dataclass(frozen=True)
class ToolResult:
    """What a tool gives back: small, summarised, with ids.

    `id` is the short id that the user and the model can use ("r3"), given by the toolbox.
    `text` is what the model reads. `numbers` and `texts` are the values by which an answer may
    refer to the result ("r3.count"); `units` gives the unit of a number by the same key.
    `algorithm` and `parameters` say how to open the same thing in Processing, when one was run,
    `outputs` which layer (by id) each of its outputs is. `speaks` tells that the id may be used
    as the layer of the features that the result is about; `extracted` are such layers of earlier
    results that this call made.
    """

    text: str
    id: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    layers: tuple[LayerReference, ...] = ()
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    algorithm: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    speaks: bool = False
    extracted: tuple[LayerReference, ...] = ()


class ToolError(Exception):
    """A tool could not do its work; `message` names the layer or parameter and the next step."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class MendableError(ToolError):
    """The model can mend this by another call; it goes back to the model and is counted.

    `without` are arguments without which the same call would do.
    """

    def __init__(self, message: str, without: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.without = tuple(without)


class RefusedError(MendableError):
    """The user did not allow this call; the run goes on without it, and what was made stays."""


class LastingError(ToolError):
    """The model cannot mend this (a removed layer, a full disk); it is reported to the user."""


class UnanswerableError(ToolError):
    """The layers cannot answer this, whatever is called (no CRS for an area); the question is
    rejected with the message as its reason."""


class Toolbox(Protocol):
    """The tools over one project, as the agent sees them.

    Every method may be called from the worker thread; the toolbox itself hops to the main
    thread where QGIS asks for it.
    """

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return all tools, in the order in which they are listed to a model."""

    def layers(self) -> tuple[LayerProfile, ...]:
        """Return the layers of the project now, project layers first, then results."""

    def run(
        self,
        name: str,
        arguments: dict[str, Any],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> ToolResult:
        """Run one call. Raises MendableError, LastingError, and llm's RunCancelled is never raised
        here: a cancelled tool raises ToolCancelled."""

    def results(self) -> frozenset[str]:
        """Return the short ids of the results that were not taken back."""

    def begin_turn(self, question: str) -> None:
        """Open a group of results for one question, so that they can be undone together."""

    def undo_turn(self) -> tuple[str, ...]:
        """Remove what the last turn made and restore what it changed; returns what was done."""


class ToolCancelled(Exception):
    """The user stopped a tool."""
