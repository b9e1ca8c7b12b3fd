# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks, grading and the runs that measure the agent."""
