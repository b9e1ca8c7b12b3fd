# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine with failed, unknown and repeated calls, with a stop, and with many turns."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from agent_case import Case
from plain_toolbox import PlainToolbox, made
from scripted_speaker import SILENT_S, Calls, Mumbles, Waits, call, init, wrote

from geo_olm.plugin.agent.chat import Chat
from geo_olm.plugin.agent.closing import Close, Closing, without_new_names
from geo_olm.plugin.agent.event import (
    AnswerDelta,
    AnswerReset,
    CallFinished,
    CallStarted,
    Event,
    ModelState,
    Notice,
    Reflected,
    RunFinished,
    StageChanged,
    Status,
)
from geo_olm.plugin.agent.limit import Limits
from geo_olm.plugin.agent.message import Role, ToolCall
from geo_olm.plugin.agent.prompt import Prompts
from geo_olm.plugin.agent.talk import Talk
from geo_olm.tools.base import MendableError, ToolCancelled, ToolResult, UnanswerableError

START = init("Count", "countries")
WRONG = call("Analyse", "count", layer="country")
RIGHT = call("", "count", layer="countries")
ANSWER = call("Answer", "answer", value="r1.count")
NO_LAYER = 'There is no layer "country". Did you mean countries?'


def picky(*_errors: str) -> PlainToolbox:
    """Return a toolbox that only counts the layer countries."""

    def count(arguments: dict[str, object]) -> ToolResult:
        if arguments["layer"] != "countries":
            raise MendableError(NO_LAYER)
        return made("17 features.", count=17.0)

    return PlainToolbox({"count": [count]})


# -- the Error state


def test_a_mendable_error_goes_through_the_error_state_and_comes_back() -> None:
    case = Case(picky())
    end = case.ask("How many?", START, WRONG, RIGHT, ANSWER, wrote("17."))
    assert end.status is Status.OK
    assert case.stages() == ["Init", "Load", "Analyse", "Error", "Analyse", "Answer", "End"]
    assert [event.ok for event in case.of(CallFinished)] == [True, False, True, True]
    assert [event.text for event in case.of(Reflected)] == ['{"layer": "countries"}']


def test_the_reflection_holds_call_error_and_definition_but_not_the_chat() -> None:
    case = Case(picky())
    case.ask("How many?", START, WRONG, RIGHT, ANSWER, wrote("17."))
    reflection = case.choices()[2]
    assert [message.role for message in reflection.messages] == [Role.SYSTEM, Role.USER]
    text = reflection.messages[1].content
    assert '{"tool": "count", "arguments": {"layer": "country"}}' in text
    assert NO_LAYER in text
    assert "count(layer, where?): Does count." in text
    assert "2 fields." not in text  # the result of layer_info stands in the chat alone
    assert reflection.tools == ["count"]


def test_the_chat_goes_on_with_the_result_and_without_the_reflection() -> None:
    case = Case(picky())
    case.ask("How many?", START, WRONG, RIGHT, ANSWER, wrote("17."))
    contents = [message.content for message in case.chat.messages]
    assert any("r1: 17 features." in text for text in contents)
    assert not any("SELF-REFLECT" in text for text in contents)


def test_a_correction_that_changes_nothing_is_not_run_again() -> None:
    case = Case(picky())
    same = Calls((ToolCall("zzzzzzzzz", "count", {"layer": "country"}),))
    good = call("Analyse", "count", layer="countries")
    end = case.ask("How many?", START, WRONG, same, good, ANSWER, wrote("17."))
    assert end.status is Status.OK
    assert len(case.toolbox.calls("count")) == 2
    assert any(f"Error: {NO_LAYER}" in m.content for m in case.chat.messages)


def test_corrections_of_one_call_are_capped() -> None:
    case = Case(picky(), limits=Limits(retries=2))
    bad = [call("", "count", layer=name) for name in ("land", "lands")]
    good = call("Analyse", "count", layer="countries")
    end = case.ask("How many?", START, WRONG, *bad, good, ANSWER, wrote("17."))
    assert end.status is Status.OK
    assert case.stages().count("Error") == 2


def test_errors_of_a_run_are_capped_and_the_last_one_is_the_reason() -> None:
    case = Case(picky(), limits=Limits(errors=2, retries=2))
    end = case.ask("How many?", START, WRONG, call("", "count", layer="land"))
    assert end.status is Status.FAILED
    assert end.answer == NO_LAYER
    assert len(case.toolbox.calls("count")) == 2


def test_a_layer_that_cannot_be_looked_at_does_not_end_the_run() -> None:
    toolbox = picky()
    toolbox.outcomes["layer_info"] = [MendableError('"countries" fits several layers.')]
    case = Case(toolbox)
    end = case.ask("How many?", START, call("Analyse", "count", layer="countries"), ANSWER,
                   wrote("17."))  # fmt: skip
    assert end.status is Status.OK
    assert any("fits several layers" in m.content for m in case.chat.messages)


# -- A19, A20, A21


def test_an_unknown_tool_is_told_with_the_closest_and_the_run_goes_on() -> None:
    case = Case(picky())
    unknown = call("Analyse", "native_buffer", unoffered=True, layer="countries")
    end = case.ask("How many?", START, unknown, RIGHT, ANSWER, wrote("17."))
    assert end.status is Status.OK
    reflection = case.choices()[2]
    assert 'There is no tool "native_buffer"' in reflection.messages[1].content
    assert len(reflection.tools) > 3


def test_three_unknown_tools_in_a_row_stop_the_run() -> None:
    case = Case(picky())
    unknown = [
        call("Analyse", name, unoffered=True)
        for name in ("native_buffer", "qgis.buffer", "run_python")
    ]
    end = case.ask("Buffer?", START, *unknown)
    assert end.status is Status.FAILED
    assert "tools that do not exist" in end.answer
    assert "run_python" in end.answer


def test_an_unknown_tool_and_then_silence_is_not_an_empty_answer() -> None:
    case = Case(picky())
    unknown = call("Map", "make_map_pretty", unoffered=True)
    end = case.ask("A pretty map?", START, unknown, Mumbles(""), Mumbles(""), Mumbles(""))
    assert end.status is Status.FAILED
    assert "make_map_pretty" in end.answer


def test_a_correction_that_names_the_answer_tool_ends_the_question() -> None:
    case = Case(picky())
    count = call("Analyse", "count", layer="countries")
    wrong = call("Answer", "final_answer", unoffered=True, value="r1.count")
    end = case.ask("How many?", START, count, wrong, ANSWER, wrote("There are 17."))
    assert (end.status, end.value) == (Status.OK, 17.0)


def test_the_second_equal_call_gives_the_kept_result_with_a_note() -> None:
    toolbox = PlainToolbox({"filter": [made("3 features.", layer="Asia", count=3.0)]})
    case = Case(toolbox)
    same = call("Filter", "filter", layer="countries")
    end = case.ask("Asia?", START, same, same, ANSWER, wrote("3."))
    assert end.status is Status.OK
    assert len(case.toolbox.calls("filter")) == 1
    assert len(end.layers) == 1
    results = [m.content for m in case.chat.messages if "r1: 3 features." in m.content]
    assert len(results) == 2
    assert "This call was made before" not in results[0]
    assert "This call was made before" in results[1]


def test_the_third_equal_call_stops_the_run_with_one_layer_made() -> None:
    toolbox = PlainToolbox({"filter": [made("3 features.", layer="Asia", count=3.0)]})
    case = Case(toolbox)
    same = call("Filter", "filter", layer="countries")
    end = case.ask("Asia?", START, same, same, same)
    assert end.status is Status.FAILED
    assert "the same call 3 times, so the run was stopped" in end.answer
    assert [layer.name for layer in end.layers] == ["Asia"]
    assert len(case.toolbox.calls("filter")) == 1


def test_equal_calls_of_two_questions_are_not_a_loop() -> None:
    case = Case(picky())
    count = call("Analyse", "count", layer="countries")
    for number in range(1, 5):
        answer = call("Answer", "answer", value=f"r{number}.count")
        end = case.ask("How many?", START, count, answer, wrote("17."))
        assert end.status is Status.OK


# -- a stop at every point


def at(kind: type, **wanted: object) -> Callable[[Event], bool]:
    """Return a picker of events of a kind with these values."""
    return lambda event: (
        isinstance(event, kind)
        and all(getattr(event, key) == value for key, value in wanted.items())
    )


@pytest.mark.parametrize(
    ("stop", "played"),
    [
        (at(StageChanged, stage="Init"), 0),
        (at(StageChanged, stage="Load"), 1),
        (at(StageChanged, stage="Analyse"), 2),
        (at(CallFinished, tool="count"), 2),
        (at(StageChanged, stage="Answer"), 3),
    ],
)
def test_a_stop_between_requests_asks_nothing_more(
    stop: Callable[[Event], bool], played: int
) -> None:
    case = Case(picky())
    script = [START, call("Analyse", "count", layer="countries"), ANSWER]
    end = case.ask("How many?", *script[:played], stop_at=stop)
    assert end.status is Status.CANCELLED
    assert end.answer == "Stopped. What was made so far is kept."
    assert case.of(RunFinished) == [end]


@pytest.mark.parametrize("place", range(4))
def test_a_stop_while_the_model_is_silent_ends_the_run(place: int) -> None:
    case = Case(picky())
    script = [START, call("Analyse", "count", layer="countries"), ANSWER]
    silent = at(ModelState, seconds=SILENT_S)
    end = case.ask("How many?", *script[:place], Waits(), stop_at=silent)
    assert end.status is Status.CANCELLED


def test_a_stop_during_a_tool_ends_the_run_and_keeps_what_was_made() -> None:
    toolbox = PlainToolbox(
        {"filter": [made("3.", layer="Asia", count=3.0)], "count": [ToolCancelled()]}
    )
    case = Case(toolbox)
    end = case.ask(
        "How many?",
        START,
        call("Filter", "filter", layer="countries"),
        call("Analyse", "count", layer="countries"),
    )
    assert end.status is Status.CANCELLED
    assert [layer.name for layer in end.layers] == ["Asia"]
    ended = [event for event in case.of(CallFinished) if not event.ok]
    assert [(event.error, event.stopped) for event in ended] == [("Stopped.", True)]


def test_after_a_stop_the_next_question_works() -> None:
    case = Case(picky())
    case.ask("First?", START, stop_at=at(StageChanged, stage="Load"))
    end = case.ask(
        "Second?", START, call("Analyse", "count", layer="countries"), ANSWER, wrote("17.")
    )
    assert end.status is Status.OK


# -- many turns


def test_a_second_question_sees_and_uses_the_results_of_the_first() -> None:
    toolbox = PlainToolbox({"count": [made("17 features.", count=17.0), made("4.", count=4.0)]})
    case = Case(toolbox)
    case.ask("How many?", START, call("Analyse", "count", layer="countries"), ANSWER, wrote("17."))
    before = tuple(case.chat.messages)
    end = case.ask("And once more?", init("Count", "countries"), ANSWER, wrote("Again 17."))
    assert case.asked[0].messages[: len(before)] == before
    choice = case.choices()[1].choice
    assert choice is not None
    assert "r1.count" in choice.results["number"]
    assert (end.status, end.value) == (Status.OK, 17.0)
    assert [turn.results for turn in case.chat.turns] == [("r1", "answer"), ("answer",)]


def small_after_one_turn() -> Case:
    """Return a chat of one turn whose context has become too small for a second one."""
    case = Case(PlainToolbox({"count": [made("17 features.", count=17.0)]}), context=100000)
    case.ask("How many?", START, call("Analyse", "count", layer="countries"), ANSWER, wrote("17."))
    case.context = 600
    return case


def test_a_full_context_is_summarised_and_the_user_is_told() -> None:
    case = small_after_one_turn()
    opening = case.asked[0].messages[:-1]
    end = case.ask(
        "And rivers?", wrote("- 17 countries were counted (r1)."), START, ANSWER, wrote("17.")
    )
    assert end.status is Status.OK
    assert ["summarised" in event.text for event in case.of(Notice)] == [True]
    assert tuple(case.chat.messages[: len(opening)]) == opening
    contents = [message.content for message in case.chat.messages[len(opening) :]]
    assert contents[0] == "Earlier in this chat:\n- 17 countries were counted (r1)."
    assert not any("How many?" in text for text in contents)


def test_after_a_summary_the_tools_are_described_anew() -> None:
    case = small_after_one_turn()
    case.ask("And rivers?", wrote("- 17 (r1)."), START, ANSWER, wrote("17."))
    contents = "\n".join(message.content for message in case.chat.messages)
    assert contents.count("count(layer, where?): Does count.") == 1


def test_a_first_question_is_never_summarised() -> None:
    case = Case(picky(), context=600)
    end = case.ask(
        "How many?", START, call("Analyse", "count", layer="countries"), ANSWER, wrote("17.")
    )
    assert end.status is Status.OK
    assert case.of(Notice) == []


def test_a_turn_that_fails_after_a_summary_leaves_summary_and_two_lines() -> None:
    case = small_after_one_turn()
    case.ask("And rivers?", wrote("- 17 (r1)."), START, Mumbles(), Mumbles())
    contents = [message.content for message in case.chat.messages]
    assert contents[-4:-1] == [
        "Earlier in this chat:\n- 17 (r1).",
        "Understood.",
        "Question: And rivers?",
    ]
    assert contents[-1].startswith("Not answered: The model answered without using a tool")


@pytest.mark.parametrize("error", [KeyError("x"), UnanswerableError("No layer has a CRS.")])
def test_a_turn_that_an_error_broke_off_leaves_no_call_without_a_result(error: Exception) -> None:
    toolbox = PlainToolbox({"count": [error, made("17 features.", count=17.0)]})
    case = Case(toolbox)
    native = Calls((ToolCall("aaaaaaaaa", "count", {"layer": "countries"}),), native=True)
    if isinstance(error, KeyError):
        with pytest.raises(KeyError):
            case.ask("How many?", START, native)
    else:
        end = case.ask("How many?", START, native)
        assert (end.status, end.reason) == (Status.REJECTED, "No layer has a CRS.")
    assert [one for message in case.chat.messages for one in message.calls] == []
    assert case.chat.messages[-2].content == "Question: How many?"
    count = call("Analyse", "count", layer="countries")
    assert case.ask("Again?", START, count, ANSWER, wrote("17.")).status is Status.OK


# -- the wording of the answer


def test_a_number_that_no_result_holds_is_asked_for_again() -> None:
    case = Case(picky())
    count = call("Analyse", "count", layer="countries")
    end = case.ask(
        "How many?", START, count, ANSWER, wrote("There are ", "195."), wrote("There are 17.")
    )
    assert end.answer == "There are 17."
    assert "195" in case.asked[-1].messages[-1].content
    streamed = case.events.index(next(e for e in case.events if e == AnswerDelta("195.")))
    assert any(isinstance(event, AnswerReset) for event in case.events[streamed:])


def test_a_number_of_the_models_own_never_reaches_the_answer() -> None:
    case = Case(picky())
    count = call("Analyse", "count", layer="countries")
    end = case.ask("How many?", START, count, ANSWER, wrote("195."), wrote("About 196."))
    assert (end.status, end.answer, end.value) == (Status.OK, "17", 17.0)
    last = max(place for place, e in enumerate(case.events) if isinstance(e, AnswerReset))
    assert [e.text for e in case.events[last:] if isinstance(e, AnswerDelta)] == ["17"]


def test_numbers_of_results_are_written_as_the_user_writes_them() -> None:
    toolbox = PlainToolbox({"count": [made("1234567.5 people.", count=1234567.5)]})
    case = Case(toolbox)
    count = call("Analyse", "count", layer="countries")
    end = case.ask("How many?", START, count, ANSWER, wrote("There are 1,234,567.5 people."))
    assert end.answer == "There are 1.234.567,5 people."


def test_every_step_has_a_number_and_a_layer_for_its_card() -> None:
    case = Case(picky())
    case.ask(
        "How many?",
        START,
        call("Analyse", "count", layer="countries"),
        ANSWER,
        wrote("17."),
    )
    told = [(event.step, event.label, event.layer) for event in case.of(CallStarted)]
    assert told == [(1, "Layer_Info", "countries"), (2, "Count", "countries"), (3, "Answer", "")]


def test_an_answer_from_the_results_alone_is_one_line_without_its_id() -> None:
    result = ToolResult('r2: layer "towns in Asia", 4 features.\nname: "Ely"', id="r2")
    closing = Closing(Prompts("", "", "", ""), Talk(None, lambda: False), Chat(), str, 100)
    assert closing.from_results(Close(), [result]) == 'layer "towns in Asia", 4 features.'
    assert closing.from_results(Close(value=4.5, unit="km"), [result]) == "4.5 km"


def test_a_sentence_with_names_that_no_result_gave_is_dropped() -> None:
    allowed = ["How many provinces have the admin Brazil?", "27 features of states_provinces"]
    said = "There are 27 provinces with the admin Brazil. They are named Greater London and Fiji."
    kept = "There are 27 provinces with the admin Brazil."
    assert without_new_names(said, allowed) == kept
    told = "There are 27 provinces. All of them lie in Brazil."
    assert without_new_names(told, allowed) == told
    lines = "Found:\n- Ely\n- Wells"
    assert without_new_names(lines, allowed) == lines
