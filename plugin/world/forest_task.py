# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about tree cover, its loss, and classes of land cover."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .forest import CLASSES, LAST_YEAR
from .script import Script
from .series_script import computed, indexed, picked
from .setting import FORESTS, Setting
from .task_book import TaskBook, number, refusal, words
from .truth import Truth, largest

_AREA = "Forest"
_FOLDER = "forest"
_YEARS = range(2001, LAST_YEAR + 1)
_HECTARE = 10_000.0


def add_forest(book: TaskBook, setting: Setting) -> None:
    """Add the tasks."""
    _single(book)
    _ranked(book)
    _compared(book)
    _classes(book, setting)
    _refused(book)


def lost(truth: Truth, forests: Iterable[str], years: Iterable[int], threshold: int = 30) -> float:
    """Return the hectares that forests lost in some years."""
    return sum(truth.numbers[f"loss {threshold} {one} {year}"] for one in forests for year in years)


def _layers(book: TaskBook) -> list[dict[str, Any]]:
    return [book.zones("forests"), book.products(_FOLDER)]


def _forest(book: TaskBook, zone: str = "", **more: Any) -> Script:
    """Compute tree cover and loss as `$v`, of one forest or of all."""
    script = picked(Script(), "z", zone, "forests") if zone else Script()
    indexed(book.folder(_FOLDER), script)
    return _measured(script, "v", "$z" if zone else "forests", zone or "all forests", **more)


def _measured(script: Script, name: str, zones: str, where: str, **more: Any) -> Script:
    said = "".join(f", {key} {value}" for key, value in more.items())
    return script.add(
        name, f"Compute tree cover and loss of {where}{said}; return the hectares.",
        "forest_by_zone", scenes="$s", zones=zones, **more,
    )  # fmt: skip


def _single(book: TaskBook) -> None:
    truth = book.truth
    book.add(
        "FO01", _AREA, "How many hectares of tree cover had Kings Chase in 2000 (canopy of 30 % or "
        "more)?", _layers(book), number(truth.numbers["cover 30 Kings Chase"]),
        _forest(book, "Kings Chase").answer(value="$v.cover"), "Measure",
    )  # fmt: skip
    book.add(
        "FO02", _AREA, f"How many hectares of tree cover did High Wood lose from 2001 to "
        f"{LAST_YEAR}?", _layers(book), number(lost(truth, ["High Wood"], _YEARS)),
        _forest(book, "High Wood").answer(value="$v.loss"), "Measure",
    )  # fmt: skip
    book.add(
        "FO03", _AREA, "How many hectares of tree cover did Low Wood lose from 2010 to 2014?",
        _layers(book), number(lost(truth, ["Low Wood"], range(2010, 2015))),
        _forest(book, "Low Wood", start=2010, end=2014).answer(value="$v.loss"), "Measure",
    )  # fmt: skip
    book.add(
        "FO04", _AREA, "How many hectares had a canopy of 60 % or more in 2000, in all forests "
        "together?", _layers(book),
        number(sum(truth.numbers[f"cover 60 {one}"] for one in FORESTS)),
        _forest(book, threshold=60).answer(value="$v.cover"), "Measure",
    )  # fmt: skip


def _ranked(book: TaskBook) -> None:
    truth = book.truth
    by_zone = {one: lost(truth, [one], _YEARS) for one in FORESTS}
    book.add(
        "FO05", _AREA, f"Which forest lost the most tree cover from 2001 to {LAST_YEAR}?",
        _layers(book), words(largest(by_zone)), _forest(book).answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    by_year = {str(year): lost(truth, FORESTS, [year]) for year in _YEARS}
    book.add(
        "FO06", _AREA, "In which year did all forests together lose the most tree cover?",
        _layers(book), words(largest(by_year)), _forest(book).answer(text="$v.worst"), "Rank",
    )  # fmt: skip


def _compared(book: TaskBook) -> None:
    truth = book.truth
    share = 100 * lost(truth, ["Low Wood"], _YEARS) / truth.numbers["cover 30 Low Wood"]
    script = computed(_forest(book, "Low Wood"), "d", "the share", "100 * $v.loss / $v.cover")
    book.add(
        "FO07", _AREA, "Which percentage of its tree cover of 2000 did Low Wood lose from 2001 to "
        f"{LAST_YEAR}?", _layers(book), number(share), script.answer(value="$d.value"), "Measure",
    )  # fmt: skip
    script = _forest(book, "Kings Chase")
    picked(script, "y", "High Wood", "forests")
    _measured(script, "w", "$y", "High Wood")
    computed(script, "d", "the difference", "$v.loss - $w.loss")
    book.add(
        "FO08", _AREA, "How many hectares more did Kings Chase lose than High Wood from 2001 to "
        f"{LAST_YEAR}?", _layers(book),
        number(lost(truth, ["Kings Chase"], _YEARS) - lost(truth, ["High Wood"], _YEARS)),
        script.answer(value="$d.value"), "Measure", ("branched",),
    )  # fmt: skip
    script = _forest(book, start=2012, end=LAST_YEAR)
    _measured(script, "w", "forests", "all forests", start=2001, end=2011)
    computed(script, "d", "the ratio", "$v.loss / $w.loss")
    after, before = (lost(truth, FORESTS, span) for span in (range(2012, LAST_YEAR + 1),
                                                             range(2001, 2012)))  # fmt: skip
    book.add(
        "FO09", _AREA, f"How many times as much tree cover was lost from 2012 to {LAST_YEAR} as "
        "from 2001 to 2011, in all forests together?", _layers(book), number(after / before),
        script.answer(value="$d.value"), "Measure", ("branched",),
    )  # fmt: skip


def _classes(book: TaskBook, setting: Setting) -> None:
    truth = book.truth
    layer = {"name": "land_cover", "source": f"{book.root}/land/land_cover.tif"}
    legend = ", ".join(f"{key} {name}" for key, name in CLASSES.items())
    cell = setting.scene.cell**2 / _HECTARE
    script = Script().add(
        "v", "Measure class 2 of land_cover in hectares; return the area.", "class_areas",
        layer="land_cover", classes=[2], unit="ha",
    )  # fmt: skip
    book.add(
        "FO10", _AREA, f"How many hectares of land_cover are forest? Its classes are {legend}.",
        [layer], number(truth.numbers["land cover 2"] * cell), script.answer(value="$v.total"),
        "Measure",
    )  # fmt: skip
    script = Script()
    for name, key in (("v", 2), ("w", 3)):
        script.add(
            name, f"Measure class {key} of land_cover in hectares; return the area.",
            "class_areas", layer="land_cover", classes=[key], unit="ha",
        )  # fmt: skip
    computed(script, "d", "the ratio", "$v.total / $w.total")
    book.add(
        "FO11", _AREA, f"How many times the area of pasture is the area of forest in land_cover? "
        f"Its classes are {legend}.", [layer],
        number(truth.numbers["land cover 2"] / truth.numbers["land cover 3"]),
        script.answer(value="$d.value"), "Measure", ("branched",),
    )  # fmt: skip


def _refused(book: TaskBook) -> None:
    for identity, question, reason, accepted in (
        ("FO12", "How many hectares of tree cover did High Wood lose in 2031?",
         f"The product tells losses of 2001 to {LAST_YEAR}, not of 2031.",
         ("2031", str(LAST_YEAR), "no data", "future")),
        ("FO13", "How many tonnes of carbon does Kings Chase hold?",
         "The products hold tree cover and its loss; nothing tells carbon.",
         ("carbon", "tree cover", "biomass")),
        ("FO14", "How many hectares of tree cover did Sherwood lose in 2010?",
         "There is no forest called Sherwood.", ("sherwood", "no forest", "not among")),
    ):  # fmt: skip
        book.add(
            identity, _AREA, question, _layers(book), refusal(*accepted),
            indexed(book.folder(_FOLDER)).reject(reason), "Measure", ("unanswerable",),
        )  # fmt: skip
