# SPDX-License-Identifier: GPL-2.0-or-later
"""How generated examples are drawn: the same ones in every short run, new ones in the long run."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.register_profile("long", max_examples=2000, database=None, deadline=None, print_blob=True)
settings.load_profile("long" if os.environ.get("GEO_OLM_LONG") == "1" else "steady")
