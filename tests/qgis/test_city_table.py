# SPDX-License-Identifier: GPL-2.0-or-later
"""A table of cities becomes questions with its own numbers; a broken one is told by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from geo_olm.plugin.world.city_table import TableError, read_table, table_tasks
from geo_olm.plugin.world.task_book import TaskBook
from geo_olm.plugin.world.truth import Truth

HEAD = (
    "city,image_date,buildings_total,buildings_damaged,pct_damaged,population_affected,source_page"
)
ROWS = ["Ashford,2023-02-07,200,10,5,300,4", "Brook,2023-02-07,80,8,10,,5",
        "Ashford,2023-02-09,200,30,15,900,4"]  # fmt: skip


def table(folder: Path, *rows: str, head: str = HEAD) -> Path:
    path = folder / "cities.csv"
    path.write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    return path


def test_every_number_of_the_table_is_asked_and_so_is_the_largest_share(tmp_path: Path) -> None:
    book = TaskBook("", "", Truth())
    table_tasks("cities.csv", read_table(table(tmp_path, *ROWS)), book)
    asked = {one["question"]: one["expect"] for one in book.tasks}
    assert len(asked) == 4 + 3 + 4 + 1
    damaged = asked["How many buildings of Ashford are damaged in the image of 2023-02-09?"]
    assert damaged == {"number": {"value": 30.0, "rel_tol": 0.1}}
    assert not any("people of Brook" in one for one in asked)
    largest = asked["Which city has the largest percentage of damaged buildings on 2023-02-07?"]
    assert largest == {"text": {"any_of": ["Brook"]}}


@pytest.mark.parametrize(
    ("rows", "head", "said"),
    [
        (ROWS, HEAD.replace("pct_damaged", "share"), "has no column pct_damaged"),
        (["Ashford,7 Feb,1,1,1,1,1"], HEAD, 'line 2: image_date "7 Feb" is no date'),
        ([ROWS[0], "Brook,2023-02-07,many,1,1,1,1"], HEAD, 'line 3: buildings_total "many"'),
        ([",2023-02-07,1,1,1,1,1"], HEAD, "line 2: city is empty"),
        ([], HEAD, "has no row"),
    ],
)
def test_a_broken_table_is_told_by_its_line(
    tmp_path: Path, rows: list[str], head: str, said: str
) -> None:
    with pytest.raises(TableError, match=said):
        read_table(table(tmp_path, *rows, head=head))
