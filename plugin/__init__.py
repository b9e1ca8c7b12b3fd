# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin does behind its widgets: the agent, the models and the wiring."""
