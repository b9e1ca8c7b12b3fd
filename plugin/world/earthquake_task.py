# SPDX-License-Identifier: GPL-2.0-or-later
"""The 120 questions of the earthquake study, made of a grid of facts: city, day, and damaged
buildings, their share, all buildings, affected people; each with the calls that solve it.

The grid and the tolerance of a tenth are those of the Geo-OLM paper, section 5; the facts are of
the made-up scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from .earthquake import CITIES, DAYS, Scenario, damage_layer
from .script import Script
from .series_script import computed
from .task_book import TaskBook, exactly, number, words
from .truth import largest, smallest

AREA = "Earthquake"
COUNT = 120
TOLERANCE = 0.10
SPELLINGS = {
    "Kahramanmaraş": ("Kahramanmaraş", "Kahramanmaras", "Marash"),
    "Nurdağı": ("Nurdağı", "Nurdagi", "Nurdagi"),
    "İslahiye": ("İslahiye", "Islahiye", "Islahiye"),
    "Türkoğlu": ("Türkoğlu", "Turkoglu", "Turkoglu"),
}
_SAID = {"2023-02-07": "7 February 2023", "2023-02-09": "9 February 2023"}


@dataclass(frozen=True)
class Fact:
    """One kind of fact of the grid: how it is asked, solved and known."""

    name: str
    forms: tuple[str, str, str]
    solve: Callable[[Script, str, str, str], str]
    known: Callable[[Scenario, str, str], float]
    dated: bool = True
    whole: bool = True


def _city(script: Script, city: str, mark: str = "") -> None:
    """Pick a city as `$z`, and its buildings as `$b`; `mark` tells several apart."""
    script.add(
        f"z{mark}", f"Pick {city} out of cities; return the layer.", "filter", layer="cities",
        conditions=[{"field": "name", "op": "=", "value": city}],
    )  # fmt: skip
    script.add(
        f"b{mark}", f"Pick the buildings within {city}; return the layer.", "select_by_location",
        layer="buildings", predicate="within", other=f"$z{mark}",
    )  # fmt: skip


def _judge(script: Script, buildings: str, day: str, where: str, mark: str = "") -> str:
    """Judge buildings as `$d`; return its name."""
    script.add(
        f"d{mark}", f"Judge the damage of the buildings of {where} on {day}; return the layer.",
        "building_damage", layer=buildings, raster=damage_layer(day),
    )  # fmt: skip
    return f"$d{mark}"


def _damaged(script: Script, city: str, day: str, mark: str) -> str:
    _city(script, city, mark)
    return f"{_judge(script, f'$b{mark}', day, city, mark)}.damaged"


def _percent(script: Script, city: str, day: str, mark: str) -> str:
    _city(script, city, mark)
    return f"{_judge(script, f'$b{mark}', day, city, mark)}.percent"


def _total(script: Script, city: str, day: str, mark: str) -> str:
    _city(script, city, mark)
    return f"$b{mark}.count"


def _struck_blocks(script: Script, damage: str, blocks: str, where: str, mark: str) -> str:
    """Count the damaged buildings of blocks that carry their people, as `$c`."""
    script.add(f"k{mark}", f"Pick the damaged buildings of {where}; return the layer.", "filter",
               layer=damage, conditions=[{"field": "damaged", "op": "=", "value": 1}],
               )  # fmt: skip
    script.add(f"p{mark}", f"Add up the people of each block of {where}; return the layer.",
               "zonal_statistics", layer=blocks, raster="people", statistic="sum")  # fmt: skip
    script.add(f"c{mark}", f"Count the damaged buildings in each block of {where}; return the "
               "layer.", "count_in_polygons", polygons=f"$p{mark}", layer=f"$k{mark}",
               )  # fmt: skip
    return f"$c{mark}"


def _affected(script: Script, city: str, day: str, mark: str) -> str:
    _city(script, city, mark)
    damage = _judge(script, f"$b{mark}", day, city, mark)
    counted = _struck_blocks(script, damage, "blocks", city, mark)
    script.add(
        f"n{mark}", f"Add up the people of the blocks of {city} with damage; return the number.",
        "statistics", layer=counted, field="z_sum", statistic="sum",
        conditions=[{"field": "count", "op": ">", "value": 0}],
    )  # fmt: skip
    return f"$n{mark}.sum"


FACTS = (
    Fact("damaged", ("How many buildings of {city} were damaged by {day}?",
                     "Count the damaged buildings in {city} in the imagery of {day}.",
                     "In {city}, how many buildings show damage on {day}?"),
         _damaged, Scenario.damaged),
    Fact("percent", ("Which percentage of the buildings of {city} was damaged by {day}?",
                     "What share of buildings, in percent, is damaged in {city} on {day}?",
                     "How many percent of {city}'s buildings show damage in the imagery of {day}?"),
         _percent, Scenario.percent, whole=False),
    Fact("affected", ("How many people live in the blocks of {city} with damaged buildings on "
                      "{day}?",
                      "What is the affected population of {city} on {day}, that of the blocks that "
                      "hold a damaged building?",
                      "Add up the people of all blocks of {city} in which a building is damaged on "
                      "{day}."),
         _affected, Scenario.affected, whole=False),
    Fact("total", ("How many buildings has {city}?",
                   "What is the total number of buildings in {city}?",
                   "Count all buildings within {city}."),
         _total, lambda scenario, city, day: scenario.total(city), dated=False),
)  # fmt: skip


def add_earthquake(book: TaskBook, scenario: Scenario) -> None:
    """Add the questions: each fact of the grid in three forms, then what follows from them."""
    every = chain(_grid(scenario), _derived(scenario))
    for serial, asked in enumerate(islice(every, COUNT), start=1):
        layers = [_layer(book, name) for name in _used(asked["script"])]
        book.add(f"EQ{serial:03}", AREA, asked["question"], layers, asked["expect"],
                 asked["script"], asked["intent"], asked.get("tags", ()))  # fmt: skip


def _layer(book: TaskBook, name: str) -> dict[str, Any]:
    ending = "tif" if name.startswith("damage") or name == "people" else "gpkg"
    return {"name": name, "source": f"{book.root}/earthquake/{name}.{ending}"}


def _used(script: Script) -> list[str]:
    """Return the layers that a script names, in the order of the study."""
    known = ("cities", "buildings", "blocks", "people", *map(damage_layer, DAYS))
    named = [value for step in script.steps for value in step["arguments"].values()]
    return [one for one in known if one in named]


def _grid(scenario: Scenario) -> Iterator[dict[str, Any]]:
    for fact in FACTS:
        for city in CITIES:
            for day in DAYS if fact.dated else ("",):
                value = fact.known(scenario, city, day)
                for form, spelled in zip(fact.forms, SPELLINGS[city]):
                    script = Script()
                    result = fact.solve(script, spelled, day, "")
                    yield {
                        "question": form.format(city=spelled, day=_SAID.get(day, "")),
                        "expect": number(value, TOLERANCE),
                        "script": script.answer(value=result),
                        "intent": "Count" if fact.whole else "Statistics",
                    }


def _derived(scenario: Scenario) -> Iterator[dict[str, Any]]:
    yield from _ranked(scenario)
    yield from _compared(scenario)
    yield from _together(scenario)
    yield from _correlated(scenario)
    yield from _heavy(scenario)


def _of_all(fact: Fact, day: str) -> Script:
    """Solve a fact for every city."""
    script = Script()
    for place, city in enumerate(CITIES):
        fact.solve(script, city, day, str(place))
    return script


def _ranked(scenario: Scenario) -> Iterator[dict[str, Any]]:
    said = {"damaged": "damaged buildings", "percent": "the share of damaged buildings"}
    for fact in FACTS[:2]:
        for day in DAYS:
            values = {city: fact.known(scenario, city, day) for city in CITIES}
            for most, name in (("most", largest(values)), ("least", smallest(values))):
                tied = [city for city in CITIES if values[city] == values[name]]
                accepted = dict.fromkeys(one for city in tied for one in SPELLINGS[city])
                script = _of_all(fact, day)
                yield {
                    "question": f"By {said[fact.name]}, which city was hit {most} on {_SAID[day]}?",
                    "expect": words(*accepted),
                    "script": script.answer(text=name),
                    "intent": "Rank",
                    "tags": ("branched",),
                }


def _compared(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Ask differences of two cities, and of the two days."""
    pairs = [(CITIES[0], other) for other in CITIES[1:]]
    for fact in FACTS[:2]:
        for one, two in pairs:
            script = Script()
            first = fact.solve(script, one, DAYS[1], "0")
            second = fact.solve(script, two, DAYS[1], "1")
            computed(script, "e", "the difference", f"{first} - {second}")
            unit = "damaged buildings more" if fact.whole else "percentage points more damage"
            value = fact.known(scenario, one, DAYS[1]) - fact.known(scenario, two, DAYS[1])
            yield {
                "question": f"How many {unit} has {one} than {two} on {_SAID[DAYS[1]]}?",
                "expect": number(value, TOLERANCE) if value else exactly(0),
                "script": script.answer(value="$e.value"), "intent": "Statistics",
                "tags": ("branched",),
            }  # fmt: skip
    for city in CITIES:
        script = Script()
        _city(script, city)
        before, after = (_judge(script, "$b", day, city, mark) for day, mark in zip(DAYS, "01"))
        computed(script, "e", "the difference", f"{after}.damaged - {before}.damaged")
        value = scenario.damaged(city, DAYS[1]) - scenario.damaged(city, DAYS[0])
        yield {
            "question": f"How many more buildings of {city} show damage on {_SAID[DAYS[1]]} than "
            f"on {_SAID[DAYS[0]]}?",
            "expect": number(value, TOLERANCE) if value else exactly(0),
            "script": script.answer(value="$e.value"), "intent": "Count", "tags": ("branched",),
        }  # fmt: skip


def _together(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Ask for all cities together, and for the buildings with heavy damage."""
    for day in DAYS:
        script = Script()
        damage = _judge(script, "buildings", day, "all cities")
        said: Mapping[str, tuple[str, float]] = {
            "damaged": (f"How many buildings are damaged in all cities together on {_SAID[day]}?",
                        scenario.damaged("", day)),
            "percent": ("Which percentage of all buildings of the four cities is damaged on "
                        f"{_SAID[day]}?", scenario.percent("", day)),
        }  # fmt: skip
        for key, (question, value) in said.items():
            again = Script([*script.steps], [*script.objectives])
            yield {"question": question, "expect": number(value, TOLERANCE),
                   "script": again.answer(value=f"{damage}.{key}"), "intent": "Count"}  # fmt: skip


def _heavy(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Ask for the buildings of which more than half is damaged."""
    for day in reversed(DAYS):
        for city in CITIES:
            script = Script()
            _city(script, city)
            damage = _judge(script, "$b", day, city)
            script.add("n", "Count those with more than half of their footprint damaged; return "
                       "the number.", "count", layer=damage,
                       conditions=[{"field": "damage_pct_0m", "op": ">", "value": 0.5}],
                       )  # fmt: skip
            value = scenario.heavy(city, day)
            yield {
                "question": f"Of how many buildings of {city} is more than half of the footprint "
                f"damaged on {_SAID[day]}?",
                "expect": number(value, TOLERANCE) if value else exactly(0),
                "script": script.answer(value="$n.count"), "intent": "Count",
            }  # fmt: skip


def _correlated(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Ask how people and damage go together over the blocks."""
    for day in DAYS:
        for city in ("", *CITIES):
            script = Script()
            blocks, buildings, where = "blocks", "buildings", "all cities"
            if city:
                where = city
                _city(script, city)
                script.add("q", f"Pick the blocks of {city}; return the layer.", "filter",
                           layer="blocks",
                           conditions=[{"field": "city", "op": "=", "value": city}],
                           )  # fmt: skip
                blocks, buildings = "$q", "$b"
            damage = _judge(script, buildings, day, where)
            counted = _struck_blocks(script, damage, blocks, where, "")
            script.add("r", "Correlate people and damaged buildings; return the number.",
                       "correlation", layer=counted, field="z_sum", other="count")  # fmt: skip
            yield {
                "question": "What is the correlation of people and damaged buildings over the "
                f"blocks of {where} on {_SAID[day]}?",
                "expect": number(scenario.correlation(city, day), TOLERANCE),
                "script": script.answer(value="$r.correlation"), "intent": "Statistics",
                "tags": ("branched",),
            }  # fmt: skip
