# SPDX-License-Identifier: GPL-2.0-or-later
"""The model doctor over servers of every kind: it tells what is so, and keeps what it knows."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_mind import Mind, OllamaMind, OpenAIMind
from source_tree import ROOT
from test_model_store import gguf

from geo_olm.plugin.agent.message import ToolCall
from geo_olm.plugin.llm import doctor_question
from geo_olm.plugin.llm.doctor import Doctor
from geo_olm.plugin.llm.doctor_note import note_of
from geo_olm.plugin.llm.doctor_question import Question, is_right
from geo_olm.plugin.llm.doctor_report import Began, Check, Finding, Fitting, Grade, Report, Step
from geo_olm.plugin.llm.doctor_server import residence_of_log
from geo_olm.plugin.llm.doctor_verdict import DAILY, NOT, SHORT, SLOW, Speeds, verdict
from geo_olm.plugin.llm.embedded import EmbeddedModel
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.openai import OpenAIModel
from geo_olm.plugin.llm.watch import never

SET = doctor_question.load(ROOT / "resources" / "doctor.json")
META = {"n_ctx": 4096}
Cancel = Callable[[], bool]


def examined(model: Any, cancelled: Cancel = never, context: int = 8192) -> Iterator[Step]:
    yield from Doctor(model, SET, context).examine(cancelled)
    model.close()


def report_of(steps: Iterator[Step]) -> Report:
    *_, last = steps
    assert isinstance(last, Report)
    return last


def by_openai(mind: Mind, meta: dict[str, Any] | None = META, context: int = 8192) -> Report:
    with OpenAIMind(mind, meta=meta) as server:
        return report_of(examined(OpenAIModel(server.address), context=context))


def by_ollama(mind: Mind, context: int = 8192, **given: Any) -> Report:
    with OllamaMind(mind) as server:
        for name, value in given.items():
            setattr(server, name, value)
        model = OllamaModel(server.address, "qwen3", context=context)
        return report_of(examined(model, context=context))


def found(report: Report, check: Check) -> Finding:
    return next(one for one in report.findings if one.check is check)


def test_all_is_told_in_order_and_each_finding_after_it_began() -> None:
    with OpenAIMind(Mind(), meta=META) as server:
        steps = list(examined(OpenAIModel(server.address)))
    told = [one.check for one in steps if isinstance(one, Finding)]
    assert told == list(Check)
    for check in Check:
        kinds = [type(one) for one in steps if getattr(one, "check", None) is check]
        assert kinds[0] is Began
        assert kinds[-1] is Finding
    assert isinstance(steps[-1], Report)


def test_a_good_model_behind_llama_cpp_is_known_as_such() -> None:
    report = by_openai(Mind())
    assert report.complete
    assert (report.model, report.server) == ("small-model", "llama.cpp server")
    assert found(report, Check.CONTEXT).found == "4,096 tokens"
    assert found(report, Check.CONTEXT).grade is Grade.FINE
    assert found(report, Check.CALLS).found == "As text: yes. Native: yes. Schema: yes"
    assert found(report, Check.CHOICES).found == "12 of 12 small tool questions"
    assert found(report, Check.MEMORY).found == "The server does not say"
    assert found(report, Check.LOADING).grade is Grade.NOTE
    assert (report.settings.mode, report.settings.context) == ("schema", 4096)


def test_the_long_prompt_is_near_the_limit() -> None:
    mind = Mind()
    by_openai(mind)
    assert 0.85 * 4096 < max(mind.sizes) < 4096


def test_a_prompt_cut_at_2048_is_found_by_the_count_and_the_word() -> None:
    """Case A33: the server says 8,192 and reads 2,048."""
    report = by_openai(Mind(context=2048), {"n_ctx": 8192})
    context = found(report, Check.CONTEXT)
    assert context.grade is Grade.ERROR
    assert context.found == "2,048 tokens"
    assert report.settings.context == 2048
    assert "2,048 tokens holds short questions only" in report.paragraph


def test_a_cut_prompt_is_found_by_the_word_where_nothing_is_counted() -> None:
    report = by_openai(Mind(context=2048, counts=False), {"n_ctx": 8192})
    context = found(report, Check.CONTEXT)
    assert context.grade is Grade.ERROR
    assert 1000 < report.settings.context <= 2048 * 2


def test_ollama_behind_its_openai_address_is_advised() -> None:
    """Case A33: the context is set at Ollama's own address, or by its variable."""
    with OpenAIMind(Mind(context=4096), meta=None) as server:
        other = server.page
        server.page = lambda path, body: (  # type: ignore[method-assign]
            (200, {"version": "0.12.0"}) if path == "/api/version" else other(path, body)
        )
        report = report_of(examined(OpenAIModel(server.address)))
    assert report.server == "Ollama, by its OpenAI address 0.12.0"
    assert "OLLAMA_CONTEXT_LENGTH" in found(report, Check.CONTEXT).meaning


def test_ollama_that_ignores_num_ctx_is_found() -> None:
    """Case A31."""
    report = by_ollama(Mind(context=2048))
    assert found(report, Check.CONTEXT).grade is Grade.ERROR
    assert report.settings.context == 2048


def test_a_server_that_refuses_long_prompts_is_not_said_to_cut_them() -> None:
    report = by_openai(Mind(refuses_at=2000), None)
    context = found(report, Check.CONTEXT)
    assert context.grade is Grade.WARNING
    assert "refused" in context.meaning
    assert 1000 < report.settings.context <= 2000


def test_a_model_that_forgets_what_was_read_is_told_apart_from_a_cut() -> None:
    report = by_openai(Mind(forgetful=True))
    context = found(report, Check.CONTEXT)
    assert (context.grade, report.settings.context) == (Grade.WARNING, 4096)
    assert "read whole" in context.meaning


@pytest.mark.parametrize(
    ("mind", "mode", "said"),
    [
        (Mind(native=False), "schema", "As text: yes. Native: no. Schema: yes"),
        (Mind(schema=False), "native", "As text: yes. Native: yes. Schema: no"),
        (Mind(schema=False, native=False), "text", "As text: yes. Native: no. Schema: no"),
        (Mind(schema=False, refuses_tools=True), "text", "As text: yes. Native: no. Schema: no"),
    ],
)
def test_the_mode_is_what_works(mind: Mind, mode: str, said: str) -> None:
    """Cases A38 and A40: a server that takes no tools is asked in another way."""
    report = by_openai(mind)
    assert found(report, Check.CALLS).found == said
    assert report.settings.mode == mode


def test_a_model_that_calls_nothing_is_no_help() -> None:
    report = by_openai(Mind(schema=False, native=False, text=False))
    assert report.verdict == NOT
    assert found(report, Check.CALLS).grade is Grade.ERROR
    assert note_of(report) is None


def test_a_model_that_thinks_is_told() -> None:
    thinking = found(by_openai(Mind(thinks=True)), Check.THINKING)
    assert thinking.grade is Grade.WARNING
    assert found(by_openai(Mind()), Check.THINKING).found == "None"


def test_ollamas_own_times_and_memory_are_told() -> None:
    report = by_ollama(Mind(), share_on_card=0.0)
    speed = found(report, Check.SPEED)
    assert (speed.numbers["reading"], speed.numbers["writing"]) == (200.0, 40.0)
    assert speed.found == "Reads 200, writes 40 tokens a second"
    assert found(report, Check.LOADING).found == "1.5 s"
    assert found(report, Check.MEMORY).found == "1.0 GB, on the processor"
    assert found(report, Check.SERVER).found == "Ollama 0.12.0, on this machine"


def test_ollama_is_unloaded_first_so_that_loading_is_measured() -> None:
    with OllamaMind(Mind()) as server:
        list(examined(OllamaModel(server.address, "qwen3")))
        assert server.unloaded == ["qwen3:latest"]
        assert len(server.loads) == 1


def test_a_model_partly_on_the_card_is_a_warning() -> None:
    memory = found(by_ollama(Mind(), share_on_card=0.5), Check.MEMORY)
    assert (memory.grade, memory.found) == (Grade.WARNING, "0.5 of 1.0 GB on the graphics card")


def test_missed_questions_are_named() -> None:
    report = by_openai(Mind(wrong=("ranking", "nearest neighbour", "raster statistics")))
    choices = found(report, Check.CHOICES)
    assert (choices.grade, choices.found) == (Grade.WARNING, "9 of 12 small tool questions")
    assert choices.meaning == "Missed: ranking, nearest neighbour, raster statistics"


def test_a_model_right_with_fewer_tools_is_shown_fewer_tools() -> None:
    report = by_openai(Mind(wrong_with_all=("ranking", "overlay")))
    assert found(report, Check.CHOICES).found == "12 of 12 small tool questions"
    assert report.settings.exposure == "filter"
    assert report.settings.reasons["exposure"].startswith("10 of 12")


@pytest.mark.parametrize(("caches", "exposure"), [(True, "hint"), (False, "filter")])
def test_all_tools_are_shown_only_where_the_cache_holds(caches: bool, exposure: str) -> None:
    assert by_openai(Mind(caches=caches)).settings.exposure == exposure


def test_a_better_mode_is_taken_when_the_first_one_misses_much() -> None:
    """The mind is wrong only where it is held to a schema."""

    class Loose(Mind):
        def reply(self, seen: str, schema: Any, tools: Any) -> tuple[str, Any]:
            self.wrong = () if tools else ("ranking", "sums", "averages", "overlay")
            return super().reply(seen, schema, tools)

    report = by_openai(Loose())
    assert report.settings.mode == "native"
    assert report.settings.reasons["mode"] == "more right choices than schema"
    assert found(report, Check.CHOICES).found == "12 of 12 small tool questions"


def test_speed_is_taken_from_the_clock_where_the_server_says_nothing() -> None:
    report = by_openai(Mind(piece=0.005))
    writing = found(report, Check.SPEED).numbers["writing"]
    assert 20 < writing <= 200


def test_a_server_that_dies_in_the_middle_leaves_what_was_known() -> None:
    report = by_openai(Mind(dies_at=8))
    assert not report.complete
    told = [one.check for one in report.findings]
    assert told[:2] == [Check.SERVER, Check.CONTEXT]
    assert report.findings[-1].grade is Grade.ERROR
    assert "broke off" in report.findings[-1].found
    assert note_of(report) is None


def test_a_server_that_is_down_is_one_sentence() -> None:
    with OpenAIMind(Mind()) as server:
        address = server.address
    report = report_of(examined(OpenAIModel(address)))
    assert not report.complete
    assert [one.check for one in report.findings] == [Check.SERVER]
    assert "does not answer" in report.paragraph


def test_a_stop_is_seen_within_two_seconds_and_keeps_what_is_known() -> None:
    mind, stop = Mind(pause=0.4), threading.Event()
    with OpenAIMind(mind, meta=META) as server:
        steps = examined(OpenAIModel(server.address), stop.is_set)
        for one in steps:
            if isinstance(one, Finding) and one.check is Check.CONTEXT:
                break
        stop.set()
        begun = time.monotonic()
        report = report_of(steps)
        assert time.monotonic() - begun < 2
    assert not report.complete
    assert [one.check for one in report.findings] == [Check.SERVER, Check.CONTEXT]


def test_a_report_is_plain_json_and_plain_text() -> None:
    report = by_openai(Mind())
    told = json.loads(json.dumps(report.as_dict()))
    assert told["version"] == 1
    assert [one["check"] for one in told["findings"]] == [check.value for check in Check]
    lines = report.text().splitlines()
    assert lines[0] == f"small-model: {report.verdict}"
    assert "Context in force: 4,096 tokens (The first word of a long prompt was still known)" in (
        lines
    )


RANK = Question("x", "", "rank", {"layer": "parks", "count": 3})


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ({"layer": "parks", "count": 3}, True),
        ({"layer": "parks", "count": "3"}, True),
        ({"layer": "parks", "count": 3.0}, True),
        ({"layer": "parks", "count": 4}, False),
        ({"layer": "parks"}, False),
        ({"layer": "parks", "count": 3, "order": "highest"}, False),
        ({"layer": "Parks", "count": 3}, False),
    ],
)
def test_a_choice_is_graded_exactly(arguments: dict[str, Any], right: bool) -> None:
    assert is_right((ToolCall("abcdefghi", "rank", arguments),), RANK) is right
    assert not is_right((ToolCall("abcdefghi", "sort", arguments),), RANK)


def test_two_kilometres_are_two_thousand_metres() -> None:
    zone = next(item for item in SET.questions if item.label == "buffers")
    for distance, unit, right in ((2, "km", True), (2000, "m", True), (2, "m", False)):
        given = {"layer": "schools", "distance": distance, "unit": unit}
        assert is_right((ToolCall("abcdefghi", "buffer", given),), zone) is right


def test_worked_examples_are_shown_of_the_tools_that_are_offered() -> None:
    question = SET.questions[0]
    everything = SET.messages(question, SET.tools)
    assert len(everything) == 2 + 2 * len(SET.examples)
    assert everything[2].content == SET.examples[0].call()
    stage = SET.messages(question, SET.of_stage(question.tool))
    assert len(stage) == 4
    assert not {item.text for item in SET.examples} & {item.text for item in SET.questions}


def test_every_right_call_fits_the_schema_that_it_is_held_to() -> None:
    tools = {tool.name: tool for tool in SET.tools}
    layers = {layer.key: layer for layer in SET.layers}
    assert len(SET.questions) == 12
    for question in (*SET.questions, *SET.examples):
        properties = tools[question.tool].parameters["properties"]
        assert list(properties) == list(question.arguments)
        for name, value in question.arguments.items():
            if "x-layer" in properties[name]:
                assert value in layers
            if "enum" in properties[name]:
                assert value in properties[name]["enum"]
            if "x-field" in properties[name]:
                own = layers[question.arguments["layer"]]
                assert value in [item.name for item in own.fields]


FAST = Speeds(1000, 50)
SLOWER = Speeds(78, 24)
SLOWEST = Speeds(20, 4)


@pytest.mark.parametrize(
    ("right", "speeds", "context", "title"),
    [
        (12, FAST, 8192, DAILY),
        (12, FAST, 4096, SHORT),
        (10, FAST, 8192, SHORT),
        (12, SLOWER, 8192, SHORT),
        (12, SLOWEST, 8192, SLOW),
        (7, FAST, 8192, NOT),
        (12, Speeds(), 8192, SHORT),
    ],
)
def test_the_verdict_follows_from_the_figures(
    right: int, speeds: Speeds, context: int, title: str
) -> None:
    assert verdict(right, 12, speeds, Fitting("schema", context), True).title == title


LOG = """load_tensors: offloaded 20/29 layers to GPU
load_tensors:        CUDA0 model buffer size =   600.00 MiB
load_tensors:   CPU_Mapped model buffer size =   400.00 MiB
llama_kv_cache:      CUDA0 KV buffer size =   100.00 MiB
llama_context:        CPU compute buffer size =   20.00 MiB
"""


def test_memory_is_read_from_llama_cpps_log() -> None:
    residence = residence_of_log(LOG)
    assert residence is not None
    assert (residence.size, residence.on_card) == (1120 << 20, 700 << 20)
    assert residence_of_log("listening") is None


class Started:
    """A server of the plugin's own: the fake, which takes a moment to load."""

    def __init__(self, address: str, log: str, residence: str) -> None:
        self._given, self._log, self.residence = address, log, residence
        self.address = ""
        self.stopped = 0

    def starting(self, cancelled: Cancel) -> Iterator[float]:
        if not self.address:
            for at in range(3):
                time.sleep(0.05)
                yield 0.05 * (at + 1)
            self.address = self._given

    def told(self) -> tuple[Any, ...]:
        return ()

    def log_text(self) -> str:
        return self._log

    def stop(self) -> None:
        self.stopped += 1
        self.address = ""


@pytest.mark.parametrize(
    ("log", "residence", "memory", "grade"),
    [
        (LOG, "20 of 29 layers on a card", "0.7 of 1.2 GB on the graphics card", Grade.WARNING),
        ("", "all 29 layers on a card", "All 29 layers on a card", Grade.FINE),
        ("", "on the processor", "On the processor", Grade.WARNING),
        ("", "", "The server does not say", Grade.NOTE),
    ],
)
def test_the_built_in_server_is_started_anew_and_its_log_is_read(
    tmp_path: Path, log: str, residence: str, memory: str, grade: Grade
) -> None:
    path = tmp_path / "small-model.gguf"
    path.write_bytes(gguf())
    with OpenAIMind(Mind(), meta=META) as server:
        started = Started(server.address, log, residence)
        model = EmbeddedModel(started, path, "small-model", 4096, digest="abc")
        report = report_of(examined(model))
    assert started.stopped == 1
    assert report.complete
    assert report.key == "embedded 127.0.0.1 small-model"
    assert report.digest == "abc"
    loading = found(report, Check.LOADING)
    assert 0.1 <= loading.numbers["seconds"] < 5
    assert (found(report, Check.MEMORY).found, found(report, Check.MEMORY).grade) == (memory, grade)
