# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and values are found in a request however JSON writes them, and only as whole words."""

from __future__ import annotations

import json

import pytest

from geo_olm.plugin.llm.holding import MOST, Held, Known, holding

KNOWN = Known(
    ("roads", "Straßen im Süden", 'the "old" layer'),
    ("name", "Größe", "pop"),
    ("Ely", "1250.5", "7", "Ñuñoa"),
)


def body(*texts: str, ascii_only: bool = False) -> bytes:
    messages = [{"role": "user", "content": text} for text in texts]
    return json.dumps({"model": "m", "messages": messages}, ensure_ascii=ascii_only).encode()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_what_stands_in_a_prompt_is_found(ascii_only: bool) -> None:
    sent = body("Layer roads: name, Größe. First row: Ely 1250.5.", ascii_only=ascii_only)
    assert holding(sent, KNOWN) == Held(("roads",), ("name", "Größe"), ("Ely", "1250.5"))


@pytest.mark.parametrize("inner_ascii", [False, True])
def test_what_stands_in_json_within_json_is_found(inner_ascii: bool) -> None:
    inner = {"layer": 'the "old" layer', "where": "Straßen im Süden", "value": "Ñuñoa"}
    sent = body(json.dumps(inner, ensure_ascii=inner_ascii), ascii_only=True)
    found = holding(sent, KNOWN)
    assert found.layers == ("Straßen im Süden", 'the "old" layer')
    assert found.values == ("Ñuñoa",)


def test_a_part_of_a_longer_word_or_number_is_nothing() -> None:
    sent = body("crossroads rename popular Elysium 11250.51")
    assert holding(sent, KNOWN) == Held()


def test_names_in_a_schema_and_numbers_are_found() -> None:
    schema = {"properties": {"field": {"enum": ["pop"]}, "limit": {"const": 1250.5}}}
    sent = json.dumps({"format": schema}).encode()
    assert holding(sent, KNOWN) == Held((), ("pop",), ("1250.5",))


def test_the_protocols_own_names_are_no_fields() -> None:
    sent = json.dumps({"pop": {"name": "x"}, "messages": []}).encode()
    assert holding(sent, KNOWN) == Held()


def test_a_value_of_one_character_is_not_looked_for() -> None:
    assert holding(body("7 towns"), KNOWN) == Held()


def test_what_is_more_than_the_list_is_counted() -> None:
    values = tuple(f"value{number}" for number in range(MOST + 8))
    found = holding(body(" ".join(values)), Known(values=values))
    assert (len(found.values), found.more) == (MOST, 8)


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe roads", b"[" * 100_000, b"roads, but no JSON"])
def test_a_body_that_is_no_json_is_searched_as_it_is(raw: bytes) -> None:
    assert holding(raw, KNOWN).layers == (("roads",) if b"roads" in raw else ())
