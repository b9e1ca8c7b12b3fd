# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the plugin's own files lie: resources in the package, models and logs in the profile."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from qgis.core import QgsApplication, QgsProcessingUtils

ROOT = Path(__file__).resolve().parent.parent
RESOURCES = ROOT / "resources"


def store_folder() -> Path:
    """Return the folder of models and server: GEO_OLM_STORE, else one in the profile."""
    named = os.environ.get("GEO_OLM_STORE")
    return Path(named) if named else Path(QgsApplication.qgisSettingsDirPath()) / "geo_olm"


def detector_folder() -> Path:
    """Return the folder of the user's own models that detect objects and classify land cover."""
    return store_folder() / "detectors"


@cache
def temporary_folder() -> Path:
    """Return QGIS's own temporary folder of this session.

    It is asked for once: after a run with a folder of its own QGIS names one within that, and
    folders within folders would end in paths that are too long.
    """
    return Path(QgsProcessingUtils.tempFolder())


def world_map() -> Path:
    """Return the world map that every QGIS carries (layers countries, states_provinces,
    disputed_borders; EPSG:4326)."""
    return Path(QgsApplication.pkgDataPath()) / "resources" / "data" / "world_map.gpkg"
