# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about vegetation."""

from __future__ import annotations

from .agriculture import CLEAR_DAY, CLOUDY_DAY, MONTHS, SCENES
from .series_script import above, added, computed, indexed, of_all, of_zone, picked
from .setting import OUTSIDE
from .task_book import TaskBook, exactly, gap, number, refusal, words
from .truth import largest, smallest

_AREA = "Agriculture"
_MODIS, _DAILY = "agriculture/modis", "agriculture/daily"
_VIIRS, _SENTINEL = "agriculture/viirs", "agriculture/sentinel"


def add_agriculture(book: TaskBook) -> None:
    """Add the tasks."""
    _single(book)
    _ranked(book)
    _compared(book)
    _finer(book)
    _refused(book)


def _single(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_MODIS)
    layers = [book.zones("districts"), book.products(_MODIS)]
    for identity, zone, day, said in (
        ("AG01", "Cedar", "2024-03-01", "March"), ("AG02", "Elm", "2024-07-01", "July"),
    ):  # fmt: skip
        book.add(
            identity, _AREA, f"What was the mean NDVI of the district {zone} in {said} 2024?",
            layers, number(truth.of("ndvi", day, zone).mean),
            of_zone(folder, "ndvi", zone, day).answer(value="$v.mean"), "Statistics",
        )  # fmt: skip
    book.add(
        "AG03", _AREA, "What was the mean EVI of the district Fir in August 2024?", layers,
        number(truth.of("evi", "2024-08-01", "Fir").mean),
        of_zone(folder, "evi", "Fir", "2024-08-01").answer(value="$v.mean"), "Statistics",
    )  # fmt: skip
    book.add(
        "AG04", _AREA, "How many months of vegetation index are in the products?",
        [book.products(_MODIS)], exactly(len(MONTHS)),
        indexed(folder)
        .add("f", "Pick the scenes of ndvi; return their days.", "find_scenes", scenes="$s",
             measure="ndvi")
        .answer(value="$f.days"), "Count",
    )  # fmt: skip


def _ranked(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_MODIS)
    layers = [book.zones("districts"), book.products(_MODIS)]
    may = truth.means("ndvi", "2024-05-01")
    book.add(
        "AG05", _AREA, "Which district had the highest mean NDVI in May 2024?", layers,
        words(largest(may)),
        of_all(folder, "ndvi", "2024-05-01").answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    book.add(
        "AG06", _AREA, "Which district had the lowest mean NDVI in May 2024?", layers,
        words(smallest(may)),
        of_all(folder, "ndvi", "2024-05-01").answer(text="$v.lowest"), "Rank",
    )  # fmt: skip
    by_month = {day: truth.of("ndvi", day, "Birch").mean for day in MONTHS}
    best = largest(by_month)
    book.add(
        "AG07", _AREA, "In which month of 2024 was the NDVI of the district Birch highest?",
        layers, words(best, best[:7], {"2024-07-01": "July"}.get(best, best)),
        of_zone(folder, "ndvi", "Birch").answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    threshold, count = gap(may, 3)
    book.add(
        "AG08", _AREA, f"How many districts had a mean NDVI above {threshold} in May 2024?",
        layers, exactly(count),
        above(of_all(folder, "ndvi", "2024-05-01"), threshold, "ndvi").answer(value="$n.count"),
        "Count",
    )  # fmt: skip


def _compared(book: TaskBook) -> None:
    truth, folder = book.truth, book.folder(_MODIS)
    layers = [book.zones("districts"), book.products(_MODIS)]
    july, march = (truth.of("ndvi", day, "Dogwood").mean for day in ("2024-07-01", "2024-03-01"))
    script = of_zone(folder, "ndvi", "Dogwood", "2024-07-01")
    added(script, "w", "$s", "ndvi", "2024-03-01", "$z", "Dogwood")
    computed(script, "d", "the difference of July to March", "$v.mean - $w.mean")
    book.add(
        "AG09", _AREA, "By how much did the mean NDVI of the district Dogwood rise from March to "
        "July 2024?", layers, number(july - march), script.answer(value="$d.value"), "Statistics",
        ("branched",),
    )  # fmt: skip
    fir, alder = (truth.of("ndvi", "2024-08-01", one).mean for one in ("Fir", "Alder"))
    script = of_zone(folder, "ndvi", "Fir", "2024-08-01")
    picked(script, "y", "Alder")
    added(script, "w", "$s", "ndvi", "2024-08-01", "$y", "Alder")
    computed(script, "d", "the difference of Fir to Alder", "$v.mean - $w.mean")
    book.add(
        "AG10", _AREA, "How much higher was the mean NDVI of the district Fir than that of Alder "
        "in August 2024?", layers, number(fir - alder), script.answer(value="$d.value"),
        "Statistics", ("branched",),
    )  # fmt: skip
    values = [truth.of("ndvi", day, "Elm").mean for day in MONTHS]
    usual = sum(values) / len(values)
    script = of_zone(folder, "ndvi", "Elm", anomaly=True)
    script.add("t", "Take the largest anomaly; return the number.", "top_n", layer="$v",
               field="anomaly", n=1)  # fmt: skip
    book.add(
        "AG11", _AREA, "What was the largest anomaly of NDVI of the district Elm against its mean "
        "over the whole series?", layers, number(max(values) - usual),
        script.answer(value="$t.value"), "Statistics",
    )  # fmt: skip


def _finer(book: TaskBook) -> None:
    truth = book.truth
    daily = [book.zones("districts"), book.products(_DAILY)]
    book.add(
        "AG12", _AREA, f"What was the mean near-infrared reflectance of the district Fir on "
        f"{CLEAR_DAY}?", daily, number(truth.of("nir", CLEAR_DAY, "Fir").mean),
        of_zone(book.folder(_DAILY), "nir", "Fir", CLEAR_DAY).answer(value="$v.mean"),
        "Statistics",
    )  # fmt: skip
    viirs = [book.zones("districts"), book.products(_VIIRS)]
    book.add(
        "AG13", _AREA, "What was the mean NDVI of the district Cedar in the VIIRS product of "
        "August 2024?", viirs, number(truth.of("viirs ndvi", "2024-08-01", "Cedar").mean),
        of_zone(book.folder(_VIIRS), "ndvi", "Cedar", "2024-08-01").answer(value="$v.mean"),
        "Statistics",
    )  # fmt: skip
    first, second = SCENES
    fields = [book.zones("fields"), book.products(_SENTINEL)]
    folder = book.folder(_SENTINEL)
    book.add(
        "AG14", _AREA, f"What was the mean NDVI of the field Mill Field on {first}, by Sentinel-2?",
        fields, number(truth.of("sentinel ndvi", first, "Mill Field").mean),
        of_zone(folder, "ndvi", "Mill Field", first, "fields").answer(value="$v.mean"),
        "Statistics",
    )  # fmt: skip
    found = truth.means("sentinel ndvi", second)
    book.add(
        "AG15", _AREA, f"Which field was greenest on {second}, by its mean NDVI?", fields,
        words(largest(found)),
        of_all(folder, "ndvi", second, "fields").answer(text="$v.highest"), "Rank",
    )  # fmt: skip
    threshold, count = gap(found, 3)
    book.add(
        "AG16", _AREA, f"How many fields had a mean NDVI above {threshold} on {second}?", fields,
        exactly(count),
        above(of_all(folder, "ndvi", second, "fields"), threshold, "ndvi")
        .answer(value="$n.count"), "Count",
    )  # fmt: skip


def _refused(book: TaskBook) -> None:
    layers = [book.zones("districts"), book.products(_MODIS)]
    for identity, question, reason, accepted in (
        ("AG17", "What was the mean NDVI of the district Cedar in June 2024?",
         "There is no scene of June 2024: that month has no data.",
         ("june", "no scene", "no data", "2024-06", "months without")),
        ("AG18", "What was the mean NDVI of the district Cedar in May 2019?",
         "The scenes begin in March 2024, so there is none of 2019.",
         ("2019", "no scene", "begin", "2024")),
        ("AG19", f"What was the mean NDVI of the district {OUTSIDE} in May 2024?",
         f"{OUTSIDE} lies outside all scenes.", ("outside", "cover", "no scene", "no value")),
        ("AG20", "How many tonnes of wheat did the district Elm harvest in 2024?",
         "The products hold vegetation indices; nothing tells a harvest.",
         ("harvest", "wheat", "yield", "vegetation", "tonnes")),
    ):  # fmt: skip
        book.add(
            identity, _AREA, question, layers, refusal(*accepted),
            indexed(book.folder(_MODIS)).reject(reason), "Statistics", ("unanswerable",),
        )  # fmt: skip
    book.add(
        "AG21", _AREA, f"What was the mean red reflectance of the district Alder on {CLOUDY_DAY}?",
        [book.zones("districts"), book.products(_DAILY)],
        refusal("cloud", "quality", "no value"),
        indexed(book.folder(_DAILY)).reject("Alder lay under cloud that day: no cell has a value."),
        "Statistics", ("unanswerable",),
    )  # fmt: skip
