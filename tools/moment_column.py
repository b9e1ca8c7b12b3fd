# SPDX-License-Identifier: GPL-2.0-or-later
"""The moments in a field of a layer, whether it holds dates or texts."""

from __future__ import annotations

import datetime

from . import moment, wording
from .base import MendableError
from .context import Context
from .source import VectorSource, plain

_KINDS = ("text", "date", "datetime")


class MomentColumn:
    """Reads the values of one field; says how many could not be read."""

    def __init__(
        self, source: VectorSource, name: str, order: str, expression: str, context: Context
    ) -> None:
        """Look through the field for how its days and months stand.

        Raises MendableError when the field holds no dates, or nothing tells their order.
        """
        self._source, self._name = source, name
        kind = source.type_of(name)
        if kind not in _KINDS and kind != "integer":
            raise MendableError(
                f"{name} of {source.key} holds {kind} values, so it has no dates. Choose another."
            )
        rows = source.rows(context.cancelled, expression, only=None if expression else [name])
        texts = {str(plain(feature[name])) for feature in rows} - {"None", ""}
        self.order = order or moment.order_of(texts, f"{name} of {source.key}")
        self._read = {text: moment.read(text, self.order) for text in texts}
        known = [one for one in self._read.values() if one is not None]
        if texts and not known:
            raise MendableError(
                f"{name} of {source.key} has no date that can be read: it holds "
                f"{wording.value(min(texts))}. Dates are written like 2020-01-31."
            )
        self.unread = len(texts) - len(known)

    def of(self, value: object) -> datetime.datetime | None:
        """Return the moment at which a value begins, None for none."""
        found = self._read.get(str(plain(value)))
        return found.start if found is not None else None

    def told(self) -> str:
        """Say that some values could not be read, "" when all could."""
        if not self.unread:
            return ""
        many = wording.counted(self.unread, "value")
        return f"{many} of {self._name} cannot be read as a date: left out."
