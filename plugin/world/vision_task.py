# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about images, the objects that detectors find in them and their land cover."""

from __future__ import annotations

import calendar
from typing import Any

from .script import Script
from .series_script import computed, picked
from .task_book import TaskBook, exactly, number, refusal, words
from .truth import largest
from .vision import HARBOUR, PATCHES, SKYVIEW, Collection, counted

_AREA = "Vision"
_MONTHS = {f"2024-{month:02}": calendar.month_name[month] for month in range(1, 9)}


def add_vision(book: TaskBook) -> None:
    """Add the tasks."""
    _images(book)
    _objects(book)
    _compared(book)
    _land(book)
    _refused(book)


def _layers(book: TaskBook, *names: str) -> list[dict[str, Any]]:
    return [{"name": one, "source": f"{book.root}/vision/{one}.gpkg"} for one in names]


def _of_month(collection: Collection, month: str) -> Script:
    """Pick the images of a month as `$i`."""
    return Script().add(
        "i", f"Pick the images of {month} out of {collection.images}; return the layer.",
        "filter_time", layer=collection.images, field="date", start=month, end=month,
    )  # fmt: skip


def _detected(
    script: Script, collection: Collection, detector: str, images: str, name: str = "d"
) -> Script:
    """Run the detector of a collection over images."""
    tool = "run_land_coverage_classifier" if collection is PATCHES else "run_detector"
    return script.add(
        name, f"Run {detector} over the images of {collection.name}; return the layer.", tool,
        images=images, labels=collection.labels, detector=detector,
    )  # fmt: skip


def _of_class(script: Script, name: str, layer: str, kind: str) -> Script:
    return script.add(
        name, f"Count the {kind} in the results; return the number.", "count", layer=layer,
        conditions=[{"field": "cat_name", "op": "=", "value": kind}],
    )  # fmt: skip


def _busy(book: TaskBook, layer: str, kind: str = "") -> str:
    """Return the month with most images or objects."""
    return largest({one: counted(book.truth, layer, kind, one) for one in _MONTHS})


def _images(book: TaskBook) -> None:
    month = _busy(book, SKYVIEW.images)
    book.add(
        "VI01", _AREA, f"How many images of skyview were taken in {_MONTHS[month]} 2024?",
        _layers(book, SKYVIEW.images), exactly(counted(book.truth, SKYVIEW.images, "", month)),
        _of_month(SKYVIEW, month).answer(value="$i.count"), "Count",
    )  # fmt: skip
    script = picked(Script(), "z", "Elm").add(
        "i", "Pick the images of harbour within Elm; return the layer.", "select_by_location",
        layer=HARBOUR.images, predicate="within", other="$z",
    )  # fmt: skip
    book.add(
        "VI02", _AREA, "How many images of harbour lie in the district Elm?",
        [*_layers(book, HARBOUR.images), book.zones("districts")],
        exactly(counted(book.truth, HARBOUR.images, "", "", "Elm")),
        script.answer(value="$i.count"), "Location",
    )  # fmt: skip


def _objects(book: TaskBook) -> None:
    truth = book.truth
    for identity, collection, detector, kind in (
        ("VI03", SKYVIEW, "Swin-L", "Small Car"), ("VI04", HARBOUR, "Swin-L", "Cargo Ship"),
    ):  # fmt: skip
        month = _busy(book, collection.labels, kind)
        script = _detected(_of_month(collection, month), collection, detector, "$i")
        book.add(
            identity, _AREA, f"Detect the objects in the images of {collection.name} of "
            f"{_MONTHS[month]} 2024 by {detector}. How many of them are of the class {kind}?",
            _layers(book, collection.images, collection.labels),
            exactly(counted(truth, collection.labels, kind, month)),
            _of_class(script, "n", "$d", kind).answer(value="$n.count"), "Count",
        )  # fmt: skip
    kinds = {one: counted(truth, SKYVIEW.labels, one) for one in SKYVIEW.classes}
    script = _detected(Script(), SKYVIEW, "YOLO-v8", SKYVIEW.images)
    script.add("t", "Count the objects by class; return the counts.", "pivot_table", layer="$d",
               rows=["cat_name"], statistic="count")  # fmt: skip
    script.add("n", "Take the most frequent class; return its name.", "top_n", layer="$t",
               field="count", n=1)  # fmt: skip
    book.add(
        "VI05", _AREA, "Which class does YOLO-v8 find most often in all images of skyview?",
        _layers(book, SKYVIEW.images, SKYVIEW.labels), words(largest(kinds)),
        script.answer(text="$n.name"), "Rank",
    )  # fmt: skip
    script = picked(Script(), "z", "Birch").add(
        "i", "Pick the images of skyview within Birch; return the layer.", "select_by_location",
        layer=SKYVIEW.images, predicate="within", other="$z",
    )  # fmt: skip
    _detected(script, SKYVIEW, "Swin-L", "$i")
    found = counted(truth, SKYVIEW.labels, "", "", "Birch")
    book.add(
        "VI06", _AREA, "Detect all objects in the images of skyview that lie in the district "
        "Birch, by Swin-L; give them as a layer.",
        [*_layers(book, SKYVIEW.images, SKYVIEW.labels), book.zones("districts")],
        {"layer": {"geometry": "Polygon", "feature_count": found, "fields_include": ["cat_name"]}},
        script.answer(layers=["$d"]), "Transform",
    )  # fmt: skip


def _compared(book: TaskBook) -> None:
    truth = book.truth
    month = _busy(book, SKYVIEW.labels, "Truck")
    ships = counted(truth, HARBOUR.labels, "Cargo Ship", month)
    trucks = counted(truth, SKYVIEW.labels, "Truck", month)
    script = _detected(_of_month(SKYVIEW, month), SKYVIEW, "Swin-L", "$i")
    _of_class(script, "n", "$d", "Truck")
    script.add("j", f"Pick the images of {month} out of {HARBOUR.images}; return the layer.",
               "filter_time", layer=HARBOUR.images, field="date", start=month,
               end=month)  # fmt: skip
    _detected(script, HARBOUR, "Swin-L", "$j", "e")
    _of_class(script, "m", "$e", "Cargo Ship")
    computed(script, "d2", "the sum", "$n.count + $m.count")
    book.add(
        "VI07", _AREA, f"How many trucks in skyview and cargo ships in harbour together does "
        f"Swin-L find in the images of {_MONTHS[month]} 2024 (classes Truck and Cargo Ship)?",
        _layers(book, SKYVIEW.images, SKYVIEW.labels, HARBOUR.images, HARBOUR.labels),
        exactly(ships + trucks), script.answer(value="$d2.value"), "Count", ("branched",),
    )  # fmt: skip
    script = _detected(Script(), SKYVIEW, "Swin-L", SKYVIEW.images)
    _of_class(script, "n", "$d", "Building")
    computed(script, "d2", "buildings for each image", "$n.count / $d.images")
    images = counted(truth, SKYVIEW.images)
    book.add(
        "VI08", _AREA, "How many objects of the class Building does Swin-L find for each image of "
        "skyview, on average?", _layers(book, SKYVIEW.images, SKYVIEW.labels),
        number(counted(truth, SKYVIEW.labels, "Building") / images),
        script.answer(value="$d2.value"), "Statistics",
    )  # fmt: skip


def _land(book: TaskBook) -> None:
    truth = book.truth
    month = _busy(book, PATCHES.labels, "Pasture")
    layers = _layers(book, PATCHES.images, PATCHES.labels)
    script = _detected(_of_month(PATCHES, month), PATCHES, "ResNet-32", "$i")
    book.add(
        "VI09", _AREA, f"Classify the land cover of the images of landpatch of {_MONTHS[month]} "
        "2024 by ResNet-32. How many show Pasture?", layers,
        exactly(counted(truth, PATCHES.labels, "Pasture", month)),
        _of_class(script, "n", "$d", "Pasture").answer(value="$n.count"), "Count",
    )  # fmt: skip
    script = _detected(Script(), PATCHES, "ResNet-32", PATCHES.images)
    _of_class(script, "n", "$d", "Vineyard")
    _of_class(script, "m", "$d", "Inland water")
    computed(script, "d2", "the difference", "$n.count - $m.count")
    vines, waters = (counted(truth, PATCHES.labels, one) for one in ("Vineyard", "Inland water"))
    book.add(
        "VI10", _AREA, "How many more images of landpatch show Vineyard than Inland water, by "
        "ResNet-32? Fewer is a negative number.", layers, exactly(vines - waters),
        script.answer(value="$d2.value"), "Count", ("branched",),
    )  # fmt: skip


def _refused(book: TaskBook) -> None:
    layers = _layers(book, SKYVIEW.images, SKYVIEW.labels)
    for identity, question, reason, accepted, tag in (
        ("VI11", "Detect the objects in all images of skyview by ResNet-32.",
         "ResNet-32 classifies land cover; skyview is read by Swin-L and YOLO-v8.",
         ("resnet", "does not read", "swin-l"), "wrong"),
        ("VI12", "How many submarines does Swin-L find in the images of skyview?",
         "skyview has no class Submarine; its classes are Small Car, Truck, Building, Aircraft.",
         ("submarine", "no class", "class"), "unanswerable"),
        ("VI13", "How many images of skyview were taken in July 1999?",
         "The images of skyview are of 2024, so there is none of 1999.",
         ("1999", "2024", "no image"), "unanswerable"),
    ):  # fmt: skip
        script = Script().add("u", "List the classes of skyview; return them.", "unique_values",
                              layer=SKYVIEW.labels, field="cat_name")  # fmt: skip
        book.add(identity, _AREA, question, layers, refusal(*accepted), script.reject(reason),
                 "Count", (tag,))  # fmt: skip
