# SPDX-License-Identifier: GPL-2.0-or-later
"""A question answered over QGIS's own network where no client library can be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chat_case import HOW_MANY, fill, settings_for
from fake_ollama import FakeOllama
from fake_ollama import said as ollama_said
from fake_openai import FakeOpenAI
from qgis.core import QgsProject

import geo_olm
from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.link import ModelLink
from geo_olm.plugin.llm.base import Reply
from geo_olm.plugin.settings import Settings

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")
ROOT = Path(geo_olm.__file__).parent
BLOCKED = ("ollama", "openai", "httpx", "httpcore", "pydantic", "anyio", "h11")
PROGRAM = """
import importlib.util, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is refused")
        return None

sys.meta_path.insert(0, Refusing())
spec = importlib.util.spec_from_file_location(
    "geo_olm", {root!r} + "/__init__.py", submodule_search_locations=[{root!r}]
)
package = importlib.util.module_from_spec(spec)
sys.modules["geo_olm"] = package
spec.loader.exec_module(package)
from qgis.core import QgsApplication
application = QgsApplication([], False)
application.initQgis()
from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.link import ModelLink
from geo_olm.plugin.settings import SettingsStore
from pathlib import Path
link = ModelLink(Path(sys.argv[1]))
speaker = link.connect(SettingsStore().load(), print, lambda: False)
*_, reply = speaker.write((Message(Role.USER, "Hello"),), 20, lambda: False)
print("answer:", reply.text)
print("loaded:", sorted(set(sys.modules) & set({blocked!r})))
application.exitQgis()
"""


@pytest.mark.parametrize("server", ["ollama", "openai"])
def test_a_process_without_any_client_library_chats_through_qgis(
    tmp_path: Path, server: str
) -> None:
    fake: Any = FakeOllama(ollama_said("17")) if server == "ollama" else FakeOpenAI(HOW_MANY[3])
    program = PROGRAM.format(blocked=BLOCKED, root=str(ROOT))
    with fake:
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={
                **os.environ,
                "GEO_OLM_SET_SERVER": server,
                "GEO_OLM_SET_ADDRESS": fake.address,
                "GEO_OLM_STORE": str(tmp_path),
                "QT_QPA_PLATFORM": "offscreen",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith(("answer", "loaded"))]
    assert told == [
        "answer: " + ("17" if server == "ollama" else "There are 3 towns."),
        "loaded: []",
    ]


@pytest.mark.usefixtures("client")
def test_a_whole_question_is_answered_with_and_without_the_official_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geo_olm.plugin.session import answer_question

    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path))
    project = fill(QgsProject())
    with FakeOpenAI(*HOW_MANY) as server:
        record = answer_question(
            "How many towns?", project, settings_for(server), str(tmp_path), lambda _event: None
        )
    assert (record["status"], record["value"]) == ("ok", 3)
    project.clear()


@pytest.mark.usefixtures("client")
def test_a_link_speaks_over_qgis_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path))
    with FakeOpenAI(HOW_MANY[3]) as server:
        settings = Settings(server="openai", address=server.address)
        speaker = ModelLink(tmp_path).connect(settings, lambda _event: None, lambda: False)
        *_, reply = speaker.write((Message(Role.USER, "Hello"),), 20, lambda: False)
    assert isinstance(reply, Reply)
    assert reply.text == "There are 3 towns."
