# SPDX-License-Identifier: GPL-2.0-or-later
"""The imports of every module against the table of rooms in CONTRIBUTING."""

from __future__ import annotations

import pytest
from source_tree import Import, Module, imports, modules

ALLOWED = {
    "plugin.agent": ("plugin.agent", "plugin.llm.base", "plugin.workflow", "tools.base",
                     "tools.registry"),
    "plugin.llm": ("plugin.llm", "plugin.agent.message", "tools.base"),
    "plugin.workflow": ("plugin.workflow", "plugin.llm.base", "plugin.agent.message",
                        "tools.base"),
    "plugin.exchange": ("plugin.exchange", "plugin.workflow", "tools"),
    "plugin.batch": ("plugin", "tools"),
    "plugin.evaluation": ("plugin", "tools"),
    "plugin": ("plugin", "tools"),
    "tools": ("tools",),
    "ui": ("ui", "plugin.agent.event", "plugin.agent.message", "plugin.settings",
           "plugin.workflow", "tools.base"),
    "": ("plugin.main",),
}  # fmt: skip
"""What a room may import of the package; the longest room that holds a module counts."""

SEES_WIDGETS = {
    "plugin.main", "plugin.desk", "plugin.scout", "plugin.package_desk", "plugin.sent_desk",
    "plugin.model_desk", "plugin.doctor_desk", "plugin.graph_desk", "plugin.library_desk",
    "plugin.file_desk", "plugin.library_reader", "plugin.preview", "plugin.run_desk",
    "plugin.locator_filter", "plugin.layer_menu", "plugin.window_fitting",
    "plugin.first_run",
}  # fmt: skip
"""The modules that join widgets to the rest."""

WIRES_EVALUATION = {"plugin.main", "plugin.provider"}
USES_QT = {"plugin.llm.transport", "plugin.llm.server"}
WITHOUT_QGIS = {
    "tools", "tools.base", "tools.registry", "tools.schema", "tools.condition", "tools.spelling",
    "tools.argument", "tools.unit", "tools.boundary", "tools.search_word",
    "tools.search_index", "tools.delimited", "tools.moment", "tools.package", "tools.place_name",
}  # fmt: skip
UI_MAY_SEE = {
    "ui.icon": ("qgis.core",),
    "ui.chat_dock": ("qgis.gui",),
    "ui.options_page": ("qgis.gui",),
    "ui.cost_panel": ("qgis.gui",),
    "ui.graph.graph_dock": ("qgis.gui",),
    "ui.graph.qgis_field": ("qgis.core", "qgis.gui"),
    "ui.graph.algorithm_field": ("qgis.core", "qgis.gui"),
    "ui.graph.algorithm_value": ("qgis.core",),
    "ui.graph.stand_in": ("qgis.core",),
}
"""Where the theme's icons are found, and where a widget of QGIS is embedded."""

LAZY = {
    "httpx", "openai", "ollama", "pandas", "geopandas", "pyarrow", "pyogrio", "onnxruntime",
    "pystac", "pystac_client", "matplotlib", "processing", "distributed", "dask", "cloudpickle",
    "psutil", "pyhdf", "h5py", "pypdf",
}  # fmt: skip
ONLY_LAZILY_IMPORTED = {"plugin.llm.httpx_transport"}
"""Modules that may import a client library at their top, since nothing imports them at its own."""

NEVER = {"PyQt5", "PyQt6", "PySide2", "PySide6", "sip", "pickle", "marshal", "shelve", "imp"}

FOUND = [(module, one) for module in modules() for one in imports(module)]


def is_in(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def room_of(module: Module) -> str:
    return max((room for room in ALLOWED if room and is_in(module.name, room)), key=len, default="")


def breaches(kept: list[tuple[Module, Import]]) -> list[str]:
    return [f"{module.name}:{one.line} imports {one.name}" for module, one in kept]


def test_the_walk_finds_the_modules_and_their_imports() -> None:
    names = {module.name for module, _one in FOUND}
    assert {"", "plugin.agent.engine", "tools.catalog", "ui.chat_dock"} <= names
    engine = {one.name for module, one in FOUND if module.name == "plugin.agent.engine"}
    assert {"tools.base", "plugin.llm.base", "plugin.agent.prompt", "time"} <= engine


def test_each_room_imports_only_the_rooms_that_it_may() -> None:
    wrong = [
        (module, one)
        for module, one in FOUND
        if one.own and not any(is_in(one.name, room) for room in ALLOWED[room_of(module)])
    ]
    wrong = [
        (module, one)
        for module, one in wrong
        if not (is_in(one.name, "ui") and module.name in SEES_WIDGETS)
        and not (one.typing and one.name == "plugin.settings" and room_of(module) == "plugin.llm")
    ]
    assert breaches(wrong) == []


def test_only_the_wiring_imports_the_evaluation() -> None:
    wrong = [
        (module, one)
        for module, one in FOUND
        if one.own
        and is_in(one.name, "plugin.evaluation")
        and not is_in(module.name, "plugin.evaluation")
        and module.name not in WIRES_EVALUATION
    ]
    assert breaches(wrong) == []


def test_agent_models_and_the_base_of_the_tools_import_neither_qgis_nor_qt() -> None:
    core = ("plugin.agent", "plugin.llm", "plugin.workflow")
    wrong = [
        (module, one)
        for module, one in FOUND
        if one.top in ("qgis", "osgeo", "processing")
        and module.name not in USES_QT
        and (module.name in WITHOUT_QGIS or any(is_in(module.name, room) for room in core))
    ]
    assert breaches(wrong) == []


def test_widgets_see_of_qgis_only_qt_and_what_is_embedded() -> None:
    wrong = [
        (module, one)
        for module, one in FOUND
        if is_in(module.name, "ui")
        and one.top in ("qgis", "osgeo", "processing")
        and not is_in(one.name, "qgis.PyQt")
        and one.name not in UI_MAY_SEE.get(module.name, ())
    ]
    assert breaches(wrong) == []


def test_nothing_imports_qt_itself_iface_or_a_way_to_run_data() -> None:
    wrong = [
        (module, one) for module, one in FOUND if one.top in NEVER or is_in(one.name, "qgis.utils")
    ]
    assert breaches(wrong) == []


def test_client_libraries_and_heavy_ones_are_imported_in_functions_only() -> None:
    wrong = [
        (module, one)
        for module, one in FOUND
        if (one.top in LAZY or (one.own and one.name in ONLY_LAZILY_IMPORTED))
        and not (one.lazy or one.typing or module.name in ONLY_LAZILY_IMPORTED)
    ]
    assert breaches(wrong) == []


def test_inside_the_package_imports_are_relative() -> None:
    wrong = [(module, one) for module, one in FOUND if not one.own and one.top == "geo_olm"]
    assert breaches(wrong) == []


@pytest.mark.parametrize("room", ["plugin.agent", "plugin.llm", "tools", "ui"])
def test_every_room_of_the_table_has_modules(room: str) -> None:
    assert any(is_in(module.name, room) for module, _one in FOUND)
