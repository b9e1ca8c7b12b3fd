# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about built-up surface and people."""

from __future__ import annotations

from .script import Script
from .series_script import above, added, computed, indexed, of_all, of_zone
from .setting import OUTSIDE
from .task_book import TaskBook, exactly, gap, number, refusal, words
from .truth import largest, smallest

_AREA = "Urban"
_GHSL, _WORLDPOP = "urban/ghsl", "urban/worldpop"
_OLD, _NEW = "2000-01-01", "2020-01-01"


def add_urban(book: TaskBook) -> None:
    """Add the tasks."""
    _single(book)
    _ranked(book)
    _compared(book)
    _refused(book)


def _layers(book: TaskBook, *folders: str) -> list[dict[str, object]]:
    return [book.zones("districts"), *(book.products(one) for one in folders)]


def _single(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_GHSL)
    book.add(
        "UR01", _AREA, "How many people lived in the district Dogwood in 2020, by GHSL?",
        _layers(book, _GHSL), number(truth.of("population", _NEW, "Dogwood").sum),
        of_zone(folder, "population", "Dogwood", "2020").answer(value="$v.mean"), "Statistics",
    )  # fmt: skip
    book.add(
        "UR02", _AREA, "How many square metres of the district Elm were built up in 2020?",
        _layers(book, _GHSL), number(truth.of("built-up", _NEW, "Elm").sum),
        of_zone(folder, "built-up", "Elm", "2020").answer(value="$v.mean"), "Statistics",
    )  # fmt: skip
    book.add(
        "UR03", _AREA, "How many people lived in all districts together in 2000, by GHSL?",
        _layers(book, _GHSL), number(sum(truth.sums("population", _OLD).values())),
        of_all(folder, "population", "2000").answer(value="$v.total"), "Statistics",
    )  # fmt: skip
    book.add(
        "UR04", _AREA, "How many people lived in the district Birch in 2020, by WorldPop?",
        _layers(book, _WORLDPOP), number(truth.of("worldpop", _NEW, "Birch").sum),
        of_zone(book.folder(_WORLDPOP), "population", "Birch", "2020").answer(value="$v.mean"),
        "Statistics",
    )  # fmt: skip


def _ranked(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_GHSL)
    people = truth.sums("population", _NEW)
    book.add(
        "UR05", _AREA, "Which district had the most people in 2020, by GHSL?",
        _layers(book, _GHSL), words(largest(people)),
        of_all(folder, "population", "2020").answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    book.add(
        "UR06", _AREA, "Which district had the least built-up surface in 2000?",
        _layers(book, _GHSL), words(smallest(truth.sums("built-up", _OLD))),
        of_all(folder, "built-up", "2000").answer(text="$v.lowest"), "Rank",
    )  # fmt: skip
    threshold, count = gap(people, 0)
    book.add(
        "UR07", _AREA, f"How many districts had more than {threshold:.0f} people in 2020, by GHSL?",
        _layers(book, _GHSL), exactly(count),
        above(of_all(folder, "population", "2020"), threshold, "population")
        .answer(value="$n.count"), "Count",
    )  # fmt: skip


def _compared(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_GHSL)
    new, old = (truth.of("population", day, "Cedar").sum for day in (_NEW, _OLD))
    script = of_zone(folder, "population", "Cedar", "2020")
    added(script, "w", "$s", "population", "2000", "$z", "Cedar")
    computed(script, "d", "the growth", "$v.mean - $w.mean")
    book.add(
        "UR08", _AREA, "By how many people did the district Cedar grow from 2000 to 2020, by GHSL?",
        _layers(book, _GHSL), number(new - old), script.answer(value="$d.value"), "Statistics",
        ("branched",),
    )  # fmt: skip
    built = truth.of("built-up", _NEW, "Alder").sum
    script = of_zone(folder, "built-up", "Alder", "2020")
    added(script, "w", "$s", "population", "2020", "$z", "Alder")
    computed(script, "d", "square metres for each person", "$v.mean / $w.mean")
    book.add(
        "UR09", _AREA, "How many square metres of built-up surface were there for each person in "
        "the district Alder in 2020, by GHSL?", _layers(book, _GHSL),
        number(built / truth.of("population", _NEW, "Alder").sum),
        script.answer(value="$d.value"), "Statistics", ("branched",),
    )  # fmt: skip
    wide = book.folder(_WORLDPOP)
    script = of_zone(folder, "population", "Fir", "2020")
    script.add("o", f"Index the scenes in {wide}; return the catalogue.", "index_scenes",
               folders=[wide], file="worldpop.gpkg")  # fmt: skip
    added(script, "w", "$o", "population", "2020", "$z", "Fir")
    computed(script, "d", "the share", "$w.mean / $v.mean")
    book.add(
        "UR10", _AREA, "How many times the people of GHSL does WorldPop count in the district Fir "
        "in 2020?", _layers(book, _GHSL, _WORLDPOP),
        number(truth.of("worldpop", _NEW, "Fir").sum / truth.of("population", _NEW, "Fir").sum),
        script.answer(value="$d.value"), "Statistics", ("branched",),
    )  # fmt: skip
    both = [folder, wide]
    script = Script().add(
        "s", f"Index the scenes in {folder} and {wide}; return the catalogue.", "index_scenes",
        folders=both,
    )  # fmt: skip
    script.add("p", "Pick the scenes of WorldPop; return the layer.", "find_scenes", scenes="$s",
               product="WorldPop")  # fmt: skip
    added(script, "v", "$p", "population", "2020", "districts", "all districts")
    book.add(
        "UR11", _AREA, "Which district had the most people in 2020, by WorldPop?",
        _layers(book, _GHSL, _WORLDPOP), words(largest(truth.sums("worldpop", _NEW))),
        script.answer(text="$v.highest"), "Rank",
    )  # fmt: skip


def _refused(book: TaskBook) -> None:
    for identity, question, reason, accepted in (
        ("UR12", "How many people lived in the district Cedar in 1950, by GHSL?",
         "The epochs are 2000 and 2020; there is none of 1950.",
         ("1950", "no scene", "2000", "epoch")),
        ("UR13", f"How many people lived in the district {OUTSIDE} in 2020?",
         f"{OUTSIDE} lies outside all scenes.", ("outside", "cover", "no value", "no scene")),
        ("UR14", "What was the mean rent in the district Cedar in 2020?",
         "The products hold built-up surface and people; nothing tells rents.",
         ("rent", "built-up", "people")),
    ):  # fmt: skip
        book.add(
            identity, _AREA, question, _layers(book, _GHSL), refusal(*accepted),
            indexed(book.folder(_GHSL)).reject(reason), "Statistics", ("unanswerable",),
        )  # fmt: skip
