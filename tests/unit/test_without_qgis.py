# SPDX-License-Identifier: GPL-2.0-or-later
"""The core in a process in which QGIS, Qt and the client libraries cannot be imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from source_tree import ROOT, modules

CORE = ("plugin.agent", "plugin.llm", "plugin.workflow")
NEED_QT = {"plugin.llm.transport", "plugin.llm.server"}
NEED_HTTPX = {"plugin.llm.httpx_transport"}
FREE_TOOLS = {
    "tools", "tools.base", "tools.registry", "tools.schema", "tools.spelling", "tools.condition",
    "tools.argument", "tools.unit", "tools.search_word", "tools.search_index",
}  # fmt: skip

PROGRAM = """
import importlib, importlib.util, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ImportError(f"{{name}} is refused")
        return None

sys.meta_path.insert(0, Refusing())
root = {root!r}
spec = importlib.util.spec_from_file_location(
    "geo_olm", root + "/__init__.py", submodule_search_locations=[root]
)
module = importlib.util.module_from_spec(spec)
sys.modules["geo_olm"] = module
spec.loader.exec_module(module)
for name in sys.argv[1:]:
    importlib.import_module("geo_olm." + name)
loaded = [name for name in sys.modules if name.partition(".")[0] in {refused!r}]
print("loaded", sorted(loaded))
"""
REFUSED = {
    "qgis", "PyQt5", "PyQt6", "osgeo", "processing", "httpx", "openai", "ollama", "pandas", "numpy",
}  # fmt: skip


def core_modules() -> list[str]:
    names = [module.name for module in modules()]
    core = [name for name in names if name.startswith(CORE) and name not in NEED_QT | NEED_HTTPX]
    return core + [name for name in names if name in FREE_TOOLS]


def import_in_a_process(*names: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(refused=REFUSED, root=str(ROOT))
    return subprocess.run(
        [sys.executable, "-c", program, *names],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=60,
        check=False,
    )


def test_every_core_module_is_imported_without_qgis_qt_and_client_libraries() -> None:
    names = core_modules()
    assert len(names) > 30
    done = import_in_a_process(*names)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "loaded []"


@pytest.mark.parametrize("name", ["plugin.runner", "tools.context"])
def test_the_process_would_tell_a_module_that_needs_qgis(name: str) -> None:
    done = import_in_a_process(name)
    assert done.returncode != 0
    assert "qgis.core is refused" in done.stderr or "qgis is refused" in done.stderr
