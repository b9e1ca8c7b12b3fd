# SPDX-License-Identifier: GPL-2.0-or-later
"""What tokens and seconds cost, by a price list or by the hour."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geo_olm.plugin.llm.base import ModelCard, ModelError, Server, Usage
from geo_olm.plugin.llm.cost import Costing, Hour, Price, PriceTable, load
from geo_olm.plugin.llm.memory import Memory

PRICES = Path(__file__).parents[2] / "resources" / "prices.json"
LOCAL = ModelCard("m", Server.OLLAMA, "127.0.0.1:11434", 8192, size=5_000_000_000)
FAR = ModelCard("gpt-4o-2024-08-06", Server.OPENAI, "models.example", 128_000, local=False)


def test_the_papers_own_figure_comes_out_of_its_tokens() -> None:
    """30,440 tokens a question, all from the cache, 2,000 questions: 76.1 dollars at 1.25."""
    price = load(PRICES).price("gpt-4o")
    assert price is not None
    usage = Usage(prompt=30_440, cached=30_440)
    assert 2000 * price.of(usage) == pytest.approx(76.1, abs=0.05)


def test_read_cached_and_written_tokens_have_their_own_price() -> None:
    price = Price("m", 2.0, 0.5, 8.0)
    usage = Usage(prompt=1_500_000, cached=500_000, evaluated=1_000_000, generated=250_000)
    assert price.of(usage) == 2.0 + 0.25 + 2.0


def test_an_hour_is_shared_by_the_copies_that_fit() -> None:
    """80 GB hold 16 copies of 5 GB: 36 s of one at 10 dollars an hour are 0.1 / 16."""
    hour = Hour(10.0, 80_000_000_000)
    assert hour.copies(5_000_000_000) == 16
    assert hour.of(36, 5_000_000_000) == pytest.approx(0.1 / 16)
    assert hour.copies(100_000_000_000) == 1
    assert hour.copies(0) == 1


def test_a_local_model_costs_by_the_hour_when_that_is_set() -> None:
    table = load(PRICES)
    assert Costing(table).of(LOCAL, Usage(1000, 0, 1000, 10), 36) is None
    found = Costing(table, 10.0, 80.0).of(LOCAL, Usage(), 36)
    assert found is not None
    assert found.dollars == pytest.approx(0.00625)
    assert found.basis == "$10 an hour, shared by the 16 copies that fit"
    alone = Costing(table, 0.5, memory=lambda: Memory(8_000_000_000, 1)).of(LOCAL, Usage(), 3600)
    assert alone is not None
    assert (alone.dollars, alone.basis) == (0.5, "$0.5 an hour")


def test_a_hosted_model_is_found_with_its_date_and_an_unknown_one_is_not_guessed() -> None:
    costing = Costing(load(PRICES), hourly=10.0)
    found = costing.of(FAR, Usage(1000, 0, 1000, 100), 5)
    assert found is not None
    assert found.dollars == pytest.approx(0.0025 + 0.001)
    assert found.basis.startswith("list price of 2026-06")
    unknown = ModelCard("other", Server.OPENAI, "models.example", 1, local=False)
    assert costing.of(unknown, Usage(1000, 0, 1000, 100), 5) is None


def test_every_price_has_a_date_and_a_source_and_the_hour_is_an_example() -> None:
    table = load(PRICES)
    assert len(table.hosted) >= 5
    assert all(one.date and one.source and one.input > one.cached for one in table.hosted)
    assert table.hour is not None
    assert table.hour.example
    assert table.hour.source


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"hosted": [{"model": "m"}]}', '{"hosted": [{"model": "m", "input": -1, '
     '"cached": 0, "output": 0}]}', '{"local": {"hourly": "x", "memory_gb": 1}}'],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"The price table prices\.json cannot be read"):
        load(path)
    path.write_text(json.dumps({}))
    assert load(path) == PriceTable()
