# SPDX-License-Identifier: GPL-2.0-or-later
"""The Processing provider `geo_olm`."""

from __future__ import annotations

from qgis.core import QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from ..tools.catalog import build_registry
from .ask import AskAlgorithm
from .batch_workflow import BatchWorkflowAlgorithm
from .check import CheckModelAlgorithm
from .evaluation.algorithm import EvaluateAlgorithm
from .exchange.catalog import tool_algorithms
from .find import FindAlgorithm
from .place import RESOURCES
from .plan_workflow import PlanWorkflowAlgorithm
from .replay import agents
from .run_workflow import RunWorkflowAlgorithm
from .workflow import shape
from .workplace import ToolPlace


class GeoOlmProvider(QgsProcessingProvider):
    """Offers the plugin's algorithms to the toolbox, to batches and to qgis_process."""

    def id(self) -> str:  # noqa: D102
        return "geo_olm"

    def name(self) -> str:  # noqa: D102
        return "Geo-OLM"

    def icon(self) -> QIcon:  # noqa: D102
        return QIcon(str(RESOURCES / "icons" / "geo_olm.svg"))

    def loadAlgorithms(self) -> None:
        """Register the algorithms."""
        for algorithm in (
            AskAlgorithm(),
            BatchWorkflowAlgorithm(),
            CheckModelAlgorithm(),
            EvaluateAlgorithm(),
            FindAlgorithm(),
            PlanWorkflowAlgorithm(),
            RunWorkflowAlgorithm(),
        ):
            self.addAlgorithm(algorithm)
        shapes = shape.load(RESOURCES / "workflows" / "shapes.json")
        for one in tool_algorithms(build_registry(), agents(), shapes, ToolPlace()):
            self.addAlgorithm(one)
