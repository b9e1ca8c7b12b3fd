# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the scripts import the package, whatever its folder is called."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def geo_olm_on_path() -> None:
    """Make `import geo_olm` find the project's root, without QGIS."""
    if "geo_olm" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "geo_olm", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{ROOT} holds no package")
    module = importlib.util.module_from_spec(spec)
    sys.modules["geo_olm"] = module
    spec.loader.exec_module(module)
