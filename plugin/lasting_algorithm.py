# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a Processing algorithm reaches: by where its outputs go, and by why it is not offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qgis.core import QgsProcessingAlgorithm

from ..tools import offer
from .agent.event import Deed, Reach
from .lasting import named

REASONS: Mapping[str, Reach] = {
    offer.NETWORK: Reach.NETWORK,
    offer.CODE: Reach.EDIT,
    offer.DEVICE: Reach.NETWORK,
    offer.DATABASE: Reach.NETWORK,
    offer.IN_PLACE: Reach.EDIT,
    offer.ELSEWHERE: Reach.FILE,
    offer.INSIDE_MODELS: Reach.EDIT,
    offer.OTHER_PLUGIN: Reach.EDIT,
}
"""What algorithms would do that are not offered, so that none is let pass if one ever were."""

READING = frozenset({"rasterlayerproperties", "shpencodinginfo"})
"""Names of algorithms without a destination that only look; others of that kind leave something
in the project, as bookmarks do."""

_TEMPORARY = ("", "TEMPORARY_OUTPUT", "memory:")


def deed(algorithm: QgsProcessingAlgorithm, parameters: Mapping[str, Any]) -> Deed:
    """Return what a run of an algorithm with these parameters would do. Any thread."""
    name, label = algorithm.id(), algorithm.displayName()
    reason = offer.refused(algorithm)
    if reason:
        return Deed(REASONS[reason], name, label, _named(parameters))
    destinations = algorithm.destinationParameterDefinitions()
    files = [
        str(parameters[one.name()])
        for one in destinations
        if not _is_temporary(parameters.get(one.name()))
    ]
    if files:
        return Deed(Reach.FILE, name, label, ", ".join(files))
    if not destinations and algorithm.name() not in READING:
        return Deed(Reach.PROJECT, name, label, _named(parameters))
    reach = Reach.MAKE if destinations else Reach.READ
    return Deed(reach, name, label, _named(parameters), undoable=True)


def _is_temporary(value: Any) -> bool:
    """Tell whether an output goes where closing QGIS takes it away."""
    return value is None or (isinstance(value, str) and value.strip() in _TEMPORARY)


def _named(parameters: Mapping[str, Any]) -> str:
    """Return what a run is about: what is given first under a usual name."""
    for name in ("INPUT", "LAYER", "LAYERS", "URL"):
        if parameters.get(name):
            return named(parameters[name])
    return ""
