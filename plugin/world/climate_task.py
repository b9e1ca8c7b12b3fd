# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about surface temperature, aerosol and air temperature."""

from __future__ import annotations

from .climate import EMPTY_PERIOD, months
from .series_script import above, added, computed, indexed, of_all, of_zone, picked
from .task_book import TaskBook, exactly, gap, number, refusal, words
from .truth import largest, smallest

_AREA = "Climate"
_MODIS, _AEROSOL, _AIR = "climate/modis", "climate/aerosol", "climate/air"
_FIRST, _SECOND, _THIRD = "2024-07-03", "2024-07-11", "2024-07-19"


def add_climate(book: TaskBook) -> None:
    """Add the tasks."""
    _surface(book)
    _compared(book)
    _aerosol(book)
    _air(book)
    _refused(book)


def _surface(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_MODIS)
    layers = [book.zones("districts"), book.products(_MODIS)]
    book.add(
        "CL01", _AREA, "What was the mean land surface temperature in °C of the district Birch in "
        f"the 8 days from {_FIRST}?", layers, number(truth.of("temperature", _FIRST, "Birch").mean),
        of_zone(folder, "temperature", "Birch", _FIRST).answer(value="$v.mean"), "Statistics",
    )  # fmt: skip
    book.add(
        "CL02", _AREA, "How warm was the warmest cell of the district Elm in the 8 days from "
        f"{_THIRD}, in °C?", layers, number(truth.of("temperature", _THIRD, "Elm").most),
        of_zone(folder, "temperature", "Elm", _THIRD, statistic="max").answer(value="$v.mean"),
        "Statistics",
    )  # fmt: skip
    found = truth.means("temperature", _SECOND)
    book.add(
        "CL03", _AREA, "Which district had the highest mean land surface temperature in the 8 days "
        f"from {_SECOND}?", layers, words(largest(found)),
        of_all(folder, "temperature", _SECOND).answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    book.add(
        "CL04", _AREA, "Which district was coolest in the 8 days from "
        f"{_SECOND}, by its mean land surface temperature?", layers, words(smallest(found)),
        of_all(folder, "temperature", _SECOND).answer(text="$v.lowest"), "Rank",
    )  # fmt: skip
    threshold, count = gap(found, 2)
    book.add(
        "CL05", _AREA, "How many districts had a mean land surface temperature above "
        f"{threshold} °C in the 8 days from {_SECOND}?", layers, exactly(count),
        above(of_all(folder, "temperature", _SECOND), threshold, "temperature")
        .answer(value="$n.count"), "Count",
    )  # fmt: skip


def _compared(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_MODIS)
    layers = [book.zones("districts"), book.products(_MODIS)]
    elm, cedar = (truth.of("temperature", _FIRST, one).mean for one in ("Elm", "Cedar"))
    script = of_zone(folder, "temperature", "Elm", _FIRST)
    picked(script, "y", "Cedar")
    added(script, "w", "$s", "temperature", _FIRST, "$y", "Cedar")
    computed(script, "d", "the difference of Elm to Cedar", "$v.mean - $w.mean")
    book.add(
        "CL06", _AREA, "By how many °C was the surface of the district Elm warmer than that of "
        f"Cedar in the 8 days from {_FIRST}?", layers, number(elm - cedar),
        script.answer(value="$d.value"), "Statistics", ("branched",),
    )  # fmt: skip
    before, after = (truth.of("temperature", day, "Fir").mean for day in (_FIRST, _THIRD))
    script = of_zone(folder, "temperature", "Fir", _THIRD)
    added(script, "w", "$s", "temperature", _FIRST, "$z", "Fir")
    computed(script, "d", "the rise", "$v.mean - $w.mean")
    book.add(
        "CL07", _AREA, "By how many °C did the mean land surface temperature of the district Fir "
        f"rise from the 8 days of {_FIRST} to those of {_THIRD}?", layers, number(after - before),
        script.answer(value="$d.value"), "Statistics", ("branched",),
    )  # fmt: skip


def _aerosol(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_AEROSOL)
    layers = [book.zones("districts"), book.products(_AEROSOL)]
    book.add(
        "CL08", _AREA, "What was the mean aerosol optical depth at 550 nm in the district Alder on "
        "2024-07-20?", layers, number(truth.of("aerosol", "2024-07-20", "Alder").mean),
        of_zone(folder, "aerosol", "Alder", "2024-07-20").answer(value="$v.mean"), "Statistics",
    )  # fmt: skip
    book.add(
        "CL09", _AREA, "Over which district was the air haziest on 2024-07-19, by the mean aerosol "
        "optical depth?", layers, words(largest(truth.means("aerosol", "2024-07-19"))),
        of_all(folder, "aerosol", "2024-07-19").answer(text="$v.highest"), "Rank",
    )  # fmt: skip


def _air(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_AIR)
    layers = [book.zones("districts"), book.products(_AIR)]
    book.add(
        "CL10", _AREA, "What was the mean air temperature of the district Dogwood in October 2024, "
        "in the monthly file?", layers, number(truth.of("air", "2024-10-01", "Dogwood").mean),
        of_zone(folder, "value", "Dogwood", "2024-10-01").answer(value="$v.mean"), "Statistics",
    )  # fmt: skip
    by_month = {day: truth.of("air", day, "Cedar").mean for day in months()}
    warmest = largest(by_month)
    names = {"2024-06-01": "June", "2024-07-01": "July", "2024-08-01": "August"}
    book.add(
        "CL11", _AREA, "Which month of 2024 had the warmest air in the district Cedar?", layers,
        words(warmest, warmest[:7], names.get(warmest, warmest)),
        of_zone(folder, "value", "Cedar").answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    script = of_zone(folder, "value", "Cedar")
    for name, statistic in (("a", "max"), ("b", "min")):
        script.add(
            name, f"Take the {statistic} of the months; return the number.", "statistics",
            layer="$v", field="value", statistic=statistic,
        )  # fmt: skip
    computed(script, "d", "the span", "$a.max - $b.min")
    book.add(
        "CL12", _AREA, "By how many degrees does the warmest month differ from the coldest one in "
        "the air over the district Cedar in 2024?", layers,
        number(max(by_month.values()) - min(by_month.values())),
        script.answer(value="$d.value"), "Statistics", ("branched",),
    )  # fmt: skip


def _refused(book: TaskBook) -> None:
    layers = [book.zones("districts"), book.products(_MODIS)]
    for identity, question, reason, accepted in (
        ("CL13", "What was the mean land surface temperature of the district Birch in the 8 days "
         f"from {EMPTY_PERIOD}?", "That period holds fill values alone: no cell has a value.",
         ("fill", "no value", "no data", "lost")),
        ("CL14", "What was the mean relative humidity of the district Birch in July 2024?",
         "The products measure temperature; nothing tells humidity.",
         ("humidity", "no scene measures", "temperature")),
        ("CL15", "What was the mean land surface temperature of the district Birch in the 8 days "
         "from 2024-02-30?", "2024-02-30 is no date: February has 29 days.",
         ("no date", "2024-02-30", "february")),
    ):  # fmt: skip
        book.add(
            identity, _AREA, question, layers, refusal(*accepted),
            indexed(book.folder(_MODIS)).reject(reason), "Statistics", ("unanswerable",),
        )  # fmt: skip
