# SPDX-License-Identifier: GPL-2.0-or-later
"""A graph as a Python script: an algorithm of Processing that can be read, changed and run."""

from __future__ import annotations

from collections.abc import Callable

from qgis.core import QgsProcessing

from ..workflow.graph import Graph
from .loss import Lost
from .model_out import to_model

_INDENT = 4


def to_script(graph: Graph, is_tool: Callable[[str], bool]) -> tuple[str, tuple[Lost, ...]]:
    """Return a script for the toolbox's "Create new script", and what it could not hold.

    Main thread only. Raises TopologyError for a graph without an order.
    """
    model, lost = to_model(graph, is_tool)
    kind = QgsProcessing.PythonOutputType.PythonQgsProcessingAlgorithmSubclass
    return "\n".join(model.asPythonCode(kind, _INDENT)) + "\n", lost
