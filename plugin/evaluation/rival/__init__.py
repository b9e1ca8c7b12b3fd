# SPDX-License-Identifier: GPL-2.0-or-later
"""The agents of the papers and of the protocols that they compare with, one module each."""
