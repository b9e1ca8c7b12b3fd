# SPDX-License-Identifier: GPL-2.0-or-later
"""The llama.cpp server is brought from an archive of the user's own, or from Debian's packages."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from geo_olm.plugin.llm.debian import DebianPackages, mirror_of
from geo_olm.plugin.llm.program import archive_name, bring_archive
from geo_olm.plugin.llm.source import FolderSource
from geo_olm.plugin.llm.store import Store
from geo_olm.plugin.llm.transfer import DownloadError
from geo_olm.plugin.llm.watch import never


def kit(folder: Path, files: dict[str, str], digest: str = "") -> FolderSource:
    """Return a folder with the archive of these files, and its hash."""
    folder.mkdir(exist_ok=True)
    archive = folder / archive_name()
    with zipfile.ZipFile(archive, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    digest = digest or hashlib.sha256(archive.read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  {archive.name}\n")
    return FolderSource(folder, never)


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Windows", "AMD64", "llama-server-windows-x86_64.zip"),
        ("Darwin", "arm64", "llama-server-darwin-arm64.zip"),
        ("Linux", "aarch64", "llama-server-linux-arm64.zip"),
    ],
)
def test_the_archive_is_named_for_the_machine(system: str, machine: str, name: str) -> None:
    assert archive_name(system, machine) == name


def test_an_archive_is_checked_unpacked_and_can_be_started(tmp_path: Path) -> None:
    source = kit(tmp_path / "kit", {"bin/llama-server": "#!/bin/sh\n", "bin/lib.so": "x"})
    store = Store(tmp_path / "store")
    found = bring_archive(source, store.server_folder, lambda _: None, never)
    assert found == store.server_folder / "bin" / "llama-server"
    assert os.access(found, os.X_OK)
    assert store.find_server() == found
    assert sorted(path.name for path in store.folder.iterdir()) == ["server"]


@pytest.mark.parametrize(
    ("files", "digest", "told"),
    [
        ({"llama-server": "x"}, "0" * 64, "is not the file that was meant"),
        ({"../llama-server": "x"}, "", "damaged"),
        ({"readme": "x"}, "", "holds no llama-server"),
    ],
)
def test_a_wrong_archive_leaves_the_present_server(
    tmp_path: Path, files: dict[str, str], digest: str, told: str
) -> None:
    folder = tmp_path / "store" / "server"
    folder.mkdir(parents=True)
    (folder / "llama-server").write_text("present")
    with pytest.raises(DownloadError, match=told):
        bring_archive(kit(tmp_path / "kit", files, digest), folder, lambda _: None, never)
    assert (folder / "llama-server").read_text() == "present"
    assert not (tmp_path / "llama-server").exists()


def test_a_place_without_the_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    with pytest.raises(DownloadError, match="does not hold SHA256SUMS"):
        bring_archive(FolderSource(tmp_path / "kit", never), tmp_path / "s", lambda _: None, never)
    (tmp_path / "kit" / "SHA256SUMS").write_text("")
    with pytest.raises(DownloadError, match="does not list llama-server-"):
        bring_archive(FolderSource(tmp_path / "kit", never), tmp_path / "s", lambda _: None, never)


class Apt:
    """Stands for apt and dpkg: lays two packages, and what is in them."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.commands: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str]) -> tuple[int, str]:
        self.commands.append(command)
        if self.fails and self.fails in command:
            return 100, "E: no route\n"
        if "install" in command:
            cache = next(word for word in command if word.startswith("-oDir::Cache="))
            for name in ("a.deb", "b.deb"):
                (Path(cache.partition("=")[2]) / "archives" / name).touch()
        if command[0] == "dpkg":
            root = Path(command[-1])
            library = root / "usr" / "lib" / "x86_64-linux-gnu"
            (library / "ggml" / "backends0").mkdir(parents=True, exist_ok=True)
            (library / "ld-linux-x86-64.so.2").touch()
            (library / "ggml" / "backends0" / "libggml-cpu-haswell.so").touch()
        return 0, ""


def test_debians_packages_are_unpacked_beside_their_loader(tmp_path: Path) -> None:
    apt, folder = Apt(), tmp_path / "a b" / "server"
    packages = DebianPackages(apt, "http://localhost/debian")
    launcher = packages.bring(folder)
    text = launcher.read_text()
    assert "--library-path" in text
    assert "lib=$root/usr/lib/x86_64-linux-gnu" in text
    assert (folder / "root/usr/lib/x86_64-linux-gnu/libggml-cpu-haswell.so").is_symlink()
    asked = len(apt.commands)
    assert packages.bring(folder) == launcher
    assert len(apt.commands) == asked
    assert [command[0] for command in apt.commands[2:4]] == ["dpkg", "dpkg"]


def test_a_failed_package_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="apt-get says: E: no route"):
        DebianPackages(Apt("update"), "http://localhost/debian").bring(tmp_path / "server")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "mirror"),
    [
        ("sources.list", "# deb http://no/debian x\ndeb http://m/debian trixie main\n", "http://m/debian"),
        ("sources.list.d/a.sources", "Types: deb\nURIs: https://m/x/debian/\n", "https://m/x/debian/"),
        ("sources.list.d/a.list", "deb [signed-by=/k] http://m/debian-security x\n", ""),
    ],
)  # fmt: skip
def test_the_mirror_is_the_one_that_apt_is_set_to(
    tmp_path: Path, name: str, text: str, mirror: str
) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    assert mirror_of(tmp_path) == mirror
