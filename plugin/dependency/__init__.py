# SPDX-License-Identifier: GPL-2.0-or-later
"""The official client packages: what is there, and installing them into a folder of the profile."""
