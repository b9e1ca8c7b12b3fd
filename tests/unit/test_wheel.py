# SPDX-License-Identifier: GPL-2.0-or-later
"""Wheels without pip: pages of an index, choosing versions that fit, unpacking with checks."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from wheel_case import LoopbackIndex, client_wheels, make_wheel

from geo_olm.plugin.dependency import resolver as resolver_module
from geo_olm.plugin.dependency.base import WANTED, PackageError
from geo_olm.plugin.dependency.pip_setting import configured_index
from geo_olm.plugin.dependency.resolver import Resolver, rules
from geo_olm.plugin.dependency.wheel import WheelLink, links_of, unpack
from geo_olm.plugin.dependency.wheel_source import (
    FolderSource,
    IndexSource,
    WheelSource,
    folder_of,
    source_of,
)
from geo_olm.plugin.llm.base import RunCancelled
from geo_olm.plugin.llm.plain_exchange import PlainExchange
from geo_olm.plugin.llm.watch import Watch, never

PAGE = """
<a href="../../files/a_b-1.0-py3-none-any.whl#sha256=AB12" data-requires-python="&gt;=3.9">x</a>
<A HREF='https://other.example/a_b-2.0-py3-none-any.whl'>y</A>
<a href="a_b-3.0-py3-none-any.whl#sha256=cd" data-yanked="broken">z</a>
<a href="a_b-4.0.tar.gz#sha256=ef">source</a> <a>none</a>
"""


def quiet(_file: str, _size: int) -> None:
    pass


def bring(source: WheelSource, folder: Path, wanted: tuple[str, ...] = WANTED) -> list[str]:
    folder.mkdir()
    with rules(source, folder, quiet) as found:
        return sorted(path.name for path in Resolver(source, found, folder, quiet).wheels(wanted))


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    return client_wheels(tmp_path / "wheels")


EXPECTED = [
    "h11-0.16.0-py3-none-any.whl",
    "httpx-0.28.1-py3-none-any.whl",
    "ollama-0.6.3-py3-none-any.whl",
    "only_ours-1.0-py3-none-any.whl",
    "openai-2.1.0-py3-none-any.whl",
]


def test_a_page_gives_wheels_with_hash_and_python_and_without_withdrawn_ones() -> None:
    assert links_of(PAGE, "https://index.example/simple/a-b/") == [
        WheelLink(
            "a_b-1.0-py3-none-any.whl",
            "https://index.example/files/a_b-1.0-py3-none-any.whl",
            "ab12",
            ">=3.9",
        ),
        WheelLink("a_b-2.0-py3-none-any.whl", "https://other.example/a_b-2.0-py3-none-any.whl"),
    ]


def test_the_newest_versions_that_fit_together_come_from_a_folder(
    wheels: Path, tmp_path: Path
) -> None:
    """httpx 1.0 suits ollama and not openai, which is asked later: all is chosen anew."""
    assert bring(FolderSource(wheels), tmp_path / "place") == EXPECTED


def test_the_same_come_from_an_index(wheels: Path, tmp_path: Path) -> None:
    with LoopbackIndex(wheels) as index:
        source = source_of(index.address, PlainExchange(Watch()), never)
        assert bring(source, tmp_path / "place") == EXPECTED


def test_a_wrong_hash_and_a_missing_hash_are_refused(wheels: Path, tmp_path: Path) -> None:
    with LoopbackIndex(wheels, spoil="h11-0.16.0-py3-none-any.whl") as index:
        source = IndexSource(index.address, PlainExchange(Watch()), never)
        with pytest.raises(PackageError, match=r"h11.* does not have the hash"):
            bring(source, tmp_path / "place")
        bare = WheelLink("h11-0.16.0-py3-none-any.whl", f"{index.address}/../files/" + EXPECTED[0])
        with pytest.raises(PackageError):
            source.bring(bare, tmp_path, lambda _size: None)


def test_a_stop_between_two_pieces_ends_the_download(wheels: Path, tmp_path: Path) -> None:
    with LoopbackIndex(wheels, pause=0.2) as index:
        source = IndexSource(index.address, PlainExchange(Watch()), lambda: True)
        link = IndexSource(index.address, PlainExchange(Watch()), never).links("h11")[0]
        with pytest.raises(RunCancelled):
            source.bring(link, tmp_path, lambda _size: None)


def test_a_package_of_qgis_is_never_brought(wheels: Path, tmp_path: Path) -> None:
    make_wheel(wheels, "ollama", "0.7.0", ["NumPy>=1"])
    make_wheel(wheels, "numpy", "9.0.0")
    with pytest.raises(PackageError, match="ask for numpy, which belongs to QGIS"):
        bring(FolderSource(wheels), tmp_path / "place")


def test_what_is_missing_is_named(wheels: Path, tmp_path: Path) -> None:
    (wheels / EXPECTED[0]).unlink()
    with pytest.raises(PackageError, match=r"no wheel of h11 .* for this Python"):
        bring(FolderSource(wheels), tmp_path / "place")
    with pytest.raises(PackageError, match="There is no folder"):
        bring(FolderSource(tmp_path / "gone"), tmp_path / "other")


def test_versions_that_cannot_fit_end_in_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    make_wheel(folder, "ollama", "0.6.0", ["httpx<1"])
    make_wheel(folder, "openai", "2.0.0", ["httpx>=1"])
    make_wheel(folder, "httpx", "0.9")
    make_wheel(folder, "httpx", "1.1")
    with pytest.raises(PackageError, match="no wheel of httpx"):
        bring(FolderSource(folder), tmp_path / "place")


@pytest.fixture
def no_packaging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no copy of the library but one that is brought into a folder named rules."""

    class Refusing:
        def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
            brought = any(one.endswith("rules") for one in sys.path)
            if "packaging" in name.split(".") and not brought:
                raise ImportError(name)

    for name in [one for one in sys.modules if "packaging" in one.split(".")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])


def test_without_the_library_it_is_brought_first_and_forgotten(
    wheels: Path, tmp_path: Path, no_packaging: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.metadata

    files = {}
    for item in importlib.metadata.files("packaging") or ():
        path = Path(str(item.locate()))
        if path.suffix == ".py":
            files[str(item)] = path.read_text(encoding="utf-8")
    make_wheel(wheels, "packaging", "25.0", files=files)
    make_wheel(wheels, "packaging", "9.1", files={"packaging/broken.py": "1/0"})
    monkeypatch.setattr(resolver_module, "_HOMES", ("packaging",))
    assert bring(FolderSource(wheels), tmp_path / "place") == EXPECTED
    assert not any(name.partition(".")[0] == "packaging" for name in sys.modules)
    assert not any(str(tmp_path) in path for path in sys.path)


def test_a_wheel_is_unpacked_without_its_scripts(tmp_path: Path) -> None:
    files = {
        "tool-1.0.data/scripts/tool": "#!python\n",
        "tool-1.0.data/purelib/tool_more.py": "x = 1\n",
        "tool/data.txt": "naïve",
    }
    wheel = make_wheel(tmp_path, "tool", "1.0", files=files)
    aim = tmp_path / "aim"
    unpack(wheel, aim)
    found = sorted(str(path.relative_to(aim)) for path in aim.rglob("*") if path.is_file())
    assert found == [
        "tool-1.0.dist-info/METADATA",
        "tool-1.0.dist-info/RECORD",
        "tool-1.0.dist-info/WHEEL",
        "tool/__init__.py",
        "tool/data.txt",
        "tool_more.py",
    ]


@pytest.mark.parametrize(
    "name", ["../evil.py", "/evil.py", "tool/../../evil.py", "C:/evil.py", "tool\\..\\evil.py"]
)
def test_a_wheel_that_leads_out_of_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "tool", "1.0", files={name: "x"})
    with pytest.raises(PackageError, match="leads out"):
        unpack(wheel, tmp_path / "inner" / "aim")
    assert not list(tmp_path.rglob("evil.py"))


def test_a_file_that_is_not_as_recorded_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "tool", "1.0", wrong="tool/__init__.py")
    with pytest.raises(PackageError, match="not as its record says"):
        unpack(wheel, tmp_path / "aim")


def test_no_wheel_at_all_is_one_sentence(tmp_path: Path) -> None:
    torn = tmp_path / "tool-1.0-py3-none-any.whl"
    torn.write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(PackageError, match=r"tool-1\.0.* is damaged"):
        unpack(torn, tmp_path / "aim")
    with zipfile.ZipFile(torn, "w") as archive:
        archive.writestr("tool/__init__.py", "")
    with pytest.raises(PackageError, match="no metadata"):
        unpack(torn, tmp_path / "aim")


def test_a_source_is_a_folder_or_an_address() -> None:
    assert folder_of("https://index.example/simple") is None
    assert folder_of("file:///srv/my%20wheels") == Path("/srv/my wheels")
    assert folder_of("/srv/my wheels") == Path("/srv/my wheels")


def test_pips_index_is_read_from_its_environment_and_files(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}
    assert configured_index({"PIP_INDEX_URL": "https://a.example/simple", **environ}) == (
        "https://a.example/simple"
    )
    shared = tmp_path / "xdg" / "pip"
    shared.mkdir(parents=True)
    (shared / "pip.conf").write_text("[global]\nindex-url = https://b.example/simple\n")
    assert configured_index(environ, str(tmp_path)) == "https://b.example/simple"
    own = tmp_path / ".config" / "pip"
    own.mkdir(parents=True)
    (own / "pip.conf").write_text(
        "[global]\nindex_url = x\n[install]\nindex-url=https://c.example/%20\n"
    )
    assert configured_index(environ, str(tmp_path)) == "https://c.example/%20"
    (own / "pip.conf").write_text("no section\n")
    assert configured_index(environ, str(tmp_path)) == "https://b.example/simple"
