# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions as expressions: exact quoting, real values, casts, and what is refused."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from geo_olm.tools.base import MendableError
from geo_olm.tools.condition import Filter, build, quoted_name, quoted_text
from geo_olm.tools.unit import metres


class Fields:
    """A layer with one field of each kind."""

    layer = "towns"
    types: ClassVar = {
        "name": "text",
        "pop": "integer",
        "seen": "date",
        "ok": "boolean",
        "code": "text",
        'od"d': "text",
    }
    values: ClassVar[dict[str, list[str] | None]] = {
        "name": ["O'Hare", "Łódź", "Asia", "asia ", "Rio"],
        "code": ["01", "2", "n/a"],
        'od"d': None,
    }

    def names(self) -> list[str]:
        return list(self.types)

    def type_of(self, name: str) -> str:
        return self.types[name]

    def values_of(self, name: str) -> list[str] | None:
        return self.values.get(name)


def one(field: str, op: str, value: Any = None) -> Filter:
    condition = {"field": field, "op": op}
    if value is not None:
        condition["value"] = value
    return build([condition], "all", Fields())


def test_names_and_texts_are_quoted() -> None:
    assert quoted_name('od"d') == '"od""d"'
    assert quoted_text("O'Hare") == "'O''Hare'"
    assert quoted_text("a\\b\n") == "'a\\\\b\\n'"


def test_an_apostrophe_stays_in_the_value() -> None:
    assert one("name", "=", "O'Hare").expression == "\"name\" = 'O''Hare'"


def test_a_quote_cannot_leave_the_value() -> None:
    found = one('od"d', "=", "x' OR 1=1 --").expression
    assert found == "\"od\"\"d\" = 'x'' OR 1=1 --'"


def test_a_text_is_matched_to_the_real_values_without_case() -> None:
    assert one("name", "=", "łódź").expression == "\"name\" = 'Łódź'"
    assert one("name", "=", "ASIA").expression == "\"name\" IN ('Asia', 'asia ')"


def test_an_unknown_text_gives_the_closest_values() -> None:
    with pytest.raises(MendableError, match=r'towns has no name "Ria". Closest: Rio'):
        one("name", "=", "Ria")


def test_empty_means_null_or_blank_for_texts_and_null_for_numbers() -> None:
    assert one("name", "is empty").expression == '"name" IS NULL OR trim("name") = \'\''
    assert one("pop", "is empty").expression == '"pop" IS NULL'
    assert one("pop", "is not empty").expression == '"pop" IS NOT NULL'


def test_a_number_compared_with_a_text_field_is_cast_and_said() -> None:
    found = one("code", ">", 1)
    assert found.expression == 'try(to_real("code")) > 1'
    assert "code is text" in found.notes[0]


def test_a_word_for_a_number_field_is_refused() -> None:
    with pytest.raises(MendableError, match=r'pop of towns holds numbers, so it cannot be "many"'):
        one("pop", ">", "many")


def test_a_number_as_text_is_taken_for_a_number_field() -> None:
    assert one("pop", ">=", "1e3").expression == '"pop" >= 1000.0'
    assert one("pop", "=", "7").expression == '"pop" = 7'


def test_between_takes_a_list_and_a_text() -> None:
    wanted = '"pop" >= 10 AND "pop" <= 20'
    assert one("pop", "between", [10, 20]).expression == wanted
    assert one("pop", "between", "10 and 20").expression == wanted
    with pytest.raises(MendableError, match=r"two values"):
        one("pop", "between", [10])


def test_one_of_lists_the_values() -> None:
    assert one("pop", "one of", [1, "2"]).expression == '"pop" IN (1, 2)'
    assert one("name", "one of", "rio, Łódź").expression == "\"name\" IN ('Rio', 'Łódź')"


def test_a_year_is_compared_with_the_year_of_a_date() -> None:
    assert one("seen", ">=", 2020).expression == 'year("seen") >= 2020'
    found = one("seen", "<", "2020-05-01").expression
    assert found == "\"seen\" < to_date('2020-05-01')"


def test_contains_takes_wildcards_as_they_are() -> None:
    found = one("name", "contains", "50%_").expression
    assert found == "strpos(lower(to_string(\"name\")), lower('50%_')) > 0"


def test_conditions_are_joined_in_brackets() -> None:
    both = [{"field": "pop", "op": ">", "value": 5}, {"field": "name", "op": "is empty"}]
    first = '("pop" > 5) AND ("name" IS NULL OR trim("name") = \'\')'
    assert build(both, "all", Fields()).expression == first
    assert build(both, "any", Fields()).expression == first.replace(") AND (", ") OR (")
    assert build(both, "any", Fields()).words == "pop > 5 or name is empty"


def test_a_missing_field_gives_the_closest_name() -> None:
    with pytest.raises(MendableError, match=r'no field "popul". Did you mean pop'):
        one("popul", ">", 5)
    assert one("POP", ">", 5).expression == '"pop" > 5'


def test_a_condition_without_value_is_refused() -> None:
    with pytest.raises(MendableError, match=r"is empty"):
        one("pop", "=")


def test_no_condition_takes_everything() -> None:
    assert build([], "all", Fields()) == Filter()


def test_not_equal_says_that_empty_ones_are_out() -> None:
    found = one("pop", "<>", 5)
    assert found.expression == '"pop" <> 5'
    assert found.notes == ("Features whose pop is empty are not included.",)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (1000, 1000.0),
        ("1000", 1000.0),
        ("1.5e3", 1500.0),
        ("1 km", 1000.0),
        ("1000 m", 1000.0),
        ("5 miles", 8046.72),
        ("2.5kilometres", 2500.0),
    ],
)
def test_a_length_with_its_unit_is_metres_b03(given: Any, wanted: float) -> None:
    assert metres(given) == pytest.approx(wanted)


@pytest.mark.parametrize("wrong", ["1,5", "far", "5 leagues", ""])
def test_a_length_that_does_not_parse_is_refused_b03(wrong: str) -> None:
    with pytest.raises(MendableError):
        metres(wrong)
