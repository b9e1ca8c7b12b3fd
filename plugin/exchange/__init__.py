# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaving and arriving: our tools in the toolbox, graphs as QGIS models and as scripts."""
