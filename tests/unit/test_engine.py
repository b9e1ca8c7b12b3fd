# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine from Init to End: order of events, ends of every kind, what is offered and told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from agent_case import Case
from plain_toolbox import PlainToolbox, made
from scripted_speaker import USAGE, Calls, Fails, Mumbles, Says, call, cut, init, wrote

from geo_olm.plugin.agent import prompt
from geo_olm.plugin.agent.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    ModelState,
    Notice,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from geo_olm.plugin.agent.limit import Limits
from geo_olm.plugin.agent.message import Role, ToolCall
from geo_olm.plugin.llm.base import (
    BrokenModelFile,
    ContextFull,
    ModelError,
    ModelMissing,
    NoModel,
    OutOfMemory,
    ServerDown,
    StreamBroken,
)
from geo_olm.tools.base import Family, FieldProfile, LastingError, LayerProfile

COUNT = call("Analyse", "count", layer="countries")
ANSWER = call("Answer", "answer", value="r1.count")


def counting(*numbers: float) -> PlainToolbox:
    return PlainToolbox({"count": [made(f"{n} features.", count=n) for n in numbers or (17.0,)]})


def test_a_question_goes_from_init_to_end_in_order() -> None:
    case = Case(counting())
    end = case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("There are 17."))
    kept = (RunStarted, StageChanged, CallStarted, CallFinished, RunFinished)
    told = [
        getattr(event, "stage", "") or getattr(event, "tool", "") or type(event).__name__
        for event in case.events
        if isinstance(event, kept)
    ]
    assert told == [
        "RunStarted",
        "Init",
        "Load",
        "layer_info",
        "layer_info",
        "Analyse",
        "count",
        "count",
        "Answer",
        "answer",
        "answer",
        "End",
        "RunFinished",
    ]
    assert (end.status, end.answer, end.value, end.reason) == (
        Status.OK,
        "There are 17.",
        17.0,
        "",
    )


def test_the_first_event_tells_the_model_and_the_stages_without_error() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    started = case.of(RunStarted)[0]
    assert (started.question, started.model, started.server) == ("How many?", "scripted", "openai")
    assert started.stages == ("Init", "Load", "Filter", "Analyse", "Map", "Answer", "End")
    assert started.max_steps == 12


def test_the_intent_that_the_model_named_stands_in_every_later_stage() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    assert [event.intent for event in case.of(StageChanged)][1:] == ["Count"] * 4


def test_the_usage_and_the_seconds_are_the_sums_of_the_calls() -> None:
    case = Case(counting())
    end = case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    used = case.of(TokensUsed)
    assert len(used) == 4
    assert end.usage.prompt == 4 * USAGE.prompt
    assert end.usage.generated == 4 * USAGE.generated
    assert end.seconds["total"] >= end.seconds["model"] + end.seconds["tools"] > 0


def test_only_the_named_layers_are_loaded() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "rivers"), COUNT, ANSWER, wrote("17."))
    assert case.toolbox.calls("layer_info") == [{"layer": "rivers"}]


@pytest.mark.parametrize("named", [[], ["atlantis"], None])
def test_layers_that_are_not_there_lead_to_a_look_at_those_that_are(named: object) -> None:
    case = Case(counting())
    first = init("Count")
    first = type(first)({**first.said, "layers": named})
    case.ask("How many?", first, COUNT, ANSWER, wrote("17."))
    assert case.toolbox.calls("layer_info") == [{"layer": "countries"}, {"layer": "rivers"}]


def test_only_the_tools_that_the_intent_uses_are_offered_while_all_goes_well() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    first = next(item.tools for item in case.choices() if item.tools)
    assert {"count", "filter", "answer", "reject"} <= set(first)
    assert "zoom_to_layer" not in first


def test_after_a_reminder_the_tools_of_all_open_stages_are_offered() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), Mumbles(), COUNT, ANSWER, wrote("17."))
    offered = [item.tools for item in case.choices() if item.tools]
    assert "zoom_to_layer" in offered[1]


def test_an_unknown_intent_leaves_the_tools_of_the_examples_most_alike() -> None:
    case = Case(counting())
    case.ask("How many?", init("Dream", "countries"), COUNT, ANSWER, wrote("17."))
    first = next(item.tools for item in case.choices() if item.tools)
    assert {"count", "answer", "reject"} <= set(first)


def needing(needs: str) -> Says:
    return Says({**init("Count", "countries").said, "NEEDS": needs})


def test_what_no_layer_holds_leaves_only_the_rejection() -> None:
    case = Case(counting())
    reject = call("Answer", "reject", reason="No layer holds volcanoes.")
    end = case.ask("How many volcanoes?", needing("volcanoes = none"), reject)
    assert end.status is Status.REJECTED
    assert [item.tools for item in case.choices() if item.tools] == [["reject"]]


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        ("Show the air quality in Lima.", "air quality = none, Lima = none"),
        ("Which hospital is the most efficient?", "hospital = none, efficiency = none"),
    ],
)
def test_what_the_data_cannot_tell_is_refused_and_makes_no_layer_c52(
    question: str, needs: str
) -> None:
    case = Case(counting())
    reject = call("Answer", "reject", reason="No layer of the project holds that.")
    end = case.ask(question, needing(needs), reject)
    assert (end.status, end.reason) == (Status.REJECTED, "No layer of the project holds that.")
    assert [item.tools for item in case.choices() if item.tools] == [["reject"]]
    assert end.layers == ()
    assert {name for name, _ in case.toolbox.ran} == {"layer_info", "reject"}


@pytest.mark.parametrize(
    "needs", ["countries = none", "names = none, rivers = rivers", "", "volcanoes = countries"]
)
def test_what_a_name_of_the_project_speaks_of_is_not_missing(needs: str) -> None:
    case = Case(counting())
    end = case.ask("How many?", needing(needs), COUNT, ANSWER, wrote("17."))
    assert end.status is Status.OK


@pytest.mark.parametrize("exposure", ["filter", "hint"])
def test_a_tool_is_described_once_in_a_chat(exposure: str) -> None:
    case = Case(counting(), exposure=exposure)
    for number in (1, 2):
        answer = call("Answer", "answer", value=f"r{number}.count")
        case.ask("How many?", init("Count", "countries"), COUNT, answer, wrote("17."))
    contents = "\n".join(message.content for message in case.chat.messages)
    assert contents.count("count(layer, where?): Does count.") == 1
    assert contents.count("zoom_to_layer(layer)") == (1 if exposure == "hint" else 0)


def test_the_answer_of_a_count_must_name_its_number_once_there_is_one() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    required = [
        tool.parameters["required"]
        for item in case.choices()
        if item.choice
        for tool in item.choice.tools
        if tool.name == "answer"
    ]
    assert required == [[], ["value"]]


def test_a_stage_that_was_not_said_is_taken_from_the_tools_home() -> None:
    case = Case(counting())
    silent = Calls((ToolCall("abcdefghi", "count", {"layer": "countries"}),))
    case.ask("How many?", init("Count", "countries"), silent, ANSWER, wrote("17."))
    assert case.stages() == ["Init", "Load", "Analyse", "Answer", "End"]


def test_each_request_within_a_turn_extends_the_one_before() -> None:
    case = Case(counting(17.0, 4.0))
    second = call("Analyse", "count", layer="rivers")
    case.ask(
        "How many?",
        init("Count", "countries"),
        COUNT,
        second,
        ANSWER,
        wrote("17."),
    )
    requests = [item.messages for item in case.asked]
    for before, after in zip(requests, requests[1:]):
        assert after[: len(before)] == before
        assert len(after) > len(before)


def test_a_rejection_has_status_rejected_and_the_reason() -> None:
    case = Case()
    reason = "There is no layer of tunnels."
    end = case.ask(
        "The longest tunnel?", init("Rank", "rivers"), call("Answer", "reject", reason=reason)
    )
    assert (end.status, end.answer, end.reason, end.value) == (
        Status.REJECTED,
        reason,
        reason,
        None,
    )
    assert case.stages()[-1] == "End"


def test_without_layers_nothing_is_asked_and_the_next_step_is_named() -> None:
    case = Case(PlainToolbox(profiles=[]))
    end = case.ask("How many?")
    assert end.status is Status.REJECTED
    assert end.answer == "No layers yet. Add a layer, or open the demo project."


def test_a_reply_without_a_call_is_reminded_once_and_may_recover() -> None:
    case = Case(counting())
    end = case.ask(
        "How many?", init("Count", "countries"), Mumbles(), COUNT, ANSWER, wrote("17 of them.")
    )
    assert (end.status, end.value) == (Status.OK, 17.0)


def test_a_second_reply_without_a_call_ends_with_the_sentence_of_the_design() -> None:
    case = Case(counting())
    end = case.ask("How many?", init("Count", "countries"), Mumbles(), Mumbles("About 200."))
    assert end.status is Status.FAILED
    assert end.answer.startswith(
        "The model answered without using a tool, so nothing was checked on your layers."
    )
    assert "200" not in end.answer


def test_a_malformed_call_is_told_to_the_model() -> None:
    case = Case(counting())
    broken = Mumbles('{"tool": ', malformed="the reply was cut")
    case.ask("How many?", init("Count", "countries"), broken, COUNT, ANSWER, wrote("17."))
    told = [m.content for item in case.asked for m in item.messages if m.role is Role.USER]
    assert any("the reply was cut" in text for text in told)


def test_continue_leads_back_to_work_and_says_what_is_missing() -> None:
    case = Case(counting(17.0, 4.0))
    end = case.ask(
        "How many of both?",
        init("Count", "countries"),
        COUNT,
        ANSWER,
        wrote("CONTINUE: the rivers are missing"),
        call("Analyse", "count", layer="rivers"),
        call("Answer", "answer", value="r2.count"),
        wrote("There are 4 rivers."),
    )
    assert (end.status, end.value, end.answer) == (Status.OK, 4.0, "There are 4 rivers.")
    told = [m.content for m in case.asked[-1].messages]
    assert "Not finished: the rivers are missing" in told


def test_a_model_that_never_confirms_gets_the_results_as_the_answer() -> None:
    case = Case(counting(17.0))
    again = call("Answer", "answer", value="r1.count", text="done")
    more = call("Answer", "answer", value="r1.count", text="really")
    end = case.ask(
        "How many?",
        init("Count", "countries"),
        COUNT,
        ANSWER,
        wrote("CONTINUE"),
        again,
        wrote("CONTINUE"),
        more,
        wrote("CONTINUE"),
    )
    assert end.status is Status.OK
    assert "17" in end.answer


@pytest.mark.parametrize(
    "error",
    [
        ModelError("The model sleeps. Wake it."),
        ServerDown("The server does not answer. Start it."),
        ModelMissing("There is no such model. Choose another."),
        ContextFull("The context is full. Start a new chat."),
        OutOfMemory("Too little memory. Choose a smaller model."),
        BrokenModelFile("The file is broken. Choose another."),
        StreamBroken("The reply ended early. Ask again.", partial="Ther"),
        NoModel("No model was found. Start one."),
    ],
)
@pytest.mark.parametrize("place", range(4))
def test_every_error_of_a_model_is_one_sentence_at_every_point(
    error: ModelError, place: int
) -> None:
    case = Case(counting())
    script = [init("Count", "countries"), COUNT, ANSWER, wrote("17.")]
    end = case.ask("How many?", *script[:place], Fails(error))
    assert (end.status, end.answer, end.reason) == (Status.FAILED, error.message, error.message)
    assert end.value is None
    assert case.of(RunFinished) == [end]


def test_after_a_failed_turn_the_next_one_works_and_sees_only_two_lines_of_it() -> None:
    case = Case(counting())
    case.ask("First?", init("Count", "countries"), COUNT, Fails(ServerDown("Down. Start it.")))
    assert case.chat.messages[0].role is Role.SYSTEM
    assert [m.content for m in case.chat.messages[-2:]] == [
        "Question: First?",
        "Not answered: Down. Start it.",
    ]
    assert not any("countries: 2 fields." in m.content for m in case.chat.messages)
    end = case.ask(
        "Second?",
        init("Count", "countries"),
        COUNT,
        call("Answer", "answer", value="r2.count"),
        wrote("17."),
    )
    assert end.status is Status.OK
    assert case.asked[0].messages[0].role is Role.SYSTEM


def test_a_lasting_error_of_a_tool_ends_the_run_with_its_sentence() -> None:
    text = "countries was removed while it was in use. The results so far are kept."
    case = Case(PlainToolbox({"count": [LastingError(text)]}))
    end = case.ask("How many?", init("Count", "countries"), COUNT)
    assert (end.status, end.answer) == (Status.FAILED, text)
    assert [event.error for event in case.of(CallFinished) if not event.ok] == [text]


def test_steps_are_capped() -> None:
    case = Case(counting(*range(1, 9)), limits=Limits(steps=4))
    steps = [call("Analyse", "count", layer="countries", where=f"a > {n}") for n in range(3)]
    end = case.ask("How many?", init("Count", "countries"), *steps)
    assert end.status is Status.FAILED
    assert "within 4 steps" in end.answer
    assert len(case.of(CallStarted)) == 4


def test_tokens_are_capped_and_nothing_more_is_asked_then() -> None:
    case = Case(counting(), limits=Limits(tokens=100))
    end = case.ask("How many?", init("Count", "countries"), COUNT)
    assert end.status is Status.FAILED
    assert "its cap is 100" in end.answer
    assert end.usage.evaluated + end.usage.generated == 100


def test_result_layers_and_files_stand_in_the_last_event() -> None:
    toolbox = PlainToolbox({"filter": [made("3 features.", layer="Asia", count=3.0)]})
    case = Case(toolbox)
    end = case.ask(
        "Those in Asia?",
        init("Count", "countries"),
        call("Filter", "filter", layer="countries"),
        ANSWER,
        wrote("3 countries are in Asia."),
    )
    assert [(layer.id, layer.name) for layer in end.layers] == [("id-Asia", "Asia")]


def test_what_a_tool_reports_reaches_the_listener_with_its_call() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    assert [(item.call_id, item.percent) for item in case.progress][1] == (COUNT.calls[0].id, 50.0)


def test_the_model_is_seen_reading_and_writing() -> None:
    case = Case(counting())
    case.ask("How many?", init("Count", "countries"), COUNT, ANSWER, wrote("17."))
    assert "reading" in {event.state for event in case.of(ModelState)}
    assert [event.text for event in case.of(AnswerDelta)][-1] == "17."


def test_native_calls_and_their_results_are_paired_in_the_chat() -> None:
    case = Case(counting(17.0, 4.0))
    both = Calls(
        (
            ToolCall("aaaaaaaaa", "count", {"layer": "countries"}),
            ToolCall("bbbbbbbbb", "count", {"layer": "rivers"}),
        ),
        native=True,
    )
    last = Calls((ToolCall("ccccccccc", "answer", {"value": "r1.count"}),), native=True)
    case.ask("How many?", init("Count", "countries"), both, last, wrote("17."))
    called = [one.id for message in case.chat.messages for one in message.calls]
    answered = [m.call_id for m in case.chat.messages if m.role is Role.TOOL]
    assert answered == called == ["aaaaaaaaa", "bbbbbbbbb", "ccccccccc"]


def test_a_native_call_after_the_answer_still_has_a_result() -> None:
    case = Case(counting(17.0))
    first = Calls((ToolCall("aaaaaaaaa", "count", {"layer": "countries"}),), native=True)
    last = Calls(
        (
            ToolCall("bbbbbbbbb", "answer", {"value": "r1.count"}),
            ToolCall("ccccccccc", "count", {"layer": "rivers"}),
        ),
        native=True,
    )
    end = case.ask("How many?", init("Count", "countries"), first, last, wrote("17."))
    assert end.status is Status.OK
    called = {one.id for message in case.chat.messages for one in message.calls}
    answered = {m.call_id for m in case.chat.messages if m.role is Role.TOOL}
    assert answered == called


def test_a_number_that_only_the_models_answer_holds_does_not_reach_the_user() -> None:
    case = Case(counting(17.0))
    own = call("Answer", "answer", text="There are 250 countries.")
    told = wrote("There are 250 countries.")
    end = case.ask("How many?", init("Describe", "countries"), COUNT, own, told, told)
    assert "250" not in end.answer


def test_an_answer_with_another_results_number_is_asked_for_again() -> None:
    case = Case(counting(17.0, 4.0))
    second = call("Analyse", "count", layer="rivers")
    end = case.ask(
        "How many?",
        init("Count", "countries"),
        COUNT,
        second,
        ANSWER,
        wrote("There are 4."),
        wrote("There are 17."),
    )
    assert (end.value, end.answer) == (17.0, "There are 17.")


@pytest.mark.parametrize(
    "echo", ['How many are there? " The results: 17.', "The result is r1: count = 17 features."]
)
def test_an_answer_that_repeats_the_question_or_a_line_of_results_is_asked_for_again(
    echo: str,
) -> None:
    case = Case(counting(17.0))
    end = case.ask(
        "Look at the countries. How many are there?",
        init("Count", "countries"),
        COUNT,
        ANSWER,
        wrote(echo),
        wrote("There are 17."),
    )
    assert end.answer == "There are 17."


def test_an_answer_may_say_the_words_of_the_question_within_its_sentence() -> None:
    case = Case(counting(17.0))
    words = "The number of all countries is 17."
    end = case.ask(
        "number of all countries?", init("Count", "countries"), COUNT, ANSWER, wrote(words)
    )
    assert end.answer == words


def test_two_hundred_layers_leave_room_for_the_question_and_keep_the_fields_asked_for() -> None:
    names = tuple(FieldProfile(f"field_{at}", "real") for at in range(40))
    layers = [
        LayerProfile(f"layer {at}", f"l{at}", Family.POINT, "point", "EPSG:4326", fields=names)
        for at in range(200)
    ]
    layers[150] = replace(layers[150], key="rivers")
    told = prompt.question("How many rivers?", layers).content
    assert len(told) < 10_000
    assert "- layer 199 (" in told
    assert next(line for line in told.split("\n") if line.startswith("- rivers")).endswith(
        "field_39"
    )
    few = prompt.question("How many rivers?", [replace(layers[0], key="x" * 60)] * 400).content
    assert len(few) < 10_000
    assert "more layers" in few


@pytest.mark.parametrize(
    ("worded", "value"),
    [
        ("There are 17 of them.", 17.0),
        ("There are 17, so 17.", 17.0),
        ("They are empty.", None),
        ("Of 21 there are 17.", None),
    ],
)
def test_a_number_that_only_the_wording_gives_is_the_value(
    worded: str, value: float | None
) -> None:
    toolbox = PlainToolbox({"count": [made("17 of 21.", count=17.0, all=21.0)]})
    case = Case(toolbox)
    closing = call("Answer", "answer")
    end = case.ask("How are they?", init("Describe", "countries"), COUNT, closing, wrote(worded))
    assert (end.status, end.value) == (Status.OK, value)


def test_a_look_at_layers_that_are_loaded_is_not_offered_again() -> None:
    for needed, offered in ((("countries", "rivers"), False), (("countries",), True)):
        case = Case(counting())
        case.ask("Which CRS?", init("Describe", *needed), call("Answer", "answer"), wrote("Both."))
        step = case.choices()[1].choice
        assert step is not None
        assert ("layer_info" in [tool.name for tool in step.tools]) is offered


def test_a_name_that_no_result_holds_does_not_reach_the_user() -> None:
    case = Case(counting())
    end = case.ask(
        "How many countries are there in the world?",
        init("Count", "countries"),
        COUNT,
        ANSWER,
        wrote("There are 17, and the greenest is Rio Doce."),
        wrote("There are 17 in the NAFTA."),
    )
    assert end.answer == "There are 17 in the NAFTA."
    told = case.asked[-1].messages[-1].content
    assert told.endswith("Do not write Rio, Doce: no result holds it.")


def test_a_sentence_about_the_asking_is_left_out() -> None:
    case = Case(counting())
    script = (init("Count", "countries"), COUNT, ANSWER)
    end = case.ask("How many?", *script, wrote("The question was answered. There are 17."))
    assert end.answer == "There are 17."


def test_a_cut_answer_is_asked_for_again_and_then_told_as_cut() -> None:
    script = (init("Count", "countries"), COUNT, ANSWER)
    case = Case(counting())
    end = case.ask("How many?", *script, cut("There are 17, and the"), wrote("There are 17."))
    assert end.answer == "There are 17."
    assert case.of(Notice) == []
    case = Case(counting())
    end = case.ask("How many?", *script, cut("There are 17, and"), cut("There are 17, of wh"))
    assert end.answer == "There are 17, of wh"
    assert [one.text for one in case.of(Notice)] == ["The answer was cut at 512 tokens."]
