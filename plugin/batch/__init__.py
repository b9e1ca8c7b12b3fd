# SPDX-License-Identifier: GPL-2.0-or-later
"""A workflow run over many inputs: the inputs, the cluster, its QGIS processes, the gathering."""
