# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings as data: overrides from the environment, and values that do not fit."""

from __future__ import annotations

import dataclasses

import pytest

from geo_olm.plugin.settings import Settings, overridden, taken

DEFAULT = Settings()


def test_an_override_of_each_kind_is_taken() -> None:
    environ = {
        "GEO_OLM_SET_MODEL": "qwen3",
        "GEO_OLM_SET_MAX_STEPS": "3",
        "GEO_OLM_SET_TEMPERATURE": "0.5",
        "GEO_OLM_SET_DEBUG": "true",
        "GEO_OLM_SET_SERVER": "openai",
        "MODEL": "other",
    }
    found = overridden(DEFAULT, environ)
    assert found == dataclasses.replace(
        DEFAULT, model="qwen3", max_steps=3, temperature=0.5, debug=True, server="openai"
    )


def test_without_overrides_nothing_changes() -> None:
    assert overridden(DEFAULT, {"GEO_OLM_STORE": "/x"}) == DEFAULT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_steps", "many"),
        ("max_steps", ""),
        ("max_steps", "0"),
        ("max_errors", "-1"),
        ("context", "-8"),
        ("reply_tokens", "0"),
        ("temperature", "warm"),
        ("temperature", "nan"),
        ("idle_s", "0"),
        ("server", "mainframe"),
        ("tool_mode", "magic"),
        ("exposure", "all"),
    ],
)
def test_a_value_that_does_not_fit_leaves_the_default(name: str, text: str) -> None:
    assert taken(DEFAULT, {name: text}) == DEFAULT
    assert overridden(DEFAULT, {f"GEO_OLM_SET_{name.upper()}": text}) == DEFAULT


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("no", False)])
def test_a_switch_is_read_from_its_words(text: str, value: bool) -> None:
    assert taken(DEFAULT, {"debug": text}).debug is value


def test_every_setting_has_a_default_of_a_plain_type() -> None:
    for item in dataclasses.fields(Settings):
        assert isinstance(item.default, (str, int, float, bool)), item.name
