# SPDX-License-Identifier: GPL-2.0-or-later
"""The link to a model where a package that it needs is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from geo_olm.plugin.link import ModelLink
from geo_olm.plugin.llm.base import ModelError
from geo_olm.plugin.settings import Settings


@pytest.mark.parametrize("server", ["auto", "ollama", "openai", "embedded"])
def test_without_httpx_the_user_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "geo_olm.plugin.llm.transport", raising=False)
    link = ModelLink(tmp_path)
    with pytest.raises(ModelError, match=r"package httpx is not installed\. Install it"):
        link.connect(Settings(server=server), lambda event: None, lambda: False)
