# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoFlow graphs: model, checks, generation, schedule, refinement and files, without QGIS."""
