# SPDX-License-Identifier: GPL-2.0-or-later
"""Geo-OLM for QGIS: ask questions of map layers with a language model on this machine."""

from __future__ import annotations

from typing import Any


def classFactory(iface: Any) -> Any:
    """Return the plugin, as QGIS asks for it; `iface` is None in qgis_process."""
    from .plugin.main import GeoOlmPlugin

    return GeoOlmPlugin(iface)
