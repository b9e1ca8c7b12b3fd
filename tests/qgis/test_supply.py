# SPDX-License-Identifier: GPL-2.0-or-later
"""Models and the server program are brought over QGIS's network, in the background."""

from __future__ import annotations

import hashlib
import io
import json
import random
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_ollama import FakeOllama
from file_server import FileServer
from qgis.PyQt.QtCore import QCoreApplication, QEventLoop

from geo_olm.plugin import model_desk as module
from geo_olm.plugin import supply
from geo_olm.plugin.llm.base import RunCancelled
from geo_olm.plugin.llm.gate import OfflineRefused
from geo_olm.plugin.llm.program import archive_name
from geo_olm.plugin.llm.progress import Progress
from geo_olm.plugin.llm.store import Store
from geo_olm.plugin.llm.transfer import DownloadError
from geo_olm.plugin.llm.watch import never
from geo_olm.plugin.model_desk import ModelDesk
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.supply import Supply
from geo_olm.ui.fetch_view import FetchView

pytestmark = pytest.mark.usefixtures("qgis_app")
DATA = random.Random(2).randbytes(300_000)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def manifest(folder: Path) -> Path:
    """Write a manifest of one model, which packages hold in two parts."""
    path = folder / "models.json"
    parts = {"package": "m-part", "version": "1.0", "count": 2}
    model = {"name": "M", "file": "m.gguf", "bytes": len(DATA), "licence": "CC0", "parts": parts}
    path.write_text(json.dumps([model]))
    path.with_suffix(".sha256").write_text(f"{digest(DATA)}  m.gguf\n")
    return path


def index_files() -> dict[str, bytes]:
    """Return the pages and wheels of an index with the two parts."""
    files: dict[str, bytes] = {}
    half = len(DATA) // 2
    for number, piece in ((1, DATA[:half]), (2, DATA[half:])):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as wheel:
            wheel.writestr(f"m/data/part{number}.bin", piece)
        name = f"m_part{number}-1.0-py3-none-any.whl"
        files[f"/files/{name}"] = packed.getvalue()
        link = f'<a href="/files/{name}#sha256={digest(packed.getvalue())}">{name}</a>'
        files[f"/simple/m-part{number}/"] = f"<html><body>{link}</body></html>".encode()
    return files


def kit(folder: Path) -> dict[str, bytes]:
    """Return the files of a place that holds a server program."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("llama-server", "#!/bin/sh\n")
    return {
        f"/{archive_name()}": packed.getvalue(),
        "/SHA256SUMS": f"{digest(packed.getvalue())}  {archive_name()}\n".encode(),
    }


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a store of one known model, with a server program in it."""
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    made = Store(tmp_path / "store", manifest(tmp_path))
    made.server_folder.mkdir(parents=True)
    program = made.server_folder / "llama-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return made


def bring(
    settings: Settings, store: Store, cancelled: Callable[[], bool] = never
) -> list[Progress]:
    told: list[Progress] = []
    Supply(settings, store, told.append, cancelled).bring(store.known()[0])
    return told


def test_a_model_comes_from_the_parts_of_an_index(store: Store) -> None:
    with FileServer(index_files()) as server:
        server.break_after = [10**9, 20_000]
        told = bring(Settings(package_index=f"{server.address}/simple"), store)
    path, model = store.find_model()
    assert path.read_bytes() == DATA
    assert model is not None
    assert told[-1].doing == "Checking"
    ranges = [wanted for path_, wanted in server.asked if path_.startswith("/files/m_part1")]
    assert ranges == ["", "bytes=20000-"]


def test_the_users_own_places_come_before_the_index(store: Store, tmp_path: Path) -> None:
    with FileServer({"/m.gguf": DATA}) as server, FileServer({}) as index:
        sources = f"{tmp_path / 'nothing'}\n{server.address}\n"
        bring(Settings(download_sources=sources, package_index=index.address), store)
        assert index.asked == []
    assert store.find_model()[0].read_bytes() == DATA


def test_parts_come_from_a_folder_of_wheels(store: Store, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, data in index_files().items():
        if name.startswith("/files/"):
            (wheels / Path(name).name).write_bytes(data)
    bring(Settings(package_index=str(wheels)), store)
    assert store.find_model()[0].read_bytes() == DATA


def test_a_part_with_another_hash_is_refused(store: Store) -> None:
    files = index_files()
    name = next(one for one in files if one.startswith("/files/m_part2"))
    files[name] = files[name][:-1] + b"!"
    with FileServer(files) as server, pytest.raises(DownloadError, match="not the file"):
        bring(Settings(package_index=f"{server.address}/simple"), store)
    assert not (store.models_folder / "m.gguf").exists()


def test_offline_refuses_a_download_from_elsewhere(store: Store) -> None:
    settings = Settings(offline=True, download_sources="http://models.example/x")
    with pytest.raises(DownloadError, match=r"Offline is on, so models\.example"):
        bring(settings, store)


def test_a_download_notes_in_the_ledger_whom_it_asked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geo_olm.plugin.egress import ledger

    with FileServer({"/m.gguf": DATA}) as server:
        bring(Settings(download_sources=server.address), store)
        host = server.address[7:]
    (entry,) = [one for one in ledger().entries() if one.host == host]
    assert (entry.purpose, entry.path, entry.received) == ("download", "/m.gguf", len(DATA))


def test_a_missing_server_is_brought_from_the_users_place(store: Store, tmp_path: Path) -> None:
    (store.server_folder / "llama-server").unlink()
    with FileServer({"/m.gguf": DATA, **kit(tmp_path)}) as server:
        bring(Settings(download_sources=server.address, server_program=""), store)
    assert store.find_server() == store.server_folder / "llama-server"


def test_a_machine_without_any_server_is_told_what_to_do(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.server_folder / "llama-server").unlink()
    monkeypatch.setenv("PATH", "")
    with FileServer({"/m.gguf": DATA}) as server:
        with pytest.raises(DownloadError, match=f"Put {archive_name()} and SHA256SUMS"):
            bring(Settings(download_sources=server.address), store)
        assert ("/m.gguf", "") not in server.asked


def test_debians_packages_are_asked_for_where_there_is_apt(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.server_folder / "llama-server").unlink()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(supply, "has_apt", lambda: True)
    monkeypatch.setattr(supply, "mirror_of", lambda: "http://mirror.example/debian")
    asked: list[str] = []

    def stopped(command: Any, *_: Any) -> Any:
        asked.append(str(command))
        raise RunCancelled

    monkeypatch.setattr(supply, "run", stopped)
    with pytest.raises(OfflineRefused):
        bring(Settings(offline=True, package_index="/none"), store)
    assert asked == []
    with pytest.raises(RunCancelled):
        bring(Settings(package_index="/none"), store)
    assert asked == ["apt-get"]


# -- in the background


def settle(done: Callable[[], bool], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, "it did not come to an end"
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)


@pytest.fixture
def views() -> list[FetchView]:
    """Keep what the desk has shown."""
    return []


@pytest.fixture
def make_desk(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: list[FetchView]
) -> Iterator[Callable[[Settings], ModelDesk]]:
    """Make desks over the store, closed after the test."""
    (tmp_path / "resources").mkdir()
    for ending in ("json", "sha256"):
        (tmp_path / f"models.{ending}").rename(tmp_path / "resources" / f"models.{ending}")
    monkeypatch.setattr(module, "RESOURCES", tmp_path / "resources")
    made: list[ModelDesk] = []

    def make(settings: Settings) -> ModelDesk:
        made.append(ModelDesk(lambda: settings))
        made[-1].changed.connect(views.append)
        return made[-1]

    yield make
    for desk in made:
        desk.close()


def test_a_desk_downloads_in_the_background_and_says_so(
    make_desk: Callable[[Settings], ModelDesk], views: list[FetchView]
) -> None:
    with FileServer({"/m.gguf": DATA}) as server:
        server.pause = 0.005
        desk = make_desk(Settings(download_sources=server.address))
        brought: list[bool] = []
        desk.brought.connect(lambda: brought.append(True))
        assert [(one.name, one.present) for one in desk.view.offers] == [("M", False)]
        desk.download()
        desk.download()
        settle(lambda: not desk.view.busy)
    assert brought == [True]
    assert (desk.view.ended, desk.view.error) == ("M is here.", "")
    assert desk.view.offers[0].present
    shares = [view.percent for view in views if view.busy and view.total]
    assert shares == sorted(shares)
    assert max(view.speed for view in views) > 0


def test_a_desk_stops_within_two_seconds_and_goes_on_later(
    make_desk: Callable[[Settings], ModelDesk], store: Store, views: list[FetchView]
) -> None:
    with FileServer({"/m.gguf": DATA}) as server:
        server.pause = 0.02
        desk = make_desk(Settings(download_sources=server.address))
        desk.download()
        settle(lambda: any(view.done > 20_000 for view in views))
        begun = time.monotonic()
        desk.cancel()
        settle(lambda: not desk.view.busy)
        assert time.monotonic() - begun < 2
        assert desk.view.stopped
        assert desk.view.error.startswith("Stopped. What has come is kept")
        have = (store.models_folder / "m.gguf.part").stat().st_size
        assert have > 20_000
        server.pause = 0.0
        desk.download()
        settle(lambda: not desk.view.busy)
    assert desk.view.ended == "M is here."
    assert server.asked[-1] == ("/m.gguf", f"bytes={have}-")


def test_a_desk_pulls_through_ollama_and_tells_a_fault(
    make_desk: Callable[[Settings], ModelDesk], views: list[FetchView]
) -> None:
    with FakeOllama() as server:
        server.library = {"tiny:1b": 1_000_000}
        server.pull_pause = 0.05
        desk = make_desk(Settings(address=server.address))
        desk.set_pull(True)
        desk.pull("tiny:1b")
        settle(lambda: not desk.view.busy)
        assert desk.view.ended == "tiny:1b is in Ollama."
        assert any(0 < view.percent < 100 and view.doing == "Pulling" for view in views)
        desk.pull("none")
        settle(lambda: not desk.view.busy)
    assert desk.view.error == ("The library of Ollama has no model named none. Check its name.")


def test_two_programs_do_not_write_one_file(
    make_desk: Callable[[Settings], ModelDesk], store: Store
) -> None:
    desk = make_desk(Settings(download_sources=str(store.folder)))
    with module._Alone(store):
        desk.download()
        settle(lambda: not desk.view.busy)
    assert desk.view.error.startswith("Another QGIS on this machine is downloading")
