# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model can call, each tool mapped onto QGIS layers and algorithms."""
