# SPDX-License-Identifier: GPL-2.0-or-later
"""The state machine that carries a question from Init to End."""
