# SPDX-License-Identifier: GPL-2.0-or-later
"""A table joined to a layer by a key, with the multiplicity decided and what is unmatched told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from qgis.core import QgsFeature

from . import argument, wording
from .base import MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields
from .new_layer import extended, new_layer, row
from .selection import titled
from .source import VectorSource, plain
from .spelling import listed
from .summary import SUMMARIES, kind_of, summarised

_REFUSE = "refuse"
_SHOWN = 3
_CODE = 3
"""Characters of the longest text that is taken for a code, not for a name."""
Key = Callable[[Any], Any]


class JoinByField:
    """Adds the fields of another table by a key."""

    definition = ToolDefinition(
        "join_by_field",
        "Add fields of another layer or table where its key equals this layer's; several says what "
        "to do when a key occurs in more than one row there; tells what is unmatched.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "field": argument.field(),
                "other": argument.layer(*argument.FEATURES),
                "other_field": argument.field("other"),
                "fields": {"type": "array", "items": argument.field("other")},
                "several": argument.choice(_REFUSE, *SUMMARIES),
            },
            ["layer", "field", "other", "other_field"],
        ),
        label="Join by field",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Check nothing more."""

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read the other table by key, then add its values to every feature, matched or not."""
        source = context.vector(arguments["layer"])
        other = context.vector(arguments["other"])
        field = field_named(arguments["field"], SourceFields(source, context.cancelled))
        known = SourceFields(other, context.cancelled)
        other_field = field_named(arguments["other_field"], known)
        wanted = arguments.get("fields") or [one for one in other.names() if one != other_field]
        copied = [field_named(one, known) for one in wanted]
        mine, theirs, note = _keys(source, field, other, other_field, context)
        context.note(note)
        several = arguments.get("several", _REFUSE)
        table = _table(other, other_field, theirs, copied, context)
        if several in (_REFUSE, "first"):
            _choose(table, source, field, mine, other, other_field, theirs, context)
        _refuse_many(table, source, field, mine, other, several, context)
        kinds = {name: kind_of(several, other.type_of(name)) for name in copied}
        fields, names = extended(source, kinds)
        matched: dict[Any, int] = {}
        features = _rows(source, field, mine, table, several, kinds, fields, matched, context)
        layer = new_layer(source.key, fields, source.wkb, source.crs, features)
        title = titled(f"{source.key} joined with {other.key}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        found = sum(matched.values())
        alone = [key for key in table if key not in matched]
        context.note(*_told(found, source, alone, other, other_field, names, copied))
        return ToolResult(
            f"{wording.layer(reference)}; matched {found} of {max(0, source.features)}; "
            f"added: {', '.join(names)}.",
            numbers={
                "count": reference.features,
                "matched": found,
                "unmatched": max(0, source.features) - found,
                "other_unmatched": len(alone),
            },
            layers=(reference,),
        )


def _keys(
    source: VectorSource, field: str, other: VectorSource, other_field: str, context: Context
) -> tuple[Key, Key, str]:
    """Return how the keys of both are made alike, and a sentence when that was needed."""
    kinds = source.type_of(field), other.type_of(other_field)
    numeric = {"integer", "real"}
    if kinds[0] in numeric and kinds[1] in numeric:
        return _as_number, _as_number, ""
    if set(kinds) & numeric and "text" in kinds:
        return (
            _as_number,
            _as_number,
            f"{field} of {source.key} is {kinds[0]} and {other_field} of {other.key} {kinds[1]}: "
            'compared as numbers, so "01" equals 1.',
        )
    mine, theirs = _distinct(source, field, context), _distinct(other, other_field, context)
    if mine & theirs:
        return plain, plain, ""
    for way, words in ((_loose, "without case and blanks"), (_as_number, "as numbers")):
        if {way(one) for one in mine} & {way(one) for one in theirs} - {None}:
            return way, way, f"No key is written alike in both, so they are compared {words}."
    raise MendableError(
        f"No {field} of {source.key} equals an {other_field} of {other.key}: there are "
        f"{_some(mine)} and {_some(theirs)}. Check which fields hold the same key."
    )


def _some(values: set[Any]) -> str:
    return listed([wording.value(one) for one in sorted(values, key=str)[:_SHOWN]])


def _distinct(source: VectorSource, field: str, context: Context) -> set[Any]:
    rows = source.rows(context.cancelled, only=[field])
    return {plain(feature[field]) for feature in rows} - {None}


def _as_number(value: Any) -> Any:
    item = plain(value)
    if isinstance(item, str):
        try:
            return float(item.strip()) if "." in item else int(item.strip())
        except ValueError:
            return item.strip() or None
    return item


def _loose(value: Any) -> Any:
    item = plain(value)
    return " ".join(item.split()).casefold() if isinstance(item, str) else item


def _table(
    other: VectorSource, key: str, way: Key, copied: list[str], context: Context
) -> dict[Any, list[list[Any]]]:
    """Return the rows of the other table by key; rows without a key are left out and told."""
    found: dict[Any, list[list[Any]]] = {}
    without = 0
    for feature in other.rows(context.cancelled, only=[key, *copied]):
        value = way(feature[key])
        if value is None:
            without += 1
            continue
        found.setdefault(value, []).append([feature[name] for name in copied])
    if without:
        context.note(f"{wording.counted(without, 'row')} of {other.key} without {key} left out.")
    return found


def _choose(
    table: dict[Any, list[list[Any]]],
    source: VectorSource,
    field: str,
    mine: Key,
    other: VectorSource,
    other_field: str,
    theirs: Key,
    context: Context,
) -> None:
    """Leave of several rows of a key the only one that says another text of the feature too.

    So a code that stands for one country and for "no code" finds the country by its name.
    """
    many = {key for key, rows in table.items() if len(rows) > 1}
    if not many:
        return
    own: dict[Any, list[set[Any]]] = {}
    for feature in source.rows(context.cancelled):
        if mine(feature[field]) in many:
            own.setdefault(mine(feature[field]), []).append(_texts(feature, field))
    said: dict[Any, list[set[Any]]] = {}
    for feature in other.rows(context.cancelled):
        if theirs(feature[other_field]) in own:
            said.setdefault(theirs(feature[other_field]), []).append(_texts(feature, other_field))
    for key, texts in said.items():
        alike = [place for place, one in enumerate(texts) if one.intersection(*own[key])]
        if len(alike) == 1:
            context.note(
                f"{wording.value(key)} stands in {len(texts)} rows of {other.key}: the one was "
                f"taken that shares {wording.value(_shared(texts[alike[0]], own[key]))} with "
                f"{source.key}."
            )
            table[key] = [table[key][alike[0]]]


def _texts(feature: QgsFeature, but: str) -> set[Any]:
    names = [name for name in feature.fields().names() if name != but]
    values = [plain(feature[name]) for name in names]
    return {_loose(one) for one in values if isinstance(one, str) and len(one.strip()) > _CODE}


def _shared(texts: set[Any], own: list[set[Any]]) -> str:
    return min(map(str, texts.intersection(*own)))


def _refuse_many(
    table: dict[Any, list[list[Any]]],
    source: VectorSource,
    field: str,
    mine: Key,
    other: VectorSource,
    several: str,
    context: Context,
) -> None:
    """Refuse keys that occur in several rows when nothing says what to do with them."""
    many = {key for key, rows in table.items() if len(rows) > 1}
    if not many:
        return
    rows = source.rows(context.cancelled, only=[field])
    used = {key for key in (mine(feature[field]) for feature in rows) if key in many}
    if not used:
        return
    first = min(used, key=str)
    said = (
        f"{wording.counted(len(used), 'key')} of {source.key} match several rows of {other.key} "
        f"({wording.value(first)} matches {len(table[first])})"
    )
    if several == _REFUSE:
        raise MendableError(
            f"{said}. Say what to take: several = {listed(list(SUMMARIES), 10)}; a sum over "
            "doubled features would be wrong."
        )
    context.note(f"{said}: the {several} of each was taken, so no feature is doubled.")


def _rows(
    source: VectorSource,
    field: str,
    mine: Key,
    table: dict[Any, list[list[Any]]],
    several: str,
    kinds: dict[str, str],
    fields: Any,
    matched: dict[Any, int],
    context: Context,
) -> Iterator[QgsFeature]:
    nothing = [None] * len(kinds)
    total = max(1, source.features)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        if number % 1000 == 0:
            context.progress(100.0 * number / total)
        key = mine(feature[field])
        rows = table.get(key) if key is not None else None
        if rows is None:
            yield row(fields, feature, nothing)
            continue
        matched[key] = matched.get(key, 0) + 1
        yield row(fields, feature, [summarised(several, list(one)) for one in zip(*rows)])


def _told(
    found: int,
    source: VectorSource,
    alone: list[Any],
    other: VectorSource,
    other_field: str,
    names: list[str],
    copied: list[str],
) -> list[str]:
    said = []
    if found < source.features:
        many = wording.counted(source.features - found, "feature")
        said.append(f"{many} of {source.key} found no row: left NULL.")
    if alone:
        shown = _some(set(alone))
        many = wording.counted(len(alone), "key")
        said.append(f"{many} of {other.key} match no feature ({other_field}: {shown}).")
    renamed = [f"{old} is {new}" for old, new in zip(copied, names) if old != new]
    if renamed:
        said.append(f"{source.key} has fields of the same name: {', '.join(renamed)}.")
    return said
