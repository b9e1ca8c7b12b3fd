# SPDX-License-Identifier: GPL-2.0-or-later
"""Widgets: they render events and data, and emit signals."""
