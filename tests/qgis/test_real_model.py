# SPDX-License-Identifier: GPL-2.0-or-later
"""A real model in the embedded server: held to a schema, streamed, stopped, cached."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm.base import ChatModel, ChatRequest, Reply, RunCancelled, Server, TextDelta
from geo_olm.plugin.llm.choice import choose_model
from geo_olm.plugin.llm.gate import Gate
from geo_olm.plugin.llm.grounding import ground
from geo_olm.plugin.llm.ledger import Ledger
from geo_olm.plugin.llm.server import ServerKeeper, ServerPlan
from geo_olm.plugin.llm.store import Store
from geo_olm.plugin.llm.transport import qgis_exchange
from geo_olm.plugin.llm.ward import Ward
from geo_olm.plugin.llm.watch import never
from geo_olm.plugin.settings import Settings
from geo_olm.tools.base import Family, FieldProfile, LayerProfile, ToolDefinition

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("qgis_app"), pytest.mark.timeout(600)]

WORLD = LayerProfile(
    "world",
    "w1",
    Family.POLYGON,
    "Polygon",
    fields=(FieldProfile("name_long", "text"), FieldProfile("gdpPercap", "real")),
)
HIRE = LayerProfile(
    "cycle hire",
    "c1",
    Family.POINT,
    "Point",
    fields=(FieldProfile("station", "text"), FieldProfile("bikes", "integer")),
)
STATISTICS = ToolDefinition(
    "statistics",
    "Mean, sum or count of a field.",
    {
        "type": "object",
        "properties": {
            "layer": {"type": "string", "x-layer": "vector"},
            "field": {"type": "string", "x-field": "layer", "x-types": ["integer", "real"]},
            "statistic": {"type": "string", "enum": ["mean", "sum", "count"]},
            "groups": {"type": "array", "items": {"type": "string", "x-field": "layer"}},
        },
        "required": ["layer", "field", "statistic"],
    },
)
LISTING = ToolDefinition("list_layers", "All layers.", {"type": "object", "properties": {}})
SYSTEM = (
    "You answer with one JSON object and no blanks. Layers: world (name_long, gdpPercap), "
    "cycle hire (station, bikes). Tools: statistics, list_layers."
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatModel]:
    store = Store(Path(os.environ["GEO_OLM_STORE"]))
    smallest = min(store.models_folder.glob("*.gguf"), key=lambda path: path.stat().st_size)
    keeper = ServerKeeper(tmp_path_factory.mktemp("run"))

    def make(program: Path, path: Path, name: str, context: int, threads: int) -> Any:
        return keeper.server(ServerPlan(program, path, name, context, threads))

    settings = Settings(server="embedded", model=str(smallest), context=4096)
    ward = Ward(Gate(), Ledger(tmp_path_factory.mktemp("ledger")))
    made = choose_model(settings, {}, store, make, qgis_exchange(ward))
    yield made
    made.close()
    keeper.stop()


def test_a_reply_is_held_to_the_layers_at_hand_and_streams(model: ChatModel) -> None:
    extra = {"USER_INTENT": {"type": "string"}}
    schema = ground([STATISTICS, LISTING], [WORLD, HIRE], {}, extra).schema
    messages = (Message(Role.SYSTEM, SYSTEM), Message(Role.USER, "What is the mean of the bikes?"))
    request = ChatRequest(messages, schema=schema, max_tokens=200, seed=7)
    *before, reply = model.chat(request, never)
    assert isinstance(reply, Reply)
    pieces = [item.text for item in before if isinstance(item, TextDelta)]
    assert len(pieces) > 5
    assert "".join(pieces) == reply.text
    said = json.loads(reply.text)
    assert list(said) == ["USER_INTENT", "tool", "arguments"]
    assert said["tool"] in ("statistics", "list_layers")
    if said["tool"] == "statistics":
        pairs = (("world", "gdpPercap"), ("cycle hire", "bikes"))
        assert (said["arguments"]["layer"], said["arguments"]["field"]) in pairs
    assert reply.usage.prompt > 40
    assert not reply.usage.estimated
    assert model.card().server is Server.EMBEDDED


def test_a_longer_chat_reads_only_what_is_new(model: ChatModel) -> None:
    opening = (Message(Role.SYSTEM, SYSTEM * 4), Message(Role.USER, "Name one layer."))
    *_, first = model.chat(ChatRequest(opening, max_tokens=20, seed=7), never)
    assert isinstance(first, Reply)
    going_on = (*opening, Message(Role.ASSISTANT, first.text), Message(Role.USER, "And another?"))
    *_, second = model.chat(ChatRequest(going_on, max_tokens=20, seed=7), never)
    assert isinstance(second, Reply)
    assert second.usage.cached > 0.8 * first.usage.prompt
    assert second.usage.prompt == second.usage.cached + second.usage.evaluated


def test_a_stop_while_a_long_prompt_is_read_is_quick(model: ChatModel) -> None:
    long = ChatRequest((Message(Role.USER, "ab cd " * 1200 + "Which word comes next?"),))
    begun = time.monotonic()
    with pytest.raises(RunCancelled):
        list(model.chat(long, lambda: time.monotonic() - begun > 1.5))
    assert time.monotonic() - begun < 2.0
    *_, reply = model.chat(ChatRequest((Message(Role.USER, "Say yes."),), max_tokens=5), never)
    assert isinstance(reply, Reply)
    assert time.monotonic() - begun < 30, "the server went on reading what nobody waits for"
