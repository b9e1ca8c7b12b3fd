# SPDX-License-Identifier: GPL-2.0-or-later
"""The typed tools as algorithms of Processing, so that they stand in the toolbox and in models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from osgeo import gdal
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsFeatureSink,
    QgsField,
    QgsFields,
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
    QgsProcessingOutputString,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterRasterDestination,
    QgsProject,
    QgsRasterLayer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QCoreApplication, QMetaType

from ...tools.base import ToolCancelled, ToolDefinition, ToolError, ToolResult
from ...tools.registry import Tool
from ...tools.toolbox import ProjectToolbox
from ..workflow.role import Role
from ..workflow.shape import Gives
from .tool_parameter import arguments, parameters, title

PREFIX = "tool_"
OUTPUT, TEXT, SPOKEN = "OUTPUT", "TEXT", "FEATURES"
_WGS_84 = "EPSG:7030"


def tr(text: str) -> str:
    """Translate a text of these algorithms."""
    return QCoreApplication.translate("ToolAlgorithm", text)


class Workplace(Protocol):
    """Gives a tool a place to work: a toolbox over a project, and a thread to run on."""

    def toolbox(self, project: QgsProject) -> ProjectToolbox:
        """Return the tools over a project."""

    def run(self, work: Callable[[Callable[[], bool]], Any], cancelled: Callable[[], bool]) -> Any:
        """Run `work` beside an event loop and return what it gives, or raise its error."""


class ToolAlgorithm(QgsProcessingAlgorithm):
    """One typed tool. It works on copies of its layers in a project of its own.

    It asks for the main thread, where projects live; the work itself is done on a worker while an
    event loop spins.
    """

    def __init__(
        self, tool: Tool, role: Role, gives: Gives, place: Workplace, speaks: bool = False
    ) -> None:
        """`speaks` tells that a tool without a layer may speak of features."""
        super().__init__()
        self._tool, self._role, self._gives, self._place = tool, role, gives, place
        self._speaks = speaks

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition."""
        return self._tool.definition

    def name(self) -> str:  # noqa: D102
        return PREFIX + self.definition.name

    def displayName(self) -> str:  # noqa: D102
        return self.definition.label or title(self.definition.name)

    def group(self) -> str:  # noqa: D102
        return tr("{} tools").format(self._role.label)

    def groupId(self) -> str:  # noqa: D102
        return f"tools_{self._role.name}"

    def shortHelpString(self) -> str:  # noqa: D102
        return self.definition.description

    def createInstance(self) -> ToolAlgorithm:  # noqa: D102
        return ToolAlgorithm(self._tool, self._role, self._gives, self._place, self._speaks)

    def flags(self) -> Any:
        """Keep the algorithm on the main thread."""
        return super().flags() | QgsProcessingAlgorithm.Flag.FlagNoThreading

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the tool's arguments, its layer, its numbers and its text."""
        for one in parameters(self.definition):
            self.addParameter(one)
        shape = self._gives.shape
        if shape is not None and shape.family.value == "raster":
            self.addParameter(QgsProcessingParameterRasterDestination(OUTPUT, tr("Result")))
        elif shape is not None:
            self.addParameter(QgsProcessingParameterFeatureSink(OUTPUT, tr("Result")))
        else:
            kind = QgsProcessing.SourceType.TypeVector
            label = tr("Numbers as a table")
            self.addParameter(
                QgsProcessingParameterFeatureSink(
                    OUTPUT, label, kind, optional=True, createByDefault=False
                )
            )
        if self._speaks:
            label = tr("Features that meet the conditions")
            self.addParameter(
                QgsProcessingParameterFeatureSink(
                    SPOKEN, label, optional=True, createByDefault=False
                )
            )
        numbers = (*self._gives.numbers, *self._gives.may)
        for key in numbers:
            self.addOutput(QgsProcessingOutputNumber(key, title(key)))
        for key in self._gives.texts:
            if key not in numbers:
                self.addOutput(QgsProcessingOutputString(key, title(key)))
        self.addOutput(QgsProcessingOutputString(TEXT, tr("Result in words")))

    def processAlgorithm(
        self,
        values: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Run the tool. Raises QgsProcessingException with the tool's own sentence."""
        project, taken = _room(context)
        toolbox = self._place.toolbox(project)

        def called(name: str, given: dict[str, Any]) -> ToolResult:
            result: ToolResult = self._place.run(
                lambda stopped: toolbox.run(name, given, feedback.setProgress, stopped),
                feedback.isCanceled,
            )
            return result

        try:
            given = arguments(self, self.definition, values, context, taken)
            feedback.pushDebugInfo(f"{self.definition.name} {given}")
            result = called(self.definition.name, given)
            feedback.pushInfo(result.text)
            found = {**result.texts, **result.numbers, TEXT: result.text}
            if self._gives.shape is None:
                found.update(self._table(result, values, context))
                layer_output = SPOKEN
            else:
                layer_output = OUTPUT
            layers = result.layers
            if not layers and result.speaks and values.get(layer_output):
                layers = called("layer_info", {"layer": result.id}).extracted
            if layers and values.get(layer_output):
                layer = project.mapLayer(layers[0].id)
                found[layer_output] = self._written(layer, layer_output, values, context, feedback)
            return found
        except ToolError as error:
            raise QgsProcessingException(error.message) from error
        except ToolCancelled:
            return {}
        finally:
            toolbox.close()
            project.clear()

    def _table(
        self, result: ToolResult, values: dict[str, Any], context: QgsProcessingContext
    ) -> dict[str, str]:
        """Write the numbers and the text as a table of one row, where that is wanted."""
        fields = QgsFields()
        for key in result.numbers:
            fields.append(QgsField(key, QMetaType.Type.Double))
        fields.append(QgsField(TEXT.lower(), QMetaType.Type.QString))
        kind, nowhere = Qgis.WkbType.NoGeometry, QgsCoordinateReferenceSystem()
        sink, identity = self.parameterAsSink(values, OUTPUT, context, fields, kind, nowhere)
        if sink is None:
            return {}
        row = QgsFeature(fields)
        row.setAttributes([*result.numbers.values(), result.text])
        sink.addFeature(row, QgsFeatureSink.Flag.FastInsert)
        return {OUTPUT: str(identity)}

    def _written(
        self,
        layer: QgsMapLayer,
        output: str,
        values: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> str:
        """Write the result where the user wants it and return its id or path."""
        if isinstance(layer, QgsRasterLayer):
            path = str(self.parameterAsOutputLayer(values, output, context))
            if gdal.Translate(path, layer.source()) is None:
                raise QgsProcessingException(tr("{} cannot be written.").format(path))
            return path
        if not isinstance(layer, QgsVectorLayer):
            raise QgsProcessingException(tr("The result is no layer with features."))
        sink, identity = self.parameterAsSink(
            values, output, context, layer.fields(), layer.wkbType(), layer.crs()
        )
        if sink is None:
            raise QgsProcessingException(self.invalidSinkError(values, output))
        for feature in layer.getFeatures():
            if feedback.isCanceled():
                break
            if not sink.addFeature(feature, QgsFeatureSink.Flag.FastInsert):
                raise QgsProcessingException(self.writeFeatureError(sink, values, output))
        sink.flushBuffer()
        return str(identity)


def _room(context: QgsProcessingContext) -> tuple[QgsProject, Callable[[QgsMapLayer], str]]:
    """Return a project to work in, and what copies a layer into it and returns its name there.

    It measures as the user's project does. Where that has no CRS, and so no ellipsoid, it takes
    the CRS of its first layer, and the context's ellipsoid or that of WGS 84.
    """
    project, source = QgsProject(), context.project() or QgsProject.instance()
    project.setCrs(source.crs())
    project.setEllipsoid(context.ellipsoid() or source.ellipsoid())
    project.setTransformContext(context.transformContext())
    copies: dict[str, str] = {}

    def taken(layer: QgsMapLayer) -> str:
        if layer.id() not in copies:
            copy = layer.clone()
            others = len(project.mapLayersByName(layer.name()))
            copy.setName(f"{layer.name()} ({others + 1})" if others else layer.name())
            copies[layer.id()] = project.addMapLayer(copy).name()
            if not project.crs().isValid() and layer.crs().isValid():
                project.setCrs(layer.crs())
                named = context.ellipsoid()
                project.setEllipsoid(named if named not in ("", "NONE") else _WGS_84)
        return copies[layer.id()]

    return project, taken
