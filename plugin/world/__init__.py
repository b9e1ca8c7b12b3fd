# SPDX-License-Identifier: GPL-2.0-or-later
"""The generated Earth-observation world: products, images, zones and tasks with exact truth."""
