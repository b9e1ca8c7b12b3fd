# SPDX-License-Identifier: GPL-2.0-or-later
"""Python packages that QGIS may lack, imported only when a tool uses them."""

from __future__ import annotations

import importlib
from typing import Any

from .base import LastingError


def package(name: str, purpose: str, instead: str = "use a GeoPackage instead") -> Any:
    """Return a package; `purpose` begins the sentence that says what needs it, `instead` ends it
    with another way.

    Raises LastingError when it cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LastingError(
            f"{purpose} needs the Python package {name}, which cannot be imported here "
            f"({error}). Install it for the Python of QGIS, or {instead}."
        ) from error
