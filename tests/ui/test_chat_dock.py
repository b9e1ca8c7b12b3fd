# SPDX-License-Identifier: GPL-2.0-or-later
"""The dock as a user drives it: typing, sending, stopping, reading what a run tells."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from qgis.PyQt.QtCore import QPoint, Qt
from qgis.PyQt.QtGui import QPalette
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QLabel, QWidget

from geo_olm.plugin.agent.event import (
    AnswerDelta,
    AnswerReset,
    CallFinished,
    CallProgress,
    CallStarted,
    LayerReference,
    ModelState,
    Notice,
    Reflected,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
    ToolResult,
)
from geo_olm.plugin.llm.base import Usage
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.plan_event import PlanDone, Planning
from geo_olm.plugin.workflow.value import Layer
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.model_view import ModelCondition, ModelView
from geo_olm.ui.stage_strip import StageState
from geo_olm.ui.state_shape import Shape
from geo_olm.ui.tool_card import ToolCard

STAGES = ("Init", "Load", "Filter", "Analyse", "Answer")
MADE = LayerReference("L9", "Large ones", "", "Polygon", "EPSG:4326", 33)
Child = Callable[[str], Any]


def start(dock: ChatDock, question: str = "How many?") -> None:
    dock.handle(RunStarted(question, "Test model", "embedded", STAGES, 12))


def call(dock: ChatDock, call_id: str, error: str = "", result: ToolResult | None = None) -> None:
    dock.handle(CallStarted(call_id, "count", "Count", "cycle_hire", {"layer": "cycle_hire"}, 1))
    dock.handle(
        CallFinished(call_id, "count", {"layer": "cycle_hire"}, not error, error, 0.2, result)
    )


def finish(dock: ChatDock, status: Status = Status.OK, answer: str = "There are **17**.") -> None:
    usage = Usage(2100, 800, 1300, 210)
    layers = (MADE,) if status is Status.OK else ()
    dock.handle(RunFinished(status, answer, layers=layers, usage=usage, seconds={"total": 38.2}))
    dock.set_running(False)


def texts(widget: QWidget) -> str:
    return "\n".join(each.text() for each in widget.findChildren(QLabel) if each.isVisible())


def test_typing_and_enter_asks_the_question_and_shows_it(dock: ChatDock, child: Child) -> None:
    asked = QSignalSpy(dock.asked)
    field = child("GeoOlmQuestion")
    QTest.keyClicks(field, "How many features?")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert [list(each) for each in asked] == [["How many features?"]]
    assert field.toPlainText() == ""
    assert "How many features?" in child("GeoOlmUserText").text()


def test_shift_and_enter_makes_a_new_line_and_asks_nothing(dock: ChatDock, child: Child) -> None:
    asked = QSignalSpy(dock.asked)
    field = child("GeoOlmQuestion")
    QTest.keyClicks(field, "one")
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(field, "two")
    assert field.toPlainText() == "one\ntwo"
    assert len(asked) == 0


def test_an_empty_question_is_not_sent(dock: ChatDock, child: Child) -> None:
    asked = QSignalSpy(dock.asked)
    QTest.keyClicks(child("GeoOlmQuestion"), "   ")
    QTest.keyClick(child("GeoOlmQuestion"), Qt.Key.Key_Return)
    assert not child("GeoOlmSend").isEnabled()
    assert len(asked) == 0


def test_up_in_an_empty_field_brings_back_the_last_question(dock: ChatDock, child: Child) -> None:
    field = child("GeoOlmQuestion")
    for text in ("first", "second"):
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        finish(dock)
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.toPlainText() == "second"
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.toPlainText() == "first"
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert field.toPlainText() == "second"


def test_stop_takes_the_place_of_send_while_a_run_goes_on(dock: ChatDock, child: Child) -> None:
    stopped = QSignalSpy(dock.stopped)
    assert not dock.findChild(QWidget, "GeoOlmStop").isVisible()
    start(dock)
    assert not dock.findChild(QWidget, "GeoOlmSend").isVisible()
    QTest.mouseClick(child("GeoOlmStop"), Qt.MouseButton.LeftButton)
    assert len(stopped) == 1
    finish(dock, Status.CANCELLED)
    assert child("GeoOlmSend").isVisible()
    assert not dock.findChild(QWidget, "GeoOlmStop").isVisible()


def test_control_and_period_stops_the_run_from_the_field(dock: ChatDock, child: Child) -> None:
    stopped = QSignalSpy(dock.stopped)
    start(dock)
    field, control = child("GeoOlmQuestion"), Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(field, Qt.Key.Key_Period, control)
    assert len(stopped) == 1
    assert field.toPlainText() == ""


def test_a_question_typed_in_a_run_waits_and_is_asked_after_it(
    dock: ChatDock, child: Child
) -> None:
    asked = QSignalSpy(dock.asked)
    start(dock)
    QTest.keyClicks(child("GeoOlmQuestion"), "And in Asia?")
    QTest.keyClick(child("GeoOlmQuestion"), Qt.Key.Key_Return)
    assert len(asked) == 0
    assert child("GeoOlmStatusQueue").text() == "Your next question waits: And in Asia?"
    finish(dock)
    QTest.qWait(50)
    assert [list(each) for each in asked] == [["And in Asia?"]]
    assert not dock.findChild(QWidget, "GeoOlmStatusQueue").isVisible()


def test_stopping_puts_the_waiting_question_back_into_the_field(
    dock: ChatDock, child: Child
) -> None:
    asked = QSignalSpy(dock.asked)
    start(dock)
    QTest.keyClicks(child("GeoOlmQuestion"), "And in Asia?")
    QTest.keyClick(child("GeoOlmQuestion"), Qt.Key.Key_Return)
    QTest.mouseClick(child("GeoOlmStop"), Qt.MouseButton.LeftButton)
    finish(dock, Status.CANCELLED)
    QTest.qWait(50)
    assert len(asked) == 0
    assert child("GeoOlmQuestion").toPlainText() == "And in Asia?"


def test_events_move_the_stages_and_the_strip_says_where(dock: ChatDock, child: Child) -> None:
    start(dock)
    for stage in ("Init", "Filter"):
        dock.handle(StageChanged(stage))
    strip = child("GeoOlmStages")
    assert strip.accessibleName() == "Stage 3 of 5: Filter"
    states = dict(strip.states)
    assert states["Init"] is StageState.DONE
    assert states["Load"] is StageState.PASSED
    assert states["Answer"] is StageState.NEXT
    dock.handle(StageChanged("Error"))
    assert dict(strip.states)["Filter"] is StageState.FAILED
    dock.handle(StageChanged("Filter"))
    assert dict(strip.states)["Filter"] is StageState.PRESENT


def test_a_card_runs_then_folds_with_result_and_seconds(dock: ChatDock, child: Child) -> None:
    start(dock)
    dock.handle(StageChanged("Load"))
    dock.handle(CallStarted("c1", "count", "Count", "cycle_hire", {"layer": "cycle_hire"}, 3))
    card = child("GeoOlmToolCard")
    assert card.shape is Shape.RUNNING
    assert child("GeoOlmStageHeading").text() == "LOAD"
    assert "Step 3 of at most 12" in child("GeoOlmStatusProgress").text()
    dock.handle(CallProgress("c1", 40))
    dock.handle(CallProgress("c1", 20))
    assert child("GeoOlmToolCardBar").value() == 40
    result = ToolResult("742 points", numbers={"count": 742}, units={"count": "points"})
    dock.handle(CallFinished("c1", "count", {"layer": "cycle_hire"}, True, "", 0.2, result))
    assert card.shape is Shape.DONE
    assert not card.opened
    assert card.header.note.text().replace("\u00a0", " ") == "742 points · 0.2 s"


def test_a_narrow_card_drops_the_seconds_before_it_cuts_the_title(
    dock: ChatDock, child: Child
) -> None:
    start(dock)
    dock.handle(CallStarted("c1", "count", "Layer information", "", {}, 1))
    result = ToolResult("742 points", numbers={"count": 742}, units={"count": "points"})
    dock.handle(CallFinished("c1", "count", {}, True, "", 0.2, result))
    header = child("GeoOlmToolCardHeader")
    header.setFixedWidth(40 * header.em)
    assert header.note.text().replace("\u00a0", " ") == "742 points · 0.2 s"
    header.setFixedWidth(20 * header.em)
    QTest.qWait(5)
    assert header.note.text().replace("\u00a0", " ") == "742 points"


def test_a_failed_call_stays_open_and_says_how_it_was_mended(dock: ChatDock, child: Child) -> None:
    start(dock)
    call(dock, "c1", error="The layer has no field pop.")
    card = child("GeoOlmToolCard")
    assert card.shape is Shape.FAILED
    assert child("GeoOlmToolCardText").text() == "The layer has no field pop."
    assert card.accessibleName() == "Count, cycle_hire, failed: The layer has no field pop."
    dock.handle(Reflected("c1", '{"layer": "cycle_hire", "field": "pop_est"}'))
    line = child("GeoOlmToolCardReflection").text()
    assert line == "Mended: Field: pop_est, then tried again."
    call(dock, "c2")
    finish(dock)
    assert "2 steps" in texts(child("GeoOlmStepsHeader"))
    assert "1 mended" in texts(child("GeoOlmStepsHeader"))
    assert "0:38" in texts(child("GeoOlmStepsHeader"))
    assert not any(each.isVisible() for each in dock.findChildren(ToolCard))


def test_a_call_for_which_no_correction_was_found_is_not_called_mended(
    dock: ChatDock, child: Child
) -> None:
    start(dock)
    call(dock, "c1", error="It failed.")
    dock.handle(Reflected("c1", "No correction was found."))
    assert child("GeoOlmToolCardReflection").text() == "No correction was found."
    finish(dock, Status.FAILED, "It failed.")
    assert "1 failed" in texts(child("GeoOlmStepsHeader"))


def test_a_waiting_question_is_not_asked_before_the_run_is_really_over(
    dock: ChatDock, child: Child
) -> None:
    asked = QSignalSpy(dock.asked)
    start(dock)
    dock.handle(RunFinished(Status.OK, "Done."))
    QTest.keyClicks(child("GeoOlmQuestion"), "Next?")
    QTest.keyClick(child("GeoOlmQuestion"), Qt.Key.Key_Return)
    QTest.qWait(30)
    assert len(asked) == 0
    dock.set_running(False)
    QTest.qWait(30)
    assert [list(each) for each in asked] == [["Next?"]]


def test_a_run_that_could_not_start_leaves_the_dock_ready(dock: ChatDock, child: Child) -> None:
    dock.ask("How many?")
    assert child("GeoOlmStop").isVisible()
    dock.set_running(False)
    assert child("GeoOlmSend").isVisible()
    assert child("GeoOlmStatusText").text() == "Ready"


def test_the_end_is_no_stage_to_wait_for(dock: ChatDock) -> None:
    dock.handle(RunStarted("Q", "m", "s", ("Init", "Map", "Answer", "End"), 12))
    for stage in ("Init", "Answer", "End"):
        dock.handle(StageChanged(stage))
    finish(dock)
    states = dock.header.stages.states
    assert states == (
        ("Init", StageState.DONE),
        ("Map", StageState.PASSED),
        ("Answer", StageState.DONE),
    )


def test_the_folded_steps_open_by_keyboard(dock: ChatDock, child: Child) -> None:
    start(dock)
    call(dock, "c1")
    finish(dock)
    QTest.keyClick(child("GeoOlmStepsHeader"), Qt.Key.Key_Right)
    card = child("GeoOlmToolCardHeader")
    QTest.keyClick(card, Qt.Key.Key_Space)
    assert child("GeoOlmArgument_layer").text() == "cycle_hire"
    QTest.keyClick(child("GeoOlmStepsHeader"), Qt.Key.Key_Left)
    assert not any(each.isVisible() for each in dock.findChildren(ToolCard))


def test_what_the_user_opened_stays_open_when_the_turn_ends(dock: ChatDock, child: Child) -> None:
    start(dock)
    call(dock, "c1")
    QTest.mouseClick(child("GeoOlmToolCardHeader"), Qt.MouseButton.LeftButton)
    finish(dock)
    assert child("GeoOlmToolCard").opened


def test_an_algorithm_can_be_opened_in_processing_with_its_parameters(
    dock: ChatDock, child: Child
) -> None:
    opened = QSignalSpy(dock.open_in_processing)
    start(dock)
    parameters = {"INPUT": "L1", "DISTANCE": 500}
    call(dock, "c1", result=ToolResult("ok", algorithm="native:buffer", parameters=parameters))
    QTest.mouseClick(child("GeoOlmToolCardHeader"), Qt.MouseButton.LeftButton)
    QTest.mouseClick(child("GeoOlmOpenInProcessing"), Qt.MouseButton.LeftButton)
    assert [list(each) for each in opened] == [["native:buffer", parameters]]


def test_a_streamed_answer_grows_is_withdrawn_and_ends_as_the_final_one(
    dock: ChatDock, child: Child
) -> None:
    start(dock)
    dock.handle(AnswerDelta("There are "))
    dock.handle(AnswerDelta("**sixteen**."))
    QTest.qWait(150)
    assert child("GeoOlmAnswer").toPlainText().rstrip("\u258c") == "There are sixteen."
    dock.handle(AnswerReset())
    QTest.qWait(20)
    assert not dock.findChildren(QWidget, "GeoOlmAnswer")
    finish(dock)
    assert child("GeoOlmAnswer").toPlainText() == "There are 17."
    assert "2,310 tokens" in child("GeoOlmTokens").text()


def test_model_states_appear_in_the_chip_and_end_with_the_run(dock: ChatDock, child: Child) -> None:
    chip = child("GeoOlmModelChip")
    start(dock)
    dock.handle(ModelState("loading", 12.4))
    assert chip.word.replace("\u00a0", " ") == "Loading, 12 s"
    dock.handle(ModelState("reading"))
    assert chip.accessibleName() == "Model: Test model, Reading"
    dock.handle(CallStarted("c1", "count", "Count", "", {}, 1))
    assert chip.word == "Working"
    finish(dock)
    assert chip.word == "Ready"


def test_the_gauge_is_hidden_until_tokens_are_known_and_warns_when_it_fills(
    dock: ChatDock, child: Child
) -> None:
    assert not dock.header.gauge.isVisible()
    start(dock)
    dock.handle(TokensUsed(Usage(3000, 0, 3000, 277), 8192, 1.0))
    assert child("GeoOlmGauge").percent == 40
    assert child("GeoOlmGauge").tone.name == "RUNNING"
    dock.handle(TokensUsed(Usage(7600, 0, 7600, 0), 8192, 1.0))
    assert child("GeoOlmGauge").tone.name == "FAILED"


def test_a_rejected_question_is_told_calmly(dock: ChatDock, child: Child) -> None:
    start(dock)
    finish(dock, Status.REJECTED, "No layer holds weather forecasts.")
    card = child("GeoOlmMessage")
    assert card.shape.shape is Shape.IDLE
    assert child("GeoOlmMessageText").text() == "No layer holds weather forecasts."


def test_a_failed_run_says_why_and_asks_the_same_question_again(
    dock: ChatDock, child: Child
) -> None:
    asked, options = QSignalSpy(dock.asked), QSignalSpy(dock.options_requested)
    start(dock, "How many roads?")
    finish(dock, Status.FAILED, "Ollama does not answer at 127.0.0.1:11434.")
    assert child("GeoOlmMessage").shape.shape is Shape.FAILED
    QTest.mouseClick(child("GeoOlmMessage_options"), Qt.MouseButton.LeftButton)
    QTest.mouseClick(child("GeoOlmMessage_ask_again"), Qt.MouseButton.LeftButton)
    assert len(options) == 1
    assert [list(each) for each in asked] == [["How many roads?"]]


def test_a_call_that_the_user_stopped_is_not_shown_as_failed(dock: ChatDock, child: Child) -> None:
    start(dock)
    dock.handle(CallStarted("c1", "run_algorithm", "Run", "cycle_hire", {}, 1))
    dock.handle(CallFinished("c1", "run_algorithm", {}, False, "Stopped.", 0.2, stopped=True))
    finish(dock, Status.CANCELLED, "Stopped.")
    assert [card.shape for card in dock.findChildren(ToolCard)] == [Shape.STOPPED]
    assert "failed" not in texts(dock)


def test_a_stopped_run_keeps_the_part_of_the_answer_that_had_come(
    dock: ChatDock, child: Child
) -> None:
    start(dock)
    dock.handle(CallStarted("c1", "count", "Count", "", {}, 1))
    dock.handle(AnswerDelta("The first part"))
    finish(dock, Status.CANCELLED, "")
    assert child("GeoOlmAnswer").toPlainText() == "The first part"
    assert child("GeoOlmMessageText").text() == "Stopped after 38 s."
    assert dock.findChildren(ToolCard)[0].shape is Shape.STOPPED


def test_a_layer_chip_selects_zooms_and_is_struck_when_removed(
    dock: ChatDock, child: Child
) -> None:
    selected, zoomed = QSignalSpy(dock.layer_activated), QSignalSpy(dock.layer_zoom_requested)
    start(dock)
    finish(dock)
    chip = child("GeoOlmResultChip")
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(chip, Qt.MouseButton.LeftButton)
    assert list(selected[0]) == ["L9"]
    assert [list(each) for each in zoomed] == [["L9"]]
    dock.mark_layer_removed("L9")
    assert not chip.isEnabled()
    assert chip.accessibleName() == "Large ones, removed"


def test_files_that_were_written_are_listed_by_name(dock: ChatDock, child: Child) -> None:
    start(dock)
    dock.handle(RunFinished(Status.OK, "Done.", files=("/tmp/some folder/a & b.csv",)))
    assert child("GeoOlmResultFile").text() == "a && b.csv"
    assert "/tmp/some folder/a &amp; b.csv" in child("GeoOlmResultFile").toolTip()


def test_notes_of_a_result_stand_under_its_text(dock: ChatDock, child: Child) -> None:
    start(dock)
    call(dock, "c1", result=ToolResult("742 points. Old.", notes=("Old.", "3 were invalid.")))
    QTest.mouseClick(child("GeoOlmToolCardHeader"), Qt.MouseButton.LeftButton)
    assert child("GeoOlmToolCardText").text() == "742 points. Old.\n3 were invalid."


def test_a_chosen_example_comes_back_by_up_too(dock: ChatDock, child: Child) -> None:
    dock.ask("An example?")
    dock.set_running(False)
    QTest.keyClick(child("GeoOlmQuestion"), Qt.Key.Key_Up)
    assert child("GeoOlmQuestion").toPlainText() == "An example?"


def test_the_menu_of_a_chip_offers_table_and_removal(dock: ChatDock, child: Child) -> None:
    tables, removals = (
        QSignalSpy(dock.layer_table_requested),
        QSignalSpy(dock.layer_removal_requested),
    )
    start(dock)
    finish(dock)
    menu = child("GeoOlmResultChip").menu()
    actions = {each.objectName(): each for each in menu.actions()}
    actions["GeoOlm_layer_table_requested"].trigger()
    actions["GeoOlm_layer_removal_requested"].trigger()
    assert [list(each) for each in tables] == [["L9"]]
    assert [list(each) for each in removals] == [["L9"]]


def test_undo_is_offered_for_the_last_turn_only(dock: ChatDock, child: Child) -> None:
    undone = QSignalSpy(dock.undo_requested)
    for question in ("one", "two"):
        start(dock, question)
        finish(dock)
        dock.set_undoable(True)
    visible = [each for each in dock.findChildren(QWidget, "GeoOlmUndo") if not each.isHidden()]
    assert len(visible) == 1
    QTest.mouseClick(visible[0], Qt.MouseButton.LeftButton)
    assert len(undone) == 1


def test_what_a_stopped_or_failed_run_made_can_be_undone_once(dock: ChatDock, child: Child) -> None:
    for status in (Status.CANCELLED, Status.FAILED):
        start(dock, status.value)
        finish(dock, status)
        assert not dock.findChildren(QWidget, "GeoOlmUndo")[-1].isVisible()
        dock.set_undoable(True)
        assert child("GeoOlmUndo").isVisible()
        dock.set_undoable(False)
        assert not dock.findChildren(QWidget, "GeoOlmUndo")[-1].isVisible()


def test_how_a_run_ended_stays_when_the_model_is_looked_for_again(
    dock: ChatDock, child: Child
) -> None:
    ready = ModelView(ModelCondition.READY, "Test model", "Built-in")
    start(dock)
    finish(dock, Status.FAILED)
    dock.set_model(ready)
    assert child("GeoOlmStatusText").text() == "Failed"
    dock.set_model(ModelView(ModelCondition.UNREACHABLE, "Test model", error="It is gone."))
    assert child("GeoOlmStatusText").text() == "Not reachable"
    dock.set_model(ready)
    assert child("GeoOlmStatusText").text() == "Ready"


def test_a_layer_link_in_the_answer_goes_to_the_layer(dock: ChatDock, child: Child) -> None:
    zoomed = QSignalSpy(dock.layer_zoom_requested)
    start(dock)
    finish(dock, answer="[Large ones](layer:L9) are many.")
    view = child("GeoOlmAnswer")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(15, 8))
    assert [list(each) for each in zoomed] == [["L9"]]


def test_a_web_link_asks_before_it_opens(dock: ChatDock, child: Child) -> None:
    start(dock)
    finish(dock, answer="[source](https://example.org/page)")
    QTest.mouseClick(child("GeoOlmAnswer").viewport(), Qt.MouseButton.LeftButton, pos=QPoint(10, 8))
    menu = child("GeoOlmLinkMenu")
    assert menu.actions()[0].text() == "Open example.org in the browser"
    menu.close()


def test_notices_stand_beside_the_answer(dock: ChatDock, child: Child) -> None:
    start(dock)
    dock.handle(Notice("Older turns were summarised.", warning=True))
    assert child("GeoOlmMessage").shape.shape is Shape.WARNING
    assert child("GeoOlmMessageText").text() == "Older turns were summarised."


def test_quotes_markup_and_line_breaks_are_shown_literally_everywhere(
    dock: ChatDock, child: Child
) -> None:
    nasty = 'a "b" <b>c</b> & <img src=x>;\nnext'
    dock.handle(RunStarted(nasty, "m", "s", STAGES, 12))
    dock.handle(CallStarted("c1", "count", nasty, nasty, {"layer": nasty}, 1))
    dock.handle(CallFinished("c1", "count", {"layer": nasty}, True, "", 0.1, ToolResult(nasty)))
    QTest.mouseClick(child("GeoOlmToolCardHeader"), Qt.MouseButton.LeftButton)
    for name in ("GeoOlmArgument_layer", "GeoOlmToolCardText"):
        assert child(name).text() == nasty
        assert child(name).textFormat() == Qt.TextFormat.PlainText
    bubble = child("GeoOlmUserText").text()
    assert "&lt;b&gt;c&lt;/b&gt; &amp; &lt;img src=x&gt;;<br>next" in bubble
    layer = LayerReference("L9", "<b>x</b> & y", "", "Polygon", "EPSG:4326", 1)
    dock.handle(RunFinished(Status.OK, "Seen <b>bold</b> <img src=x> & more.", layers=(layer,)))
    assert child("GeoOlmAnswer").toPlainText() == "Seen <b>bold</b> <img src=x> & more."
    assert "&lt;b&gt;x&lt;/b&gt; &amp; y" in child("GeoOlmResultChip").toolTip()


def test_a_mention_is_set_apart_in_the_bubble(dock: ChatDock, child: Child) -> None:
    start(dock, "How large is @cycle_hire or @nothing?")
    text = child("GeoOlmUserText").text()
    assert ">@cycle_hire</b>" in text
    assert ">@nothing" not in text


def test_the_transcript_follows_at_the_end_and_else_offers_new_below(
    dock: ChatDock, child: Child
) -> None:
    long = "\n\n".join(f"Paragraph {number}" for number in range(60))
    start(dock)
    finish(dock, answer=long)
    QTest.qWait(80)
    bar = child("GeoOlmTranscript").verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    bar.setValue(0)
    QTest.qWait(30)
    dock.handle(Notice("One more line."))
    QTest.qWait(80)
    assert bar.value() == 0
    QTest.mouseClick(child("GeoOlmNewBelow"), Qt.MouseButton.LeftButton)
    assert bar.value() == bar.maximum()
    assert not dock.findChild(QWidget, "GeoOlmNewBelow").isVisible()


def test_a_thousand_messages_stay_fast_and_only_those_near_the_view_have_widgets(
    dock: ChatDock, child: Child
) -> None:
    for number in range(500):
        start(dock, f"Question {number}")
        call(dock, "c1")
        finish(dock, answer=f"Answer {number}")
        if number % 20 == 0:
            QTest.qWait(1)
    QTest.qWait(200)
    awake = [turn for turn in dock.transcript.turns if turn.content is not None]
    assert len(awake) < 30
    began = perf_counter()
    start(dock, "The last one")
    finish(dock, answer="The last answer")
    QTest.qWait(1)
    assert perf_counter() - began < 0.5
    bar = child("GeoOlmTranscript").verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    QTest.qWait(80)
    view = dock.transcript.viewport().rect()
    shown = [turn for turn in dock.transcript.turns if turn.visibleRegion().intersects(view)]
    assert shown
    assert all(turn.content is not None for turn in shown)
    assert shown[0].content.answer.toPlainText().startswith("Answer ")


def test_a_turn_that_slept_wakes_with_all_that_it_showed(dock: ChatDock) -> None:
    start(dock, "How many?")
    call(dock, "c1", error="No such field.")
    dock.handle(Reflected("c1", '{"field": "pop_est"}'))
    dock.handle(AnswerDelta("There"))
    finish(dock)
    turn = dock.transcript.turns[0]
    height = turn.height()
    turn.sleep()
    assert turn.content is None
    assert turn.minimumHeight() == height
    dock.mark_layer_removed("L9")
    turn.wake()
    assert turn.content is not None
    assert turn.content.answer.toPlainText() == "There are 17."
    assert turn.content.steps.cards["c1"].mended
    assert not turn.findChild(QWidget, "GeoOlmResultChip").isEnabled()


def test_a_question_is_shown_once_when_the_dock_and_the_run_both_tell_it(dock: ChatDock) -> None:
    dock.add_user_turn("How many?")
    start(dock, "How many?")
    assert len(dock.transcript.turns) == 1
    finish(dock)
    start(dock, "How many?")
    assert len(dock.transcript.turns) == 2


def test_clear_empties_the_conversation_and_shows_the_questions_again(
    dock: ChatDock, child: Child
) -> None:
    start(dock)
    dock.handle(StageChanged("Load"))
    finish(dock)
    dock.clear()
    assert dock.transcript.turns == []
    assert child("GeoOlmEmptyTitle").text() == "Ask your layers"
    assert {state for _, state in dock.header.stages.states} == {StageState.NEXT}


def test_an_unreachable_server_is_told_with_two_ways_on(dock: ChatDock, child: Child) -> None:
    retried = QSignalSpy(dock.retry_requested)
    sentence = "Ollama does not answer at 127.0.0.1:11434. Start it, or choose another model."
    dock.set_model(ModelView(ModelCondition.UNREACHABLE, "qwen3", "Ollama", error=sentence))
    assert child("GeoOlmMessageText").text() == sentence
    QTest.mouseClick(child("GeoOlmMessage_look_again"), Qt.MouseButton.LeftButton)
    assert len(retried) == 1
    dock.set_model(ModelView(ModelCondition.READY, "qwen3", "Ollama"))
    assert not [each for each in dock.findChildren(QWidget, "GeoOlmMessage") if each.isVisible()]


def test_the_model_menu_lists_what_was_found(dock: ChatDock, child: Child) -> None:
    chosen = QSignalSpy(dock.model_chosen)
    menu = child("GeoOlmModelChip").menu()
    names = [each.text() for each in menu.actions() if each.isCheckable()]
    assert names == ["Test model", "Other"]
    menu.actions()[1].trigger()
    assert [list(each) for each in chosen] == [["Other"]]


def test_the_model_menu_leads_to_the_doctor(dock: ChatDock, child: Child) -> None:
    asked = QSignalSpy(dock.doctor_requested)
    actions = child("GeoOlmModelChip").menu().actions()
    next(each for each in actions if each.text() == "Model doctor…").trigger()
    assert len(asked) == 1


def test_colours_follow_the_palette_at_run_time(
    dock: ChatDock, child: Child, light: QPalette, dark: QPalette
) -> None:
    start(dock)
    call(dock, "c1", error="It failed.")
    dock.setPalette(light)
    dock.setPalette(dark)
    QTest.qWait(20)
    note = dock.findChildren(ToolCard)[0].header.note
    assert note.palette().color(QPalette.ColorRole.WindowText).lightness() > 128
    picture = child("GeoOlmToolCard").grab().toImage()
    assert picture.pixelColor(picture.width() // 2, picture.height() - 4).lightness() < 128


def test_every_widget_a_user_reaches_has_a_name_for_tests_and_for_readers(dock: ChatDock) -> None:
    start(dock)
    call(dock, "c1", error="It failed.")
    finish(dock)
    dock.set_model(ModelView(ModelCondition.UNREACHABLE, "m", error="Down."))
    reached = [
        each
        for each in dock.widget().findChildren(QWidget)
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus and not each.objectName().startswith("qt_")
    ]
    assert len(reached) > 8
    nameless = [
        (type(each).__name__, each.objectName())
        for each in reached
        if not each.objectName() or not each.accessibleName()
    ]
    assert nameless == []


def test_the_dock_can_be_22_em_wide_at_125_percent(dock: ChatDock, child: Child) -> None:
    font = dock.font()
    font.setPixelSize(16)
    dock.setFont(font)
    start(dock, "A long question about " + "averyveryverylongname" * 6)
    call(dock, "c1", error="A" * 200)
    dock.handle(TokensUsed(Usage(3000, 0, 3000, 277), 8192, 1.0))
    finish(dock)
    dock.set_model(
        ModelView(ModelCondition.UNREACHABLE, "a-long-model-name.gguf", error="It is down.")
    )
    QTest.qWait(30)
    dock.resize(10, 700)
    narrow = 22 * 16
    for _ in range(40):  # the window manager takes its time on a busy machine
        QTest.qWait(50)
        if dock.widget().width() == narrow:
            break
    assert dock.widget().width() == narrow
    view = dock.transcript.viewport().width()
    assert dock.transcript.widget().width() == view
    for each in dock.transcript.widget().findChildren(QWidget):
        if each.isVisible():
            right = each.mapTo(dock.transcript.viewport(), each.rect().topRight()).x()
            assert right < view, each.objectName()


def test_an_answer_by_a_plan_can_be_saved_as_a_workflow(dock: ChatDock, child: Child) -> None:
    graph = Graph("How many?", (Vertex("v1", "table", "", "count", {"layer": Layer("towns")}),))
    kept = QSignalSpy(dock.workflow_keep_requested)
    start(dock)
    dock.handle(Planning("planning"))
    assert "Planning the steps" in child("GeoOlmStatusText").text()
    dock.handle(PlanDone(graph))
    finish(dock)
    QTest.mouseClick(child("GeoOlmSaveWorkflow"), Qt.MouseButton.LeftButton)
    assert [one[0] for one in kept] == [graph]


def test_an_answer_without_a_plan_is_no_workflow(dock: ChatDock) -> None:
    start(dock)
    finish(dock)
    assert dock.findChild(QWidget, "GeoOlmSaveWorkflow") is None
