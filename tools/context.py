# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tool is given during a call.

Layers and the project are touched only inside `call`, which runs a function on the main thread.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from qgis.core import QgsMapLayer, QgsProject, QgsRectangle

from .base import (
    Family,
    LastingError,
    LayerProfile,
    LayerReference,
    MendableError,
    Progress,
    ToolCancelled,
)
from .boundary import Boundary
from .condition import Filter
from .source import LayerSource, VectorSource, layer_of
from .spelling import bare, did_you_mean, same
from .store import Provenance, ResultStore
from .subset import Subset

T = TypeVar("T")
_SELECTION = re.compile(r"^selected\s+|\s*\(selected\)\s*$", re.IGNORECASE)
_SERVED = {"WFS", "OAPIF", "arcgisfeatureserver"}
"""Providers whose servers may limit what they send."""
_LOG = logging.getLogger(__name__)
_FITS = {
    Family.VECTOR: {Family.VECTOR, Family.POINT, Family.LINE, Family.POLYGON},
    Family.TABLE: {Family.TABLE, Family.VECTOR, Family.POINT, Family.LINE, Family.POLYGON},
}


class MainCaller(Protocol):
    """Runs a function on the main thread, returns its result or raises its error."""

    def __call__(self, function: Callable[[], T]) -> T:
        """Run `function`; called on the main thread, it runs at once."""


class Canvas(Protocol):
    """The map window, where there is one. Main thread only."""

    def zoom_to(self, extent: QgsRectangle, crs: Any) -> None:
        """Show `extent`, which is in `crs` (a QgsCoordinateReferenceSystem)."""


@dataclass
class Context:
    """What a tool may use during one call."""

    project: QgsProject
    call: MainCaller
    store: ResultStore
    sources: Callable[[], list[LayerSource]]
    profile: Callable[[LayerSource], LayerProfile]
    progress: Progress
    cancelled: Callable[[], bool]
    canvas: Canvas | None
    temporary_folder: Path
    output_folder: Path | None
    tool: str
    short: str
    gone: Callable[[str], str]
    spoken: Callable[[str], LayerProfile | None]
    extract: Callable[[Subset, Context], None]
    allowed_folders: tuple[Path, ...] = ()
    detector_folders: tuple[Path, ...] = ()
    notes: list[str] = field(default_factory=list)
    extracted: list[LayerReference] = field(default_factory=list)

    def note(self, *sentences: str) -> None:
        """Add what the model and the user should know beside the result, once each."""
        self.notes.extend(text for text in sentences if text and text not in self.notes)

    def stop_if_cancelled(self) -> None:
        """Raise ToolCancelled when the user stopped the run."""
        if self.cancelled():
            raise ToolCancelled()

    def boundary(self) -> Boundary:
        """Return where files may be read and written during this call."""
        home = self.call(lambda: str(self.project.absolutePath()))
        return Boundary(
            self.temporary_folder,
            self.output_folder,
            Path(home) if home else None,
            self.allowed_folders,
            self.store.files(),
        )

    def layer(self, text: str) -> LayerSource:
        """Return the layer that `text` means, by key, result id or layer id.

        Raises MendableError with the closest names, LastingError for a removed layer.
        """
        self._extract(text)
        found = self.sources()
        exact = [one for one in found if text in (one.key, one.id) or text == one.short]
        if not exact:
            exact = [one for one in found if one.key in same(text, [one.key])]
        if not exact:
            exact = [one for one in found if bare(one.key) == bare(text)]
        whole = _SELECTION.sub("", text)
        if not exact and whole != text:
            exact = [one for one in found if bare(one.key) == bare(f"{whole} (selected)")]
        if len(exact) == 1:
            self.note(*told(exact[0]))
            return exact[0]
        if len(exact) > 1:
            several = " or ".join(one.key for one in exact)
            raise MendableError(f'"{text}" fits several layers: say {several}.')
        self.refuse_removed(text)
        if whole != text and any(bare(one.key) == bare(whole) for one in found):
            raise MendableError(f"Nothing is selected in {whole}: select features in it first.")
        keys = [one.key for one in found]
        raise MendableError(
            f'There is no layer "{text}" in this project. {did_you_mean(text, keys)}'
        )

    def _extract(self, text: str) -> None:
        """Make a layer of the features of an earlier result when `text` means them."""
        subset = self.call(lambda: self.store.subset(text))
        if subset is not None:
            self.extract(subset, self)

    def refuse_removed(self, text: str) -> None:
        """Raise LastingError when `text` means a layer that was here and is not any more."""
        name = self.gone(text)
        if name:
            raise removed(name)

    def vector(self, text: str, family: Family = Family.TABLE) -> VectorSource:
        """Return the vector layer or table that `text` means; errors as in `layer`."""
        found = self.layer(text)
        if not isinstance(found, VectorSource):
            raise MendableError(f"{found.key} is a raster; this tool takes a layer with features.")
        wanted = _FITS.get(family, {family})
        if found.family not in wanted and found.family is not Family.VECTOR:
            raise MendableError(
                f"{found.key} is a {found.geometry} layer; this tool takes {family.value}s."
            )
        return found

    def map_layer(self, source: LayerSource) -> QgsMapLayer:
        """Return the live layer of a snapshot. Main thread only.

        Raises MendableError for a mere selection, LastingError for a removed layer.
        """
        layer_id, is_part = layer_of(source.id)
        if is_part:
            raise MendableError(f"{source.key} is a part of a layer: make a layer of it by filter.")
        layer = self.project.mapLayer(layer_id)
        if layer is None:
            raise removed(source.key)
        return layer

    def speak_of(self, source: VectorSource, taken: Filter, features: int) -> None:
        """Let later calls mean the features that this result is about, by its short id."""
        self.store.speak_of(self.short, source, taken, features)

    def hand_over(
        self, layer: QgsMapLayer, title: str, parameters: dict[str, Any]
    ) -> LayerReference:
        """Add a new layer to the project with its provenance. Main thread only."""
        provenance = Provenance(self.tool, parameters, self.store.question())
        return self.store.add(layer, title, self.short, provenance)


def told(source: LayerSource) -> tuple[str, ...]:
    """Return what must be known of the present state of a layer that is used."""
    if not isinstance(source, VectorSource):
        return ()
    found = []
    if source.selected:
        found.append(
            f"{source.selected} of {source.features} features of {source.key} are selected, and "
            f"all {source.features} were used; {source.key} (selected) means those alone."
        )
    if source.edited:
        found.append(f"{source.key} has unsaved edits, which count here.")
    if source.provider in _SERVED:
        found.append(
            f"{source.key} comes from a server, which may send only a part of its features: it "
            "has at least as many as were read."
        )
    return tuple(found)


def removed(name: str) -> LastingError:
    """Return the error of a layer that is not there any more."""
    return LastingError(f"{name} was removed while it was in use. The results so far are kept.")
