# SPDX-License-Identifier: GPL-2.0-or-later
"""The full-text index: words of four languages, slips of the pen, and one score with both ways."""

from __future__ import annotations

import math
import threading
import time

import pytest

from geo_olm.tools.search_index import Entry, Index, has_fts5
from geo_olm.tools.search_word import marks, plain_letters, stem, words

ENTRIES = [
    Entry("a:buffer", ("Buffer", "Tampon"), ("zone around features",), ("grow,distance",)),
    Entry("a:clip", ("Clip",), ("cut to a boundary", "découper"), ("mask",), ("Clips a layer",)),
    Entry("a:slope", ("Slope", "Eğim"), ("how steep",), ("dem,terrain",)),
    Entry("a:heatmap", ("Heatmap (kernel density)",), ("density of points",)),
]
COMMON = ("the", "a", "of", "by")
THINGS = ("wells",)
ALIKE = [("cut", "chop", "trim"), ("get rid of", "remove"), ("zone", "area")]

needs_fts5 = pytest.mark.skipif(not has_fts5(), reason="this SQLite has no FTS5")


def ids(index: Index, text: str) -> list[str]:
    return [one for one, _ in index.ranked(text)]


@pytest.fixture(params=[pytest.param(True, marks=needs_fts5), False], ids=["fts5", "scan"])
def index(request: pytest.FixtureRequest) -> Index:
    return Index(ENTRIES, COMMON, THINGS, ALIKE, fts5=request.param)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("polygons", "polígono"),
        ("polygone", "poligonlar"),
        ("vector", "vektör"),
        ("vecteurs", "vectores"),
        ("NEHİRLERİN", "nehir"),
        ("ISI", "ısı"),
        ("kırpma", "kırp"),
        ("clipping", "clip"),
        ("topographique", "topografik"),
    ],
)
def test_a_word_of_the_trade_is_one_in_four_languages(one: str, other: str) -> None:
    assert set(marks(one)) & set(marks(other))


def test_letters_lose_their_accents_and_dots_only() -> None:
    assert plain_letters("İlçe SINIRI, Œuvre, Straße, ñ") == "ilce siniri, oeuvre, strasse, n"
    assert words("500 m around x, y & l'eau 3D_tiles") == [
        "m",
        "around",
        "x",
        "y",
        "eau",
        "3d",
        "tiles",
    ]


def test_short_words_keep_their_letters() -> None:
    assert [stem(one) for one in ("dem", "csv", "id", "xyz")] == ["dem", "ksv", "id", "xis"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("buffer", "a:buffer"),
        ("a zone around the wells", "a:buffer"),
        ("area around wells", "a:buffer"),
        ("DÉCOUPER", "a:clip"),
        ("chop by boundary", "a:clip"),
        ("eğimi", "a:slope"),
        ("heat map", "a:heatmap"),
        ("bufer", "a:buffer"),
        ("densty of points", "a:heatmap"),
    ],
)
def test_what_is_asked_is_found_first(index: Index, text: str, first: str) -> None:
    assert ids(index, text)[0] == first


@pytest.mark.parametrize("text", ["", "   ", "the of a", "42", "?!", "\0", "zzzzqqqq", "ü" * 5000])
def test_what_says_nothing_finds_nothing(index: Index, text: str) -> None:
    assert index.ranked(text) == []


@pytest.mark.parametrize(
    "text",
    ['"', 'buffer" OR "', "NEAR(a b)", "names:buffer", "buffer*", "-buffer", "a AND b", "''"],
)
def test_marks_of_a_query_language_are_only_text(index: Index, text: str) -> None:
    assert isinstance(index.ranked(text), list)


@needs_fts5
@pytest.mark.parametrize("text", ["cut zone of points", "buffer the mask", "steep density clips"])
def test_the_scan_scores_as_fts5_does(text: str) -> None:
    table = dict(Index(ENTRIES, COMMON, THINGS, ALIKE, fts5=True).ranked(text))
    scan = dict(Index(ENTRIES, COMMON, THINGS, ALIKE, fts5=False).ranked(text))
    assert table == pytest.approx(scan)


def test_a_score_by_words_is_okapi_bm25(index: Index) -> None:
    """By hand: "slope" stands in 1 of 4 rows, once, in a field of weight 6."""
    rows = [[marks(" ".join(column)) for column in (one.names, one.synonyms, one.tags, one.help)]
            for one in ENTRIES]  # fmt: skip
    lengths = [sum(map(len, row)) for row in rows]
    rarity = math.log((4 - 1 + 0.5) / (1 + 0.5))
    length = 1 - 0.75 + 0.75 * lengths[2] / (sum(lengths) / 4)
    plain = Index(ENTRIES, fts5=index._scores.__class__.__name__ == "_Table")
    found = plain._scores([stem("slope")])
    assert found == pytest.approx({2: rarity * 6 * 2.2 / (6 + 1.2 * length)})


def test_an_index_is_asked_from_other_threads(index: Index) -> None:
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(ids(index, "buffer"))) for _ in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [["a:buffer"]] * 8


def test_an_endless_phrase_takes_no_time(index: Index) -> None:
    begun = time.perf_counter()
    found = ids(index, "buffer " + " ".join(f"wrong{chr(97 + n % 26)}{n}x" for n in range(20_000)))
    assert found[0] == "a:buffer"
    assert time.perf_counter() - begun < 2


def test_equal_entries_come_in_the_order_of_their_ids() -> None:
    twins = [Entry(one, ("Slope", "steep ground"), ("how steep",)) for one in ("b:s", "a:s", "c:s")]
    for fts5 in {has_fts5(), False}:
        assert ids(Index(twins, COMMON, fts5=fts5), "steep slope") == ["a:s", "b:s", "c:s"]
