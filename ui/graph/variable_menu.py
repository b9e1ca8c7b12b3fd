# SPDX-License-Identifier: GPL-2.0-or-later
"""Variables for one parameter: use one that fits, make one of the value, or take its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QMenu, QToolButton, QWidget

from ...plugin.workflow import variable_edit
from ...plugin.workflow.fitting import fits, kinds_of
from ...plugin.workflow.graph import Graph, Type, Variable
from ...plugin.workflow.value import Asked, Layer, Value
from ...plugin.workflow.variable import Path, VariableError, declared, put, value_of
from ...tools.base import Family
from ..icon import theme_icon
from .card import title
from .document import GraphDocument


def tr(text: str) -> str:
    """Translate a text of the menu."""
    return QCoreApplication.translate("VariableMenu", text)


def variable_button(document: GraphDocument, step: str, path: Path, parent: QWidget) -> QToolButton:
    """Return a button that opens the menu of variables for the parameter at `path` of a step;
    the first key of the path is the parameter, further ones lead into its value."""
    button = QToolButton(parent)
    button.setIcon(theme_icon("mIconDataDefine"))
    button.setAutoRaise(True)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setObjectName(f"GeoOlmVariableMenu_{'_'.join(str(one) for one in path)}")
    name = str(path[0]).replace("_", " ")
    button.setAccessibleName(tr("Variable for {}").replace("{}", name))
    button.setToolTip(button.accessibleName())
    menu = QMenu(button)
    menu.aboutToShow.connect(lambda: fill_menu(menu, document, step, path))
    button.setMenu(menu)
    return button


def fill_menu(menu: QMenu, document: GraphDocument, step: str, path: Path) -> None:
    """Fill a menu with what can be done with variables at a parameter."""
    menu.clear()
    graph = document.graph
    if not graph.has(step):
        return
    value = _at(graph, step, path)
    fitting = [one for one in graph.variables if is_fitting(document, step, path, one)]
    for one in fitting:
        action = menu.addAction(tr("Use {}").replace("{}", _said(one)))
        action.setObjectName(f"GeoOlmUseVariable_{one.name}")
        action.setCheckable(True)
        action.setChecked(value == Asked(one.name))
        action.triggered.connect(lambda _on=False, name=one.name: use(document, step, path, name))
    if fitting:
        menu.addSeparator()
    make = menu.addAction(tr("Make a variable of it"))
    make.setObjectName("GeoOlmMakeVariable")
    make.setEnabled(isinstance(value, (str, int, float, Layer)) and not isinstance(value, bool))
    make.triggered.connect(lambda: declare(document, step, path))
    if isinstance(value, Asked):
        take = menu.addAction(tr("Put the value of {} here").replace("{}", value.variable))
        take.setObjectName("GeoOlmTakeValue")
        take.triggered.connect(lambda: fix(document, step, path))
        variable = graph.variable(value.variable)
        take.setEnabled(variable is not None and _value(variable) is not None)


def use(document: GraphDocument, step: str, path: Path, name: str) -> None:
    """Let a parameter take the value of a variable."""
    text = tr("Use variable {0} in {1}").replace("{0}", name)
    text = text.replace("{1}", title(document, document.graph.vertex(step)))
    document.edit(text, lambda graph: variable_edit.used(graph, step, path, name))


def declare(document: GraphDocument, step: str, path: Path) -> str:
    """Make a variable of the value of a parameter, with a free name; return the name."""
    keys = [one for one in path if isinstance(one, str)]
    name = variable_edit.free_name(document.graph, keys[-1] if keys else "value")
    label = f"{keys[0].replace('_', ' ')} {tr('of')} {title(document, document.graph.vertex(step))}"
    text = tr("Add variable {}").replace("{}", name)
    document.edit(text, lambda graph: declared(graph, step, path, name, label))
    return name


def fix(document: GraphDocument, step: str, path: Path) -> None:
    """Put the present value of a variable in its place at a parameter."""

    def fixed(graph: Graph) -> Graph:
        variable = graph.variable(_at(graph, step, path).variable)
        if variable is None:
            return graph
        vertex = graph.vertex(step)
        parameters = put(dict(vertex.parameters or {}), path, value_of(variable, {}))
        return variable_edit.with_parameters(graph, step, parameters)

    name = _at(document.graph, step, path).variable
    document.edit(tr("Put the value of {} in its place").replace("{}", name), fixed)


def is_fitting(document: GraphDocument, step: str, path: Path, variable: Variable) -> bool:
    """Tell whether a variable holds what a parameter takes."""
    definition = document.tools.get(document.graph.vertex(step).tool)
    properties = definition.parameters.get("properties", {}) if definition else {}
    schema = _schema(properties.get(str(path[0]), {}), path[1:])
    kinds = kinds_of(schema)
    if kinds:
        family = Family(variable.family)
        return variable.type is Type.LAYER and (
            fits(family, kinds) or any(fits(one, (family,)) for one in kinds)
        )
    if schema.get("type") in ("number", "integer"):
        return variable.type is Type.NUMBER
    return not schema or variable.type is not Type.LAYER


def _schema(schema: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    for key in path:
        inner = schema.get("items") if isinstance(key, int) else schema.get("properties", {})
        schema = (inner if isinstance(key, int) else (inner or {}).get(key)) or {}
    return schema


def _at(graph: Graph, step: str, path: Path) -> Value:
    value: Value = dict(graph.vertex(step).parameters or {})
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _said(variable: Variable) -> str:
    value = "" if variable.default is None else f" = {variable.default} {variable.unit}".rstrip()
    return f"{variable.name}{value}"


def _value(variable: Variable) -> Value:
    try:
        return value_of(variable, {})
    except VariableError:
        return None
