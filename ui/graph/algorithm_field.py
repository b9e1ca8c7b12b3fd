# SPDX-License-Identifier: GPL-2.0-or-later
"""QGIS's own widgets for the parameters of an algorithm, joined so that fields and units follow
the layers that are chosen."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    QgsApplication,
    QgsMapLayer,
    QgsMeshLayer,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProject,
    QgsRasterLayer,
    QgsVectorLayer,
)
from qgis.gui import (
    QgsAbstractProcessingParameterWidgetWrapper,
    QgsGui,
    QgsProcessingContextGenerator,
    QgsProcessingGui,
    QgsProcessingParameterWidgetContext,
)
from qgis.PyQt.QtWidgets import QWidget

from ...plugin.workflow.value import Value
from .algorithm_value import Definition, can_show, for_graph, for_widget, is_same
from .bound_field import kept_field
from .field import Field
from .parameter_row import Row

_OWN = frozenset(
    ("source", "vector", "raster", "layer", "multilayer", "mesh", "pointcloud", "annotation")
)
"""Types of layers, which steps give too: their fields are the editor's own."""
_LAYERS_INSIDE = frozenset(
    ("tininputlayers", "idw_interpolation_data", "vectortilewriterlayers", "dxflayers",
     "alignrasterlayers", "meshdatasetgroups", "meshdatasettime")
)  # fmt: skip
"""Types whose values hold layers in them, which QGIS's widgets would turn into sources."""


_KINDS = {"source": QgsVectorLayer, "vector": QgsVectorLayer, "raster": QgsRasterLayer,
          "mesh": QgsMeshLayer}  # fmt: skip


class _Context(QgsProcessingContextGenerator):
    """Gives widgets the project's layers."""

    def __init__(self) -> None:
        super().__init__()
        self._context = QgsProcessingContext()
        self._context.setProject(QgsProject.instance())

    def processingContext(self) -> QgsProcessingContext:
        """Return the one context."""
        return self._context


class _Parent(QgsAbstractProcessingParameterWidgetWrapper):
    """Stands for a parameter whose field is the editor's own, and tells the others its layer."""

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition, QgsProcessingGui.WidgetType.Standard)
        self._layer: QgsMapLayer | None = None

    def put(self, layer: QgsMapLayer | None) -> None:
        """Take the layer, if it is of the kind of the parameter: QGIS's widgets end with another
        one."""
        wanted = _KINDS.get(self.parameterDefinition().type(), QgsMapLayer)
        self._layer = layer if isinstance(layer, wanted) else None

    def createWidget(self) -> QWidget:
        """Return a widget that is never shown."""
        return QWidget()

    def setWidgetValue(self, value: Any, context: QgsProcessingContext) -> None:
        """Take nothing: the layer is put."""

    def widgetValue(self) -> Any:
        """Return the layer."""
        return self._layer


class AlgorithmForm:
    """The widgets of one algorithm; make each, then join them."""

    def __init__(self, algorithm: str) -> None:
        found = QgsApplication.processingRegistry().algorithmById(algorithm)
        self._algorithm: QgsProcessingAlgorithm | None = found.create() if found else None
        self._context = _Context()
        self._widget_context = QgsProcessingParameterWidgetContext()
        self._widget_context.setProject(QgsProject.instance())
        self._wrappers: list[Any] = []
        self._joined = False
        self._given: list[tuple[Definition, Any, Value]] = []
        self._parents: dict[str, _Parent] = {}

    def parent(self, name: str, layer: QgsMapLayer | None) -> None:
        """Let the other parameters know the layer of one that has a field of our own."""
        definition = self._definition(name)
        if definition is not None and definition.type() in _OWN:
            made = self._parents.setdefault(name, _Parent(definition))
            made.put(layer)
            self._wrappers.append(made)

    def field(self, row: Row) -> Field | None:
        """Return a field with QGIS's widget, None where it has none, or its widget would not give
        back the value that is there."""
        definition = self._definition(row.name)
        if definition is None or definition.type() in (_OWN | _LAYERS_INSIDE):
            return None
        if not can_show(definition, row.given):
            return kept_field(row.given)
        definition.setIsDynamic(False)  # a workflow holds no values defined by data
        wrapper = QgsGui.processingGuiRegistry().createParameterWidgetWrapper(
            definition, QgsProcessingGui.WidgetType.Standard
        )
        if wrapper is None:
            return None
        wrapper.setWidgetContext(self._widget_context)
        wrapper.registerProcessingContextGenerator(self._context)
        widget = wrapper.createWrappedWidget(self._context.processingContext())
        wrapper.setParent(widget)
        self._wrappers.append(wrapper)
        made = QgisField(widget, row.given, wrapper, definition)
        made.form = self
        self._given.append((definition, made, row.given))
        return made

    def join(self) -> list[str]:
        """Let the widgets follow each other, then show the values; return the names of those that
        cannot show theirs."""
        for wrapper in self._wrappers:
            if not isinstance(wrapper, _Parent):
                wrapper.postInitialize(self._wrappers)
        lost = []
        for definition, field, given in self._given:
            if given is not None and not field.show(given, self._context.processingContext()):
                lost.append(definition.name())
            field.begin()
        return lost

    def _definition(self, name: str) -> Definition | None:
        return self._algorithm.parameterDefinition(name) if self._algorithm else None


class QgisField(Field):
    """A field whose widget is QGIS's own for the parameter of an algorithm."""

    def __init__(self, widget: QWidget, value: Value, wrapper: Any, definition: Definition) -> None:
        super().__init__(widget, value)
        self.form: AlgorithmForm | None = None
        self._wrapper, self._definition = wrapper, definition
        self._filling = True
        wrapper.widgetValueHasChanged.connect(lambda _wrapper: self._say())

    def show(self, value: Value, context: QgsProcessingContext) -> bool:
        """Show a value; tells whether the widget holds it."""
        self._filling = True
        self._wrapper.setParameterValue(for_widget(self._definition, value), context)
        held = for_graph(self._definition, self._wrapper.parameterValue())
        return is_same(self._definition, held, value)

    def begin(self) -> None:
        """Tell from now on what the user changes."""
        self._filling = False

    @property
    def proposed(self) -> Value:
        """What the widget shows, whether or not it was given."""
        return for_graph(self._definition, self._wrapper.parameterValue())

    def _say(self) -> None:
        if not self._filling:
            self.tell(for_graph(self._definition, self._wrapper.parameterValue()))
