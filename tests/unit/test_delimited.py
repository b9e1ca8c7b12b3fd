# SPDX-License-Identifier: GPL-2.0-or-later
"""Delimited text read as a table."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geo_olm.tools.base import MendableError
from geo_olm.tools.delimited import Table, read_table


def table(folder: Path, text: str | bytes) -> Table:
    path = folder / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    found = table(tmp_path, delimiter.join("ab") + "\n" + delimiter.join("12") + "\n")
    assert found.names == ("a", "b")
    assert [found.value(found.rows[0], place) for place in (0, 1)] == [1, 2]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "+3", "0"], "integer"),
        (["1", "2.5", ".5", "1e3"], "real"),
        (["01234", "00501"], "text"),
        (["1", "NA", ""], "integer"),
        (["1", "x"], "text"),
        (["9223372036854775807"], "integer"),
        (["9223372036854775808"], "text"),
        (["2024-01-31"], "date"),
        (["2024-01-31T10:00", "2024-01-31 10:00:01Z"], "datetime"),
        (["2024-01-31", "2024-01-31T10:00"], "text"),
        (["", ""], "text"),
        (["e5", "."], "text"),
    ],
)
def test_a_column_has_the_type_of_all_its_cells(
    tmp_path: Path, cells: list[str], kind: str
) -> None:
    text = "a,b\n" + "".join(f"{cell},x\n" for cell in cells)
    assert table(tmp_path, text).types[0] == kind


def test_a_decimal_comma_is_read_where_commas_do_not_part_b49(tmp_path: Path) -> None:
    found = table(tmp_path, "a;b\n1,5;2\n3;4,25\n")
    assert found.decimal == ","
    assert [found.value(row, 1) for row in found.rows] == [2.0, 4.25]


def test_names_are_never_missing_or_double(tmp_path: Path) -> None:
    assert table(tmp_path, "a,,A,a\n1,2,3,4\n").names == ("a", "column_2", "A_2", "a_3")


def test_short_and_long_rows_are_kept_and_counted(tmp_path: Path) -> None:
    found = table(tmp_path, "a,b\n1\n1,2,3\n")
    assert found.rows == [["1", ""], ["1", "2"]]
    assert found.odd == 1


@pytest.mark.parametrize(
    ("data", "said"), [(b"", "is empty"), (b"  \n", "is empty"), (b"a,b\n\0\1", "is no text table")]
)
def test_what_is_no_table_is_told(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(MendableError, match=said):
        table(tmp_path, data)


def test_a_long_geometry_is_read_whole(tmp_path: Path) -> None:
    long = ", ".join(f"{one} {one}" for one in range(50_000))
    found = table(tmp_path, f'wkt,n\n"LINESTRING({long})",1\n')
    assert len(found.rows[0][0]) > 500_000


CELLS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8))
def test_texts_come_out_as_they_were_written(tmp_path: Path, rows: list[list[str]]) -> None:
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerows([["a", "b", "c"], *rows])
    found = table(tmp_path, file.getvalue())
    assert found.rows == rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(st.binary(max_size=200))
def test_no_bytes_break_the_reading_otherwise(tmp_path: Path, data: bytes) -> None:
    try:
        found = table(tmp_path, data)
    except MendableError:
        return
    for row in found.rows:
        for place in range(len(found.names)):
            found.value(row, place)
