# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that most tasks over products begin with: pick a zone, index a folder, compute a series."""

from __future__ import annotations

from typing import Any

from .script import Script


def of_zone(
    folder: str, measure: str, zone: str, day: str = "", layer: str = "districts", **more: Any
) -> Script:
    """Compute a measure in one zone as `$v`; without a day on every one."""
    script = Script().add(
        "z", f"Pick {zone} out of {layer}; return the layer.", "filter", layer=layer,
        conditions=[{"field": "name", "op": "=", "value": zone}],
    )  # fmt: skip
    return then_series(script, folder, measure, day, "$z", zone, **more)


def of_all(
    folder: str, measure: str, day: str = "", layer: str = "districts", **more: Any
) -> Script:
    """Compute a measure in every zone as `$v`; without a day on every one."""
    return then_series(Script(), folder, measure, day, layer, f"all {layer}", **more)


def then_series(
    script: Script, folder: str, measure: str, day: str, zones: str, where: str, product: str = "",
    **more: Any,
) -> Script:  # fmt: skip
    """Index a folder as `$s` and compute a measure as `$v`; `product` picks one of several."""
    indexed(folder, script)
    scenes = "$s"
    if product:
        script.add("p", f"Pick the scenes of {product}; return the layer.", "find_scenes",
                   scenes="$s", product=product)  # fmt: skip
        scenes = "$p"
    return added(script, "v", scenes, measure, day, zones, where, **more)


def indexed(folder: str, script: Script | None = None) -> Script:
    """Index a folder as `$s`, after the steps of a script where there is one."""
    begun = script or Script()
    return begun.add("s", f"Index the scenes in {folder}; return the catalogue.", "index_scenes",
                     folders=[folder])  # fmt: skip


def added(
    script: Script, name: str, scenes: str, measure: str, day: str, zones: str, where: str,
    **more: Any,
) -> Script:  # fmt: skip
    """Add one more series over scenes that are indexed."""
    span = {"start": day, "end": day} if day else {}
    when = f" on {day}" if day else " on every day"
    return script.add(
        name, f"Compute {measure} in {where}{when}; return the values.", "observation_series",
        scenes=scenes, zones=zones, measure=measure, **span, **more,
    )  # fmt: skip


def picked(script: Script, name: str, zone: str, layer: str = "districts") -> Script:
    """Add the picking of one more zone."""
    return script.add(
        name, f"Pick {zone} out of {layer}; return the layer.", "filter", layer=layer,
        conditions=[{"field": "name", "op": "=", "value": zone}],
    )  # fmt: skip


def above(script: Script, threshold: float, measure: str) -> Script:
    """Count the values of `$v` above a threshold as `$n`."""
    return script.add(
        "n", f"Count the zones with {measure} above {threshold}; return the number.", "count",
        layer="$v", conditions=[{"field": "value", "op": ">", "value": threshold}],
    )  # fmt: skip


def computed(script: Script, name: str, what: str, expression: str) -> Script:
    """Add arithmetic over results."""
    return script.add(name, f"Calculate {what}; return the number.", "calculate",
                      expression=expression)  # fmt: skip
