# SPDX-License-Identifier: GPL-2.0-or-later
"""Which field of a layer names its features."""

from __future__ import annotations

from .source import VectorSource


def naming_field(source: VectorSource, ranked: str = "") -> str:
    """Return the text field that most likely names a feature, other than `ranked`; "" for none."""
    texts = [name for name in source.names() if source.type_of(name) == "text" and name != ranked]
    for pattern in ("name", "name_en", "name_long", "title", "label"):
        for name in texts:
            if name.lower() == pattern:
                return name
    named = [name for name in texts if "name" in name.lower() or name.lower().startswith("nom")]
    return (named or texts or [""])[0]
