# SPDX-License-Identifier: GPL-2.0-or-later
"""Example questions made from the project's own layers: few, concrete, and answerable by tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tools.base import FieldProfile, LayerProfile

NUMBERS = ("integer", "real")
GEOMETRIES = ("point", "line", "polygon")
FEWEST, MOST = 2, 30
TECHNICAL = ("id", "fid", "gid", "code", "rank", "zoom", "scale", "label", "wiki", "version")


@dataclass(frozen=True)
class ExampleQuestion:
    """A question to click; `detail` names its layers and fields, `tool` picks the icon."""

    text: str
    detail: str
    tool: str


Translate = Callable[[str], str]


def example_questions(
    layers: tuple[LayerProfile, ...], translate: Translate = str, most: int = 4
) -> tuple[ExampleQuestion, ...]:
    """Return up to `most` questions, of different kinds before more of the same kind.

    The project's own layers are used, not the results of earlier questions.
    """
    own = [layer for layer in layers if not layer.short and layer.features != 0]
    kinds = [
        [question for layer in own for question in kind(layer, translate)]
        for kind in (_gaps, _largest, _groups, _cells)
    ]
    kinds.insert(2, list(_near(own, translate)))
    chosen: list[ExampleQuestion] = []
    for turn in range(most):
        chosen += [kind[turn] for kind in kinds if turn < len(kind)]
    if not chosen:
        chosen = [question for layer in own for question in _count(layer, translate)]
    return tuple(chosen[:most])


def _technical(field: FieldProfile) -> bool:
    words = field.name.lower().replace("-", "_").split("_")
    return any(word in TECHNICAL or word.endswith(("rank", "zoom", "code")) for word in words)


def _plain(layer: LayerProfile, types: tuple[str, ...]) -> Iterator[FieldProfile]:
    for field in layer.fields:
        if field.type in types and not _technical(field):
            yield field


def _gaps(layer: LayerProfile, translate: Translate) -> Iterator[ExampleQuestion]:
    for field in (*_plain(layer, NUMBERS), *_plain(layer, ("date", "text"))):
        if field.empty and 0 < field.empty < layer.features:
            text = translate("How many features of {0} have no value in {1}?")
            detail = f"{layer.key} · {field.name}"
            yield ExampleQuestion(text.format(layer.key, field.name), detail, "count")
            return


def _largest(layer: LayerProfile, translate: Translate) -> Iterator[ExampleQuestion]:
    for field in _plain(layer, NUMBERS):
        several = field.distinct is None or field.distinct > 5
        if several and layer.features > 5 and field.minimum != field.maximum:
            text = translate("Which 5 features of {0} have the largest {1}?")
            detail = f"{layer.key} · {field.name}"
            yield ExampleQuestion(text.format(layer.key, field.name), detail, "largest")
            return


def _groups(layer: LayerProfile, translate: Translate) -> Iterator[ExampleQuestion]:
    for field in _plain(layer, ("text",)):
        if field.distinct and FEWEST <= field.distinct <= MOST and layer.features > field.distinct:
            text = translate("How many features of {0} are there for each {1}?")
            detail = f"{layer.key} · {field.name}"
            yield ExampleQuestion(text.format(layer.key, field.name), detail, "unique")
            return


def _cells(layer: LayerProfile, translate: Translate) -> Iterator[ExampleQuestion]:
    if layer.family == "raster":
        text = translate("What are the lowest, mean and highest values of {0}?")
        yield ExampleQuestion(text.format(layer.key), layer.key, "stat")


def _near(layers: list[LayerProfile], translate: Translate) -> Iterator[ExampleQuestion]:
    """Ask for the points in polygons, else for what lies within a distance of a layer."""
    placed = [layer for layer in layers if layer.family in GEOMETRIES and layer.crs]
    inside = [layer for layer in placed if layer.family != "polygon"]
    around = [layer for layer in placed if layer.family == "polygon"]
    for layer in inside[:1]:
        for area in around[:1]:
            text = translate("How many features of {0} lie within {1}?")
            detail = f"{layer.key}, {area.key}"
            yield ExampleQuestion(text.format(layer.key, area.key), detail, "location")
    for layer, other in zip(inside, inside[1:2]):
        text = translate("How many features of {0} lie within 500 m of {1}?")
        detail = f"{layer.key}, {other.key}"
        yield ExampleQuestion(text.format(layer.key, other.key), detail, "location")


def _count(layer: LayerProfile, translate: Translate) -> Iterator[ExampleQuestion]:
    text = translate("How many features has {0}?")
    if layer.features >= 0:
        yield ExampleQuestion(text.format(layer.key), layer.key, "count")
