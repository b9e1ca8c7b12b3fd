# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of a graph over a project: its tools, its layers, the files that are there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..tools.base import MendableError, Toolbox
from ..tools.registry import Registry
from ..tools.spelling import closest
from .place import RESOURCES
from .workflow import phrase, shape
from .workflow.check import Surroundings, check
from .workflow.check_algorithm import NO_ALGORITHMS, Algorithms
from .workflow.finding import Finding
from .workflow.graph import Graph
from .workflow.role import Roles

_PER_FEATURE_S = {"buffer": 1e-4, "overlay": 4e-4, "coverage": 4e-4, "nearest": 1e-4,
                  "join_by_location": 1e-4, "dissolve": 2e-4}  # fmt: skip
_ANY_FEATURE_S = 2e-5
"""Seconds for each feature that goes in, as the benchmarks gave them on two cores."""


def surroundings(
    toolbox: Toolbox,
    registry: Registry,
    roles: Roles,
    folder: Path | None,
    with_results: bool = False,
    algorithms: Algorithms = NO_ALGORITHMS,
) -> Surroundings:
    """Return what graphs over a toolbox's project are checked against; `folder` is that of the
    files which steps write. `with_results` counts what a chat has made as layers, too; `algorithms`
    is what is known of those that the graph runs. Reads features, so call it on a worker."""
    return Surroundings(
        definitions={one.name: one for one in registry.definitions()},
        roles=roles,
        shapes=shape.load(RESOURCES / "workflows" / "shapes.json"),
        layers={
            one.key: one for one in toolbox.layers() if (with_results if one.short else one.id)
        },
        fit=partial(_fit, registry),
        phrases=phrase.load(RESOURCES / "workflows" / "operations.json"),
        closest=closest,
        file_exists=lambda name: folder is not None and (folder / name).exists(),
        seconds=lambda tool, features: features * _PER_FEATURE_S.get(tool, _ANY_FEATURE_S),
        algorithms=algorithms,
    )


def checker(around: Surroundings) -> Callable[[Graph], tuple[Finding, ...]]:
    """Return a check of graphs against surroundings that stay as they are."""
    return lambda graph: check(graph, around)


def _fit(registry: Registry, name: str, arguments: dict[str, Any]) -> str:
    try:
        registry.prepare(name, arguments)
    except MendableError as error:
        return error.message
    return ""
