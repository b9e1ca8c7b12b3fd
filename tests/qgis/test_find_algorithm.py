# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding algorithms: recall over the labelled phrases, and geo_olm:findalgorithm itself."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from qgis.core import (
    QgsApplication,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
)

from geo_olm.plugin.find import FindAlgorithm
from geo_olm.tools import offer, search
from geo_olm.tools.search import Search
from geo_olm.tools.search_index import has_fts5

pytestmark = pytest.mark.usefixtures("qgis_processing")

PHRASES = Path(__file__).resolve().parent.parent / "data" / "phrases.json"
LANGUAGES = ("en", "es", "fr", "tr")
AIM = 0.95


def labelled(part: str = "phrases") -> list[dict[str, Any]]:
    """Return the phrases, each with its right ids as far as this registry has them.

    Between versions of QGIS algorithms move to another provider and keep their names.
    """
    algorithms = QgsApplication.processingRegistry().algorithms()
    by_name: dict[str, list[str]] = {}
    for one in algorithms:
        by_name.setdefault(one.name(), []).append(one.id())
    known = {one.id() for one in algorithms}
    rows = json.loads(PHRASES.read_text(encoding="utf-8"))[part]
    for row in rows:
        row["ids"] = {
            found
            for one in row["ids"]
            for found in ([one] if one in known else by_name.get(one.split(":")[1], []))
        }
    return [row for row in rows if row["ids"]]


def is_held_out(phrase: str) -> bool:
    return hashlib.sha256(phrase.encode()).digest()[0] % 3 == 0


def recall(rows: list[dict[str, Any]], finder: Search, refused: bool = True) -> float:
    right = [
        row
        for row in rows
        if row["ids"] & {one.id for one in finder.found(row["phrase"], refused=refused)}
    ]
    return len(right) / len(rows)


def test_the_labelled_set_is_large_and_names_algorithms_that_exist() -> None:
    document = json.loads(PHRASES.read_text(encoding="utf-8"))["phrases"]
    assert len({row["phrase"] for row in document}) == len(document) >= 200
    assert {row["language"] for row in document} == set(LANGUAGES)
    assert len(labelled()) == len(document)
    held = [row for row in document if is_held_out(row["phrase"])]
    assert 0.25 < len(held) / len(document) < 0.42


@pytest.mark.parametrize("held", [False, True], ids=["tuned", "held out"])
@pytest.mark.parametrize("refused", [True, False], ids=["all", "offered"])
def test_recall_at_eight_reaches_the_aim(held: bool, refused: bool) -> None:
    rows = [row for row in labelled() if is_held_out(row["phrase"]) is held]
    finder = search.live()
    for language in LANGUAGES:
        of = [row for row in rows if row["language"] == language]
        print(f"{language}: {recall(of, finder, refused):.1%} of {len(of)}")
    assert recall(rows, finder, refused) >= AIM


def test_phrases_of_later_are_found_as_well() -> None:
    assert recall(labelled("later"), search.live()) >= AIM


def test_without_fts5_the_same_is_found() -> None:
    algorithms = QgsApplication.processingRegistry().algorithms()
    scan, table = Search(algorithms, fts5=False), search.live()
    for row in labelled()[::7]:
        assert [one.id for one in scan.found(row["phrase"])] == [
            one.id for one in table.found(row["phrase"])
        ]


def test_a_phrase_takes_milliseconds_and_the_index_is_kept() -> None:
    first = search.live()
    begun = time.perf_counter()
    for _ in range(20):
        assert search.live() is first
        first.found("total length of rivers in each basin")
    assert (time.perf_counter() - begun) / 20 < 0.1
    assert has_fts5()


def test_embeddings_put_the_found_ones_in_order_of_meaning() -> None:
    asked: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.append(texts)
        return [[1.0, 0.0]] + [[float("onvex" in one), 0.01] for one in texts[1:]]

    found = search.live().found("concave hull", embed=embed)
    assert "onvex" in found[0].name
    assert asked[0][0] == "concave hull"
    assert len(asked[0]) <= 31


def run(**parameters: Any) -> dict[str, Any]:
    algorithm = FindAlgorithm().create()
    context, feedback = QgsProcessingContext(), QgsProcessingFeedback(False)
    assert algorithm.prepare(parameters, context, feedback)
    return algorithm.runPrepared(parameters, context, feedback)


def test_a_phrase_gives_the_first_eight_ids_best_first(tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    run(PHRASE="  clip raster by polygon ", JSON=str(target))
    (result,) = json.loads(target.read_text(encoding="utf-8"))["results"]
    assert result["phrase"] == "clip raster by polygon"
    assert result["ids"][0] == "gdal:cliprasterbymasklayer"
    assert len(result["ids"]) == len(set(result["ids"])) == 8
    known = {one.id() for one in QgsApplication.processingRegistry().algorithms()}
    assert set(result["ids"]) <= known


def test_a_file_gives_a_result_for_each_line_in_order(tmp_path: Path) -> None:
    lines = ["en yakın hastane", "", "pente; \"quoted\" 'text' | pipe", "zzzzzz", "  buffer  "]
    source, target = tmp_path / "my phrases.txt", tmp_path / "found.json"
    source.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    run(FILE=str(source), JSON=str(target))
    results = json.loads(target.read_text(encoding="utf-8"))["results"]
    assert [one["phrase"] for one in results] == [one.strip() for one in lines if one]
    assert "native:joinbynearest" in results[0]["ids"]
    assert results[2]["ids"] == []
    assert results[3]["ids"][0] == "native:buffer"


def test_people_find_what_no_model_is_given() -> None:
    found = run(PHRASE="create spatial index")["FOUND"].partition(": ")[2].split(", ")
    algorithm = QgsApplication.processingRegistry().algorithmById(found[0])
    assert algorithm.name() == "createspatialindex"
    assert offer.refused(algorithm)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00phrase", "not in UTF-8"),
        (" café".encode("latin-1"), "not in UTF-8"),
        (b"\n \n", "holds no phrase"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    source = tmp_path / "phrases.txt"
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(QgsProcessingException, match=f"phrases.txt.*{said}"):
        run(FILE=str(source))


def test_nothing_asked_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(QgsProcessingException, match="Give a phrase, or a file"):
        run(PHRASE="  ")
    with pytest.raises(QgsProcessingException, match="cannot be written"):
        run(PHRASE="buffer", JSON=str(tmp_path / "no" / "such" / "found.json"))
