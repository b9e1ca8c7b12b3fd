# SPDX-License-Identifier: GPL-2.0-or-later
"""What the dock and the options page are told of models, of waits, and of what can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import HOW_MANY, call, fill, init, settings_for, settle, wait_until
from fake_ollama import FakeOllama
from fake_openai import FakeOpenAI, said, stream
from qgis.core import QgsProject

from geo_olm.plugin.agent.event import Event, ModelState
from geo_olm.plugin.link import process_link
from geo_olm.plugin.scout import check, scout
from geo_olm.plugin.session import Session
from geo_olm.plugin.settings import Settings
from geo_olm.ui.model_view import ModelCondition

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")


def never() -> bool:
    return False


@pytest.fixture(autouse=True)
def nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep models and servers of this machine out of the tests."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    process_link.cache_clear()
    yield
    settle()
    process_link.cache_clear()


@pytest.fixture
def open_session() -> Iterator[Any]:
    """Open sessions over a small project, and close them after the test."""
    project, made = fill(QgsProject()), []

    def opened(settings: Settings) -> Session:
        made.append(Session(project, settings))
        return made[-1]

    yield opened
    for session in made:
        session.close()
    project.clear()


def ask(session: Session, question: str = "How many towns?") -> list[Event]:
    """Return the events of one question."""
    events: list[Event] = []
    session.told.connect(events.append)
    session.ask(question)
    wait_until(lambda: not session.busy)
    session.told.disconnect(events.append)
    return events


def test_all_models_of_an_ollama_can_be_chosen() -> None:
    with FakeOllama(models=("qwen3:latest", "gemma:2b")) as server:
        address = server.address
        view = scout(Settings(server="ollama", address=address, model="gemma:2b"), never)
        wrong = scout(Settings(server="ollama", address=address, model="none:1b"), never)
    assert (view.condition, view.name) == (ModelCondition.READY, "gemma:2b")
    assert view.models == ("qwen3:latest", "gemma:2b")
    assert wrong.condition is ModelCondition.UNREACHABLE
    assert wrong.models == ("qwen3:latest", "gemma:2b")


def test_a_check_lists_the_models_of_an_openai_server() -> None:
    with FakeOpenAI(models=("one", "two")) as server:
        found = check(settings_for(server), never)
    assert found.ready
    assert found.models == ("one", "two")
    assert found.text.startswith("one is ready. ")


def test_without_a_model_a_check_says_so_and_lists_none() -> None:
    found = check(Settings(), never)
    assert not found.ready
    assert found.models == ()
    assert found.text.startswith("No model was found.")


def test_a_wait_in_the_second_question_is_told_to_the_second_question(open_session: Any) -> None:
    """The speaker outlives the first question's task, which QGIS deletes: this once crashed."""
    slow = stream([2.5, *HOW_MANY[0].pieces])
    second = call("Answer", "answer", value="r2.count")
    with FakeOpenAI(*HOW_MANY, slow, HOW_MANY[1], second, HOW_MANY[3]) as server:
        session = open_session(settings_for(server))
        ask(session)
        settle()
        told = ask(session)
    waits = [event for event in told if isinstance(event, ModelState) and event.seconds >= 1]
    assert waits


def test_a_question_that_only_styles_can_be_undone_and_one_that_counts_cannot(
    open_session: Any,
) -> None:
    style = (
        init("Map"),
        call("Map", "style_graduated", layer="towns", field="pop"),
        call("Answer", "answer", layers=["towns"]),
        said("The towns are coloured."),
    )
    with FakeOpenAI(*HOW_MANY, *style) as server:
        session = open_session(settings_for(server, approval="free"))
        ask(session)
        assert not session.can_undo
        ask(session, "Colour the towns by pop.")
        assert session.can_undo
        assert session.undo() == ("Restored the style of towns.",)
        assert not session.can_undo
