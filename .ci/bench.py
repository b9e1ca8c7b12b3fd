# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the benchmarks of tests/bench and prints their table; nothing is written into the tree.

ONLY names modules, separated by commas; without it all run.
"""

import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from failure import OK, WRONG_USE, FailureError, run

ROOT = Path(__file__).resolve().parent.parent
FRAME = "measure"


@contextmanager
def headless_qgis() -> Iterator[None]:
    """Start QGIS and Processing, with settings and models of their own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["QGIS_CUSTOM_CONFIG_PATH"] = folder
        os.environ["GEO_OLM_STORE"] = str(Path(folder) / "store")
        from qgis.core import QgsApplication

        application = QgsApplication([], False)
        application.initQgis()
        sys.path.append(str(Path(QgsApplication.pkgDataPath()) / "python" / "plugins"))
        from processing.core.Processing import Processing

        Processing.initialize()
        yield
        application.exitQgis()


def register_package() -> None:
    """Import the project's root as geo_olm, whatever its folder is called."""
    spec = importlib.util.spec_from_file_location(
        "geo_olm", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["geo_olm"] = module
    spec.loader.exec_module(module)


def chosen() -> list[str]:
    """Return the benchmarks to run. Raises FailureError for a name that is none."""
    known = sorted(path.stem for path in (ROOT / "tests" / "bench").glob("*.py"))
    known.remove(FRAME)
    wanted = [name.strip() for name in os.environ.get("ONLY", "").split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise FailureError(f"There is no benchmark {name}; ONLY is of {', '.join(known)}.",
                               WRONG_USE)  # fmt: skip
    return wanted or known


def main() -> int:
    """Print the table, a line as soon as it is known."""
    sys.dont_write_bytecode = True
    names = chosen()
    register_package()
    sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "tests")]
    with headless_qgis():
        measure = importlib.import_module(FRAME)
        print(f"Medians of {measure.REPEATS} alternating pairs after one to warm up.")
        print(measure.HEAD)
        for name in names:
            for row in measure.rows_of(importlib.import_module(name)):
                print(measure.line(row), flush=True)
    return OK


if __name__ == "__main__":
    sys.exit(run(main))
