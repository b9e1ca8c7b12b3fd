# SPDX-License-Identifier: GPL-2.0-or-later
"""A process of its own that runs algorithms through the tool run_algorithm and writes a line for
each: the id before it runs, then what came of it. What QGIS itself crashes on ends this process
only. Called as: sweep.py FOLDER RESULTS ID…"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


def register() -> None:
    """Import the project's root as geo_olm, whatever its folder is called."""
    spec = importlib.util.spec_from_file_location(
        "geo_olm", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["geo_olm"] = module
    spec.loader.exec_module(module)


def outcome(bench: Any, algorithm: Any, folder: Path) -> dict[str, Any]:
    """Run one algorithm; return whether it ran, what it gave or why not."""
    from sweep_data import parameters

    from geo_olm.tools.base import ToolError
    from geo_olm.tools.parameter_schema import schema

    begun = time.monotonic()
    values = parameters(schema(algorithm), algorithm.name(), algorithm.provider().id(), folder)
    try:
        result = bench.run("run_algorithm", algorithm=algorithm.id(), parameters=values)
        found = {"ran": True, "said": result.text}
    except ToolError as error:
        found = {"ran": False, "said": error.message}
    return {**found, "seconds": round(time.monotonic() - begun, 2)}


def main(folder: Path, results: Path, ids: list[str]) -> None:
    """Run the algorithms one after the other, each with all the layers."""
    from qgis.core import QgsApplication

    application = QgsApplication([], False)
    application.initQgis()
    sys.path.append(str(Path(QgsApplication.pkgDataPath()) / "python" / "plugins"))
    from processing.core.Processing import Processing

    Processing.initialize()
    register()
    sys.path.insert(0, str(Path(__file__).parent))
    from sweep_data import project_of
    from toolbox_case import MainCaller

    from geo_olm.tools.catalog import build_registry
    from geo_olm.tools.toolbox import ProjectToolbox

    class Bench:
        def __init__(self) -> None:
            self.project = project_of(folder)
            self.toolbox = ProjectToolbox(self.project, build_registry(), MainCaller(), folder)
            self.toolbox.begin_turn("sweep")

        def run(self, tool: str, **arguments: Any) -> Any:
            return self.toolbox.run(tool, arguments, lambda _: None, lambda: False)

    bench = Bench()
    registry = QgsApplication.processingRegistry()
    with results.open("a", encoding="utf-8") as lines:
        for one in ids:
            lines.write(json.dumps({"id": one}) + "\n")
            lines.flush()
            found = outcome(bench, registry.algorithmById(one), folder)
            lines.write(json.dumps({"id": one, **found}, ensure_ascii=False) + "\n")
            lines.flush()
            bench.toolbox.undo_turn()
            bench.toolbox.begin_turn("sweep")
    os._exit(0)  # nothing is left to be written, and QGIS may crash when it is taken down


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
