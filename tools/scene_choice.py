# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenes that a layer of a catalogue lists, and those of one measure by the days that they
stand for."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qgis.core import QgsGeometry

from .base import MendableError
from .context import Context
from .observation_product import VALUE
from .scene_catalogue import FIELDS
from .scene_part import opened_scene, subdataset_name
from .scene_time import band_days
from .source import VectorSource, plain
from .spelling import listed

_NEEDED = ("scene", "product", "measures", "date", "until", "path", "subdataset")
_SHOWN = 12


@dataclass(frozen=True)
class Scene:
    """A row of a catalogue; `footprint` is in the layer's CRS, `band` the one band of a cube that
    is meant (0 for what the product says)."""

    scene: str
    product: str
    measures: frozenset[str]
    day: datetime.date | None
    until: datetime.date | None
    path: str
    subdataset: str
    footprint: QgsGeometry
    band: int = 0


@dataclass(frozen=True)
class Occasion:
    """The scenes of one product and one day: tiles of one picture."""

    day: datetime.date | None
    until: datetime.date | None
    scenes: tuple[Scene, ...]

    @property
    def when(self) -> str:
        """Return the day as text, "" for none."""
        return self.day.isoformat() if self.day is not None else ""


def catalogue_of(name: str, context: Context) -> VectorSource:
    """Return the layer of a catalogue. Raises MendableError for another layer."""
    source = context.vector(name)
    missing = [one for one in _NEEDED if one not in source.names()]
    if missing:
        raise MendableError(
            f"{source.key} is no catalogue of scenes (it has no field {missing[0]}): make one with "
            "index_scenes."
        )
    return source


def scenes_of(source: VectorSource, context: Context) -> list[Scene]:
    """Return the scenes of a catalogue. Raises ToolCancelled."""
    found = []
    for feature in source.rows(context.cancelled, geometry=True):
        texts = {name: str(plain(feature[name]) or "") for name in FIELDS if name in _NEEDED}
        measures = frozenset(one.replace("_", " ") for one in texts["measures"].split())
        found.append(
            Scene(
                texts["scene"], texts["product"], measures, _day(texts["date"]),
                _day(texts["until"]), texts["path"], texts["subdataset"],
                QgsGeometry(feature.geometry()),
            )
        )  # fmt: skip
    return found


def _day(text: str) -> datetime.date | None:
    return datetime.date.fromisoformat(text[:10]) if text else None


def day_of(text: str, name: str) -> datetime.date | None:
    """Return a day of the arguments, None for "". Raises MendableError for no date."""
    if not text:
        return None
    parts = text.strip().split("-")
    try:
        year, month, day = (int(one) for one in [*parts, "1", "1"][:3])
        if len(parts) <= 3:
            return datetime.date(year, month, day)
    except ValueError:
        pass
    raise MendableError(f'{name} "{text}" is no date: write it as 2024-03-31.')


def last_day_of(text: str, name: str) -> datetime.date | None:
    """Return the last day that a text means: 2024 is 31 December 2024. Raises MendableError."""
    found = day_of(text, name)
    parts = len(text.strip().split("-")) if text else 0
    if found is None or parts >= 3:
        return found
    after = (
        found.replace(year=found.year + 1)
        if parts == 1 or found.month == 12
        else found.replace(month=found.month + 1)
    )
    return after.replace(month=after.month if parts == 2 else 1, day=1) - datetime.timedelta(1)


def occasions(
    scenes: Sequence[Scene], measure: str, start: str, end: str, context: Context
) -> list[Occasion]:
    """Return the scenes of a measure between two days, by day.

    A scene counts when the days that it stands for meet the span. Raises MendableError for wrong
    days, where nothing fits and where several products do.
    """
    first, last = day_of(start, "start"), last_day_of(end, "end")
    if first is not None and last is not None and first > last:
        raise MendableError(f"start {start} is after end {end}: swap them.")
    fitting = [one for one in scenes if measure in one.measures]
    if not fitting:
        known = sorted({name for one in scenes for name in one.measures})
        raise MendableError(
            f"No scene measures {measure}. Measured is {listed(known) or 'nothing that is known'}."
        )
    products = sorted({one.product or "unknown product" for one in fitting})
    if len(products) > 1:
        raise MendableError(
            f"{measure} comes from several products: {listed(products)}. Take one by find_scenes "
            "with product."
        )
    if measure == VALUE:
        _refuse_several(fitting)
        fitting = [part for one in fitting for part in _bands_of(one, context)]
    inside = [one for one in fitting if _meets(one, first, last)]
    if not inside:
        raise MendableError(f"No scene of {measure} lies in that time. {_span(fitting)}")
    return _by_day(inside, bool(start or end), context)


def _refuse_several(scenes: Sequence[Scene]) -> None:
    """Refuse several variables of files whose product is not known. Raises MendableError."""
    names = sorted({subdataset_name(one.subdataset) for one in scenes if one.subdataset})
    if len(names) > 1:
        raise MendableError(
            f"The scenes hold several variables: {listed(names)}. Take one by find_scenes with its "
            "name as product."
        )


def _bands_of(scene: Scene, context: Context) -> list[Scene]:
    """Return a scene for each dated band of a cube, else the scene itself."""
    path = scene.subdataset or scene.path
    context.boundary().readable(scene.path)
    days = band_days(opened_scene(path, scene.scene))
    if len(days) < 2 or any(one is None for one in days):
        return [scene]
    return [
        replace(scene, day=day, until=day, band=number) for number, day in enumerate(days, start=1)
    ]


def _meets(scene: Scene, first: datetime.date | None, last: datetime.date | None) -> bool:
    if first is None and last is None:
        return True
    if scene.day is None:
        return False
    until = scene.until or scene.day
    return (first is None or until >= first) and (last is None or scene.day <= last)


def _span(scenes: Sequence[Scene]) -> str:
    days = sorted(one.day for one in scenes if one.day is not None)
    if not days:
        return "None of them has a date."
    return f"They go from {days[0]} to {days[-1]}."


def _by_day(scenes: Sequence[Scene], timed: bool, context: Context) -> list[Occasion]:
    dateless = sum(one.day is None for one in scenes)
    dated = len(scenes) - dateless
    if dateless and (dated or timed):
        context.note(f"{dateless} scenes have no date and were left out.")
    groups: dict[datetime.date | None, list[Scene]] = {}
    for one in scenes:
        if one.day is not None or not dated:
            groups.setdefault(one.day, []).append(one)
    return [
        Occasion(day, groups[day][0].until, tuple(groups[day]))
        for day in sorted(groups, key=lambda one: one or datetime.date.min)
    ]


def shown_days(found: Sequence[Occasion]) -> str:
    """Return the days of occasions in a few words."""
    days = [one.when or "no date" for one in found]
    more = f" and {len(days) - _SHOWN} more" if len(days) > _SHOWN else ""
    return ", ".join(days[:_SHOWN]) + more
