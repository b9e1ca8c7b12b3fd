# SPDX-License-Identifier: GPL-2.0-or-later
"""The script by which another Python starts the cluster of a batch, or a QGIS of one worker."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = "geo_olm"
_PARTS = ("driver", "child")


def register(root: Path) -> None:
    """Make the plugin's folder importable as its package, whatever the folder is called."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, root / "__init__.py", submodule_search_locations=[str(root)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{root} is no plugin")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def main(part: str) -> int:
    """Run the driver or a child until its input ends; returns the exit status."""
    here = Path(__file__).resolve()
    sys.path[:] = [one for one in sys.path if Path(one or ".").resolve() != here.parent]
    register(here.parent.parent.parent)
    found = importlib.import_module(f"{PACKAGE}.plugin.batch.{part}")
    return int(found.main())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if sys.argv[1:2] and sys.argv[1] in _PARTS else 2)
