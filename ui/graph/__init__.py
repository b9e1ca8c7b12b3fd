# SPDX-License-Identifier: GPL-2.0-or-later
"""The graph editor: a document over a workflow, its canvas and the panels around it."""
