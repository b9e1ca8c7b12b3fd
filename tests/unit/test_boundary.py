# SPDX-License-Identifier: GPL-2.0-or-later
"""Files are read from allowed folders and written to the output folder, whatever a path says."""

from __future__ import annotations

from pathlib import Path

import pytest

from geo_olm.tools.base import MendableError
from geo_olm.tools.boundary import Boundary, file_of


@pytest.fixture
def places(tmp_path: Path) -> Boundary:
    for name in ("temporary", "output", "project", "allowed", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.gpkg").touch()
    names = (tmp_path / name for name in ("temporary", "output", "project"))
    return Boundary(*names, allowed=(tmp_path / "allowed",))


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("/d/a b.gpkg|layername=x|y", "/d/a b.gpkg"),
        ('NETCDF:"/d/a b.nc":tas', "/d/a b.nc"),
        ("/vsizip//d/a.zip/b/c.shp", "/d/a.zip"),
        ("/vsizip/d/a.zip", "/d/a.zip"),
        ("parks.csv", "parks.csv"),
    ],
)
def test_the_file_of_a_source_is_known(source: str, file: str) -> None:
    assert file_of(source) == Path(file)


@pytest.mark.parametrize(
    "source",
    ["https://example.org/a.gpkg", "/vsicurl/http://example.org/a.gpkg", "/vsis3/bucket/a", ""],
)
def test_an_address_is_no_file(places: Boundary, source: str) -> None:
    assert file_of(source) is None
    with pytest.raises(MendableError, match="FILE cannot be an address"):
        places.readable(source, "FILE")


@pytest.mark.parametrize("name", ["temporary", "output", "project", "allowed"])
def test_a_file_in_an_allowed_folder_is_read(places: Boundary, tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "a.gpkg"
    assert places.readable(f"{path}|layername=x") == path
    assert places.readable(str(path.parent / ".." / name / "a.gpkg")) == path


def test_a_name_alone_is_looked_for_in_the_allowed_folders(
    places: Boundary, tmp_path: Path
) -> None:
    (tmp_path / "project" / "mine.csv").touch()
    assert places.readable("mine.csv") == tmp_path / "project" / "mine.csv"


def test_a_file_elsewhere_is_refused_with_the_fix(places: Boundary, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "a.gpkg"
    link = tmp_path / "project" / "link.gpkg"
    link.symlink_to(elsewhere)
    beside = tmp_path / "allowed more"
    beside.mkdir()
    (beside / "a.gpkg").touch()
    for path in (
        str(elsewhere),
        str(link),
        str(tmp_path / "project" / ".." / "elsewhere" / "a.gpkg"),
        f"/vsizip/{elsewhere}",
        str(beside / "a.gpkg"),
    ):
        with pytest.raises(MendableError, match=r"outside the folders .* Settings > Options"):
            places.readable(path)


def test_a_file_is_written_in_the_output_folder_only_and_never_over_another_b40(
    places: Boundary, tmp_path: Path
) -> None:
    output = tmp_path / "output"
    assert places.free("a.gpkg") == output / "a_2.gpkg"
    assert places.free("new/b.csv") == output / "new" / "b.csv"
    assert (output / "new").is_dir()
    for wrong in ("../project/a.gpkg", str(tmp_path / "project" / "b.gpkg"), "."):
        with pytest.raises(MendableError, match="only in"):
            places.free(wrong)
    with pytest.raises(MendableError, match="leave the output out"):
        Boundary(tmp_path).free("a.gpkg")
