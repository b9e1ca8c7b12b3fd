# SPDX-License-Identifier: GPL-2.0-or-later
"""The model doctor over the real model in the embedded server: what it must find there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from qgis.core import QgsProcessingContext, QgsProcessingFeedback, QgsSettings

from geo_olm.plugin.check import CheckModelAlgorithm
from geo_olm.plugin.link import process_link
from geo_olm.plugin.model_note import KEY, NoteStore
from geo_olm.plugin.settings import Settings

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("qgis_app"), pytest.mark.timeout(1800)]

MOST_MISSED = 6


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    process_link.cache_clear()
    QgsSettings().remove(KEY)
    yield
    process_link().stop()
    process_link.cache_clear()
    QgsSettings().remove(KEY)


def test_the_real_model_is_measured_and_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    feedback = QgsProcessingFeedback()
    parameters: dict[str, Any] = {"SERVER": "embedded"}
    found, ok = CheckModelAlgorithm().run(parameters, QgsProcessingContext(), feedback)
    assert ok, feedback.textLog()
    with capsys.disabled():
        print(f"\n{found['REPORT']}")
    card = process_link().model(Settings(server="embedded")).card()
    note = NoteStore().recall(card)
    assert note is not None
    assert note.mode == "schema"
    assert note.context == card.context
    assert note.reading > note.writing > 0
    assert note.asked - note.right <= MOST_MISSED
    assert "llama.cpp server" in found["REPORT"]
    assert "Loading: It was loaded already" not in found["REPORT"]
