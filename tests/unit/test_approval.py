# SPDX-License-Identifier: GPL-2.0-or-later
"""What is asked before it is done, in each mode, and for how long a word holds; no QGIS."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from geo_olm.plugin.agent.event import ApprovalAsked, ApprovalGiven, Deed, Reach
from geo_olm.plugin.approval import Approver, AskingWord, Intent, NobodysWord
from geo_olm.plugin.lasting import TABLE, deed
from geo_olm.tools.base import RefusedError, ToolCancelled

SAVE = {"layer": "towns", "file": "towns.gpkg"}


def never() -> bool:
    return False


class Said:
    """A user who gives one word after the other, and what was asked."""

    def __init__(self, *words: bool, ever: bool = False) -> None:
        self.words, self.ever = list(words), ever
        self.asked: list[tuple[str, ...]] = []

    def on(self, deeds: tuple[Deed, ...], cancelled: Any) -> ApprovalGiven:
        self.asked.append(tuple(f"{one.tool} {one.target}" for one in deeds))
        return ApprovalGiven("", self.words.pop(0), self.ever)


def approver(word: Any, mode: str = "lasting") -> Approver:
    return Approver(lambda: mode, lambda tool, given: deed(tool, "", given), word)


def test_reading_and_temporary_layers_are_not_asked_about_by_default() -> None:
    user = Said()
    approving = approver(user)
    approving.check("count", {"layer": "towns"}, never)
    approving.check("buffer", {"layer": "towns", "distance": 5}, never)
    assert user.asked == []


def test_a_file_is_asked_about_and_written_only_when_allowed() -> None:
    user = Said(True, False)
    approving = approver(user)
    approving.check("save_layer", SAVE, never)
    with pytest.raises(RefusedError, match=r"other\.gpkg was not written"):
        approving.check("save_layer", {**SAVE, "file": "other.gpkg"}, never)
    assert user.asked == [("save_layer towns.gpkg",), ("save_layer other.gpkg",)]


def test_a_word_holds_for_the_very_same_call_alone() -> None:
    user = Said(True, True)
    approving = approver(user)
    approving.check("save_layer", SAVE, never)
    approving.check("save_layer", SAVE, never)
    approving.check("save_layer", {**SAVE, "layer": "secret"}, never)
    assert len(user.asked) == 2


def test_what_was_refused_is_not_asked_about_again_in_the_run() -> None:
    user = Said(False, True)
    approving = approver(user)
    for _ in range(3):
        with pytest.raises(RefusedError):
            approving.check("save_layer", SAVE, never)
    assert len(user.asked) == 1
    approving.begin()
    approving.check("save_layer", SAVE, never)


def test_allowed_for_the_tool_holds_until_the_chat_ends() -> None:
    user = Said(True, True, ever=True)
    approving = approver(user)
    approving.check("save_layer", SAVE, never)
    approving.begin()
    approving.check("save_layer", {**SAVE, "file": "b.csv"}, never)
    approving.new_chat()
    approving.check("save_layer", SAVE, never)
    assert len(user.asked) == 2


def test_each_change_is_asked_about_in_the_first_mode_and_nothing_in_the_last() -> None:
    user = Said(True, True)
    careful = approver(user, "each")
    careful.check("count", {"layer": "towns"}, never)
    careful.check("buffer", {"layer": "towns", "distance": 5}, never)
    careful.check("save_layer", SAVE, never)
    assert [one[0] for one in user.asked] == ["buffer towns", "save_layer towns.gpkg"]
    approver(Said(), "free").check("save_layer", SAVE, never)


def test_the_lasting_steps_of_a_plan_are_asked_about_once() -> None:
    user = Said(True, True)
    approving = approver(user)
    meant = [
        Intent("buffer", {"distance": 5}, open=True),
        Intent("save_layer", {"file": "near.gpkg"}, open=True),
        Intent("style_graduated", {"layer": "towns", "field": "pop"}),
    ]
    approving.announce(meant, never)
    assert user.asked == [("save_layer near.gpkg", "style_graduated towns")]
    approving.check("style_graduated", {"layer": "towns", "field": "pop"}, never)
    approving.check("save_layer", {"layer": "r1", "file": "near.gpkg"}, never)
    assert len(user.asked) == 1
    approving.check("save_layer", {"layer": "r2", "file": "near.gpkg"}, never)
    assert len(user.asked) == 2, "a word on an open step holds for one call"


def test_a_refused_plan_refuses_its_lasting_steps_and_lets_the_others_run() -> None:
    user = Said(False)
    approving = approver(user)
    approving.announce([Intent("save_layer", {"file": "near.gpkg"}, open=True)], never)
    approving.check("buffer", {"layer": "towns", "distance": 5}, never)
    with pytest.raises(RefusedError):
        approving.check("save_layer", {"layer": "r1", "file": "near.gpkg"}, never)
    assert len(user.asked) == 1


def test_what_the_user_started_is_not_asked_about_but_what_differs_is() -> None:
    user = Said(False)
    approving = approver(user)
    approving.grant([Intent("save_layer", SAVE)])
    approving.check("save_layer", SAVE, never)
    with pytest.raises(RefusedError):
        approving.check("save_layer", {**SAVE, "fields": ["name"]}, never)


def test_a_stop_ends_the_wait_and_the_card() -> None:
    told: list[Any] = []
    over = threading.Event()
    word = AskingWord(told.append)
    approving = approver(word)
    threading.Timer(0.2, over.set).start()
    with pytest.raises(ToolCancelled):
        approving.check("save_layer", SAVE, over.is_set)
    assert [type(one) for one in told] == [ApprovalAsked, ApprovalGiven]
    assert not told[1].allowed


def test_a_word_for_a_card_that_is_gone_allows_nothing() -> None:
    told: list[Any] = []
    word = AskingWord(told.append)
    word.reply(ApprovalGiven("approval0", True, True))
    word.reply(ApprovalGiven("approval1", False))
    with pytest.raises(RefusedError):
        approver(word).check("save_layer", SAVE, never)


@pytest.mark.parametrize(("folder", "tool", "fine"), [
    (True, "save_layer", True), (False, "save_layer", False), (True, "add_detector", False),
    (False, "style_graduated", True), (False, "filter", True), (True, "unknown_tool", False),
])  # fmt: skip
def test_where_nobody_can_be_asked_files_go_only_where_the_user_said(
    folder: bool, tool: str, fine: bool
) -> None:
    approving = approver(NobodysWord(folder), "each")
    if fine:
        approving.check(tool, {"layer": "towns", "file": "a.gpkg"}, never)
        return
    with pytest.raises(RefusedError):
        approving.check(tool, {"layer": "towns", "file": "a.gpkg"}, never)


def test_a_chart_lasts_only_where_a_file_is_named() -> None:
    assert deed("observation_series", "", {"layer": "scenes"}).reach is Reach.MAKE
    assert deed("observation_series", "", {"chart": "a.png"}).reach is Reach.FILE


def test_a_tool_that_is_not_in_the_table_counts_as_one_that_edits() -> None:
    assert "drop_table" not in TABLE
    assert deed("drop_table", "", {"layer": "towns"}).reach.lasts
