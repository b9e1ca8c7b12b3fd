# SPDX-License-Identifier: GPL-2.0-or-later
"""By which field the features of a layer are told apart, and what each is called."""

from __future__ import annotations

from qgis.core import QgsFeature

from .context import Context
from .source import VectorSource, plain

_READ = 2_000
_NAMES = ("name", "nom", "title", "label")


def naming_field(source: VectorSource, context: Context) -> str:
    """Return the text field with the most distinct values, of equal ones the one called a name.

    Looks at the first features only; "" for a layer without texts. Raises ToolCancelled.
    """
    texts = [name for name in source.names() if source.type_of(name) == "text"]
    values: dict[str, set[object]] = {name: set() for name in texts}
    for number, feature in enumerate(source.rows(context.cancelled, only=texts)):
        for name in texts:
            values[name].add(plain(feature[name]))
        if number >= _READ:
            break
    ranked = sorted(texts, key=lambda name: (-len(values[name]), not _is_name(name)))
    return ranked[0] if ranked else ""


def _is_name(field: str) -> bool:
    return field.lower().startswith(_NAMES) or "name" in field.lower()


def named(feature: QgsFeature, field: str) -> str:
    """Return what a feature is called: the field's value, else its id."""
    value = plain(feature[field]) if field else None
    return str(value) if value not in (None, "") else f"feature {feature.id()}"
