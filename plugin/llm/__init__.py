# SPDX-License-Identifier: GPL-2.0-or-later
"""Chat models: one small protocol and the servers that speak it."""
