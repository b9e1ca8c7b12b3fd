# SPDX-License-Identifier: GPL-2.0-or-later
"""The step that runs an algorithm of the registry."""

from __future__ import annotations

from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.role import Roles
from ...plugin.workflow.shelf import ALGORITHM, PARAMETERS, RUN_ALGORITHM, Offered


def algorithm_step(one: Offered, roles: Roles) -> Vertex:
    """Return a step without an id that runs an algorithm, with an agent that may."""
    holding = [role.name for role in roles.all() if RUN_ALGORITHM in role.tools]
    is_raster = "raster" in one.group.casefold() and "raster" in holding
    agent = "raster" if is_raster else next(iter(holding), "")
    parameters = {ALGORITHM: one.id, PARAMETERS: {}}
    return Vertex("", agent, "", RUN_ALGORITHM, parameters, title=one.label)
