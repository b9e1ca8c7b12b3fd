# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a question: its fields are always there, its numbers always numbers."""

from __future__ import annotations

import json
import math

import pytest

from geo_olm.plugin.agent.event import (
    CallFinished,
    Event,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from geo_olm.plugin.llm.base import ModelCard, Server, Usage
from geo_olm.plugin.record import Recorder
from geo_olm.tools.base import LayerReference

FIELDS = [
    "version",
    "question",
    "answer",
    "value",
    "unit",
    "status",
    "reason",
    "intent",
    "stages",
    "calls",
    "layers",
    "files",
    "tokens",
    "seconds",
    "model",
]
ASIA = LayerReference("id1", "Asia", "/tmp/a.gpkg", "Polygon", "EPSG:4326", 51)
OK = RunFinished(
    Status.OK,
    "51 countries.",
    51.0,
    "km",
    layers=(ASIA,),
    files=("/tmp/a.csv",),
    usage=Usage(200, 120, 80, 20),
    seconds={"model": 1.23456, "tools": 0.5, "total": 2.0},
)
RUN: list[Event] = [
    RunStarted("How many?", "small", "openai", ("Init",), 12),
    StageChanged("Init"),
    StageChanged("Filter", "Count"),
    CallFinished("c1", "filter", {"layer": "countries"}, True, "", 0.12345),
    CallFinished("c2", "count", {}, False, "No layer.", 0.5),
    TokensUsed(Usage(100, 60, 40, 10), 8192, 1.0),
    TokensUsed(Usage(100, 60, 40, 10, estimated=True), 8192, 1.0),
]


def recorded(*events: Event) -> Recorder:
    recorder = Recorder("How many?")
    for event in events:
        recorder.note(event)
    return recorder


def test_a_whole_run_is_recorded_in_the_form_of_the_contract() -> None:
    recorder = recorded(*RUN, OK)
    recorder.model(ModelCard("small", Server.OPENAI, "http://127.0.0.1", 8192, digest="abc"))
    record = recorder.record()
    assert list(record) == FIELDS
    assert (record["question"], record["answer"], record["value"]) == (
        "How many?",
        "51 countries.",
        51.0,
    )
    assert (record["unit"], record["status"], record["intent"]) == ("km", "ok", "Count")
    assert record["stages"] == ["Init", "Filter"]
    assert record["calls"] == [
        {
            "tool": "filter",
            "arguments": {"layer": "countries"},
            "ok": True,
            "error": "",
            "seconds": 0.123,
        },
        {"tool": "count", "arguments": {}, "ok": False, "error": "No layer.", "seconds": 0.5},
    ]
    layer = record["layers"][0]
    assert {key: layer[key] for key in ("name", "source", "geometry", "crs", "features")} == {
        "name": "Asia",
        "source": "/tmp/a.gpkg",
        "geometry": "Polygon",
        "crs": "EPSG:4326",
        "features": 51,
    }
    assert record["files"] == ["/tmp/a.csv"]
    assert record["tokens"] == {
        "prompt": 200,
        "cached": 120,
        "evaluated": 80,
        "generated": 20,
        "estimated": True,
    }
    assert record["seconds"] == {"model": 1.235, "tools": 0.5, "total": 2.0}
    assert record["model"] == {"name": "small", "server": "openai", "digest": "abc"}


@pytest.mark.parametrize(
    "events",
    [
        [],
        RUN,
        [RunFinished(Status.FAILED, "Down.", reason="Down.")],
        [*RUN, RunFinished(Status.CANCELLED, "Stopped.", reason="Stopped.")],
    ],
)
def test_failed_runs_have_every_field_and_numbers_too(events: list[Event]) -> None:
    record = recorded(*events).record()
    assert list(record) == FIELDS
    assert record["value"] is None
    assert record["reason"]
    assert record["status"] in ("failed", "cancelled")
    for part in (record["tokens"], record["seconds"]):
        numbers = [value for key, value in part.items() if key != "estimated"]
        assert all(isinstance(value, (int, float)) for value in numbers)
        assert not any(isinstance(value, bool) for value in numbers)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_null_so_that_the_record_is_json(value: float) -> None:
    record = recorded(RunFinished(Status.OK, "None.", value)).record()
    assert record["value"] is None
    json.dumps(record, allow_nan=False)


def test_a_record_stays_as_it_was_when_the_run_goes_on() -> None:
    recorder = recorded(*RUN)
    before = recorder.record()
    recorder.note(StageChanged("Map"))
    assert before["stages"] == ["Init", "Filter"]
