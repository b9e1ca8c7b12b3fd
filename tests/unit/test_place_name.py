# SPDX-License-Identifier: GPL-2.0-or-later
"""Places are found however their names are spelled."""

from __future__ import annotations

import pytest

from geo_olm.tools.place_name import alike

CITIES = ("Kahramanmaraş", "Nurdağı", "İslahiye", "Türkoğlu")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Nurdagi", "Nurdağı"), ("NURDAĞI", "Nurdağı"), ("nurdagı", "Nurdağı"),
        ("Islahiye", "İslahiye"), ("ISLAHİYE", "İslahiye"), ("Turkoglu", "Türkoğlu"),
        ("Marash", "Kahramanmaraş"), ("Maraş", "Kahramanmaraş"), ("Maras", "Kahramanmaraş"),
        ("kahraman maras", "Kahramanmaraş"), ("Kahramanmarash", "Kahramanmaraş"),
    ],
)  # fmt: skip
def test_a_place_is_known_by_its_other_spellings(said: str, meant: str) -> None:
    assert alike(said, CITIES) == [meant]


@pytest.mark.parametrize("said", ["Ankara", "Nurdag", "", "Mara"])
def test_another_place_is_not_taken_for_one_of_them(said: str) -> None:
    assert alike(said, CITIES) == []


def test_the_spelling_as_written_goes_before_other_names() -> None:
    assert alike("Urfa", ["Urfa", "Şanlıurfa"]) == ["Urfa"]
    assert alike("Zürich", ["Zurich", "Genf"]) == ["Zurich"]
