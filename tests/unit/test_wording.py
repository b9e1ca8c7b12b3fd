# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of an answer: known ones are rewritten, unknown ones are found, others left alone."""

from __future__ import annotations

import pytest
from agent_case import plain

from geo_olm.plugin.agent.closing import _plain
from geo_olm.plugin.agent.reading import parse_number
from geo_olm.plugin.agent.wording import Worded, reword

NUMBERS = {
    "r2.count": 17.0,
    "r1.sum": 1234567.891,
    "r1.mean": 0.034567,
    "r3.change": -12.5,
    "r4.pop_est": 2300.0,
}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("There are 17 countries.", "There are 17 countries."),
        ("The sum is 1234567.891.", "The sum is 1.234.567,891."),
        ("The sum is 1,234,567.891.", "The sum is 1.234.567,891."),
        ("The sum is 1234567.9.", "The sum is 1.234.567,891."),
        ("The sum is about 1 234 568.", "The sum is about 1.234.567,891."),
        ("The mean is 0.0346.", "The mean is 0,034567."),
        ("It changed by -12.5 %.", "It changed by -12,5 %."),
        ("It fell by 12.5 %.", "It fell by 12,5 %."),
        ("It changed by \u221212.5 %.", "It changed by -12,5 %."),
        ("There are {r2.count}.", "There are 17."),
        ("There are r2.count of them.", "There are 17 of them."),
        ("Population: {r4.pop_est}", "Population: 2.300"),
    ],
)
def test_a_number_of_a_result_is_written_for_the_user(text: str, written: str) -> None:
    worded = reword(text, NUMBERS, (), plain)
    assert (worded.text, worded.unknown) == (written, ())


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("There are 18 countries.", ("18",)),
        ("There are 17.4 countries.", ("17.4",)),
        ("The sum is 1200000.", ("1200000",)),
        ("About 1.2 of 17.", ("1.2",)),
        ("The mean is 0.", ("0",)),
        ("Between 3 and 4.", ("3", "4")),
    ],
)
def test_a_number_that_no_result_holds_is_found(text: str, unknown: tuple[str, ...]) -> None:
    assert reword(text, NUMBERS, (), plain).unknown == unknown


def test_numbers_of_the_question_and_of_layer_names_are_left_as_they_are() -> None:
    allowed = ("Buffer by 300 m in 2019?", "census_2011", "zone 4.50")
    worded = reword("300 m around census_2011 in 2019, zone 4.50: 17.", NUMBERS, allowed, plain)
    assert worded.text == "300 m around census_2011 in 2019, zone 4.50: 17."
    assert worded.unknown == ()


def test_the_marks_of_a_numbered_list_are_left_alone() -> None:
    worded = reword("The largest:\n1. Asia\n2) Africa\n3. 17", NUMBERS, (), plain)
    assert worded.text == "The largest:\n1. Asia\n2) Africa\n3. 17"
    assert worded.unknown == ()


def test_a_number_at_the_end_of_a_sentence_is_no_list_mark() -> None:
    assert reword("There are 18. Or more.", NUMBERS, (), plain).unknown == ("18",)


def test_digits_inside_a_name_or_a_code_are_left_alone() -> None:
    worded = reword("EPSG:4326 and r7 and level2 and A17.", NUMBERS, ("EPSG:4326",), plain)
    assert worded.text == "EPSG:4326 and r7 and level2 and A17."
    assert worded.unknown == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("17", 17.0),
        ("1,234", 1234.0),
        ("1\u00a0234.5", 1234.5),
        ("\u22123", -3.0),
        ("2,5", 2.5),
        ("1e3", 1000.0),
        ("x", None),
    ],
)
def test_a_written_number_is_read(text: str, number: float | None) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("It was on 2024-05-01 at 12:30.", "from 2024-05-01 to 2024-06-02, 12:30"),
        ("It is in EPSG:4326.", "CRS EPSG:4326"),
        ("QGIS 3.40.1 made it.", "QGIS 3.40.1"),
        ("In 2020 the 3 largest grew.", "The 3 largest in 2020?"),
        ("The classes are 10-20.", "10 to 20"),
    ],
)
def test_a_date_a_code_or_a_number_of_the_question_is_not_rewritten_by_a_number_like_it(
    text: str, allowed: str
) -> None:
    numbers = {"a.x": 5.0, "a.y": 4326.3, "a.z": 3.4, "a.w": 2020.0, "a.v": 24.0}
    assert reword(text, numbers, (allowed,), plain) == Worded(
        text, (), (2020.0,) if "2020" in text else ()
    )


@pytest.mark.parametrize("text", ["2024-05-01", "EPSG:4326", "3.40.1", "12:30"])
def test_a_date_or_a_code_that_stands_nowhere_is_found_as_a_whole(text: str) -> None:
    assert reword(f"It is {text}.", {"a.x": 5.0, "a.y": 4326.0}, (), plain).unknown == (text,)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Es sind 3,5 km.", "Es sind 3,5 km."),
        ("Es sind 12.345,6 km.", "Es sind 12.345,6 km."),
        ("Il y a 12\u202f345,6 km.", "Il y a 12.345,6 km."),
        ("Es sind 12.346 km.", "Es sind 12.345,6 km."),
        ("3.5km away", "3,5km away"),
    ],
)
def test_a_number_is_read_in_either_locale_and_with_a_unit_behind_it(
    text: str, written: str
) -> None:
    worded = reword(text, {"a.x": 3.5, "a.y": 12345.6}, (), plain)
    assert (worded.text, worded.unknown) == (written, ())


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("18km away", ("18",)),
        ("18km\u00b2", ("18",)),
        ("It is -17.", ("-17",)),
        ("About 3", ("3",)),
    ],
)
def test_a_number_with_a_unit_another_sign_or_fewer_digits_is_not_known(
    text: str, unknown: tuple[str, ...]
) -> None:
    assert reword(text, {"a.x": 17.0, "a.y": 3.4}, (), plain).unknown == unknown


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ('Results: r1: r1: layer "roads", 281 features.', 'layer "roads", 281 features.'),
        ("r2: count = 3 towns.", "count = 3 towns."),
        ("Results show 3 towns.", "Results show 3 towns."),
        ('The user reads: "Repair it. Results: r1: r1: 5 of 9 done."', "5 of 9 done."),
        ('It is "Ely".', 'It is "Ely".'),
    ],
)
def test_words_lose_the_ids_of_results_that_they_repeat(written: str, left: str) -> None:
    assert _plain(written) == left
