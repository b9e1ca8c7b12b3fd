# SPDX-License-Identifier: GPL-2.0-or-later
"""Installing the client packages: pip into a folder, wheels by ourselves, nothing half done."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from qgis.core import QgsNetworkAccessManager, QgsSettings
from wheel_case import LoopbackIndex, client_wheels, make_wheel

from geo_olm.plugin.dependency import install as install_module
from geo_olm.plugin.dependency import interpreter as interpreter_module
from geo_olm.plugin.dependency.base import InstallStep, PackageError
from geo_olm.plugin.dependency.folder import PackageFolder, PackageState
from geo_olm.plugin.dependency.install import Supply, install
from geo_olm.plugin.dependency.interpreter import Interpreter, find_interpreter, mark
from geo_olm.plugin.egress import proxy_address
from geo_olm.plugin.llm.base import RunCancelled
from geo_olm.plugin.llm.gate import Gate
from geo_olm.plugin.llm.ledger import Ledger
from geo_olm.plugin.llm.transport import qgis_exchange
from geo_olm.plugin.llm.ward import PACKAGE, Ward

pytestmark = pytest.mark.usefixtures("qgis_app")
Install = Callable[..., list[InstallStep]]


def never() -> bool:
    return False


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[PackageFolder]:
    before = list(sys.path)
    made = PackageFolder(tmp_path / "packages")
    yield made
    made.deactivate()
    assert sys.path == before


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    return client_wheels(tmp_path / "wheels")


@pytest.fixture
def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(_cancelled: object) -> Interpreter:
        return Interpreter(Path(sys.executable), has_pip=False)

    monkeypatch.setattr(install_module, "find_interpreter", found)


def supply(tmp_path: Path, source: str, offline: bool = False) -> Supply:
    ledger, gate = Ledger(tmp_path / "ledger"), Gate(offline)
    exchange = qgis_exchange(Ward(gate, ledger, PACKAGE))
    return Supply(source, exchange, gate, ledger)


def installed(folder: PackageFolder) -> list[str]:
    assert folder.present is not None
    return sorted(path.name for path in folder.present.glob("*.dist-info"))


EXPECTED = [
    "h11-0.16.0.dist-info",
    "httpx-0.28.1.dist-info",
    "ollama-0.6.3.dist-info",
    "only_ours-1.0.dist-info",
    "openai-2.1.0.dist-info",
]


def left_in(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "packages").iterdir())


def test_the_program_of_this_python_is_found_from_its_prefix() -> None:
    found = find_interpreter(never)
    assert found is not None
    program = [str(found.path), "-c", "import sys; print(sys.version_info[:2])"]
    told = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(sys.version_info[:2])
    assert mark().startswith(f"{sys.version_info[0]}.{sys.version_info[1]} .")


def test_a_program_of_another_version_or_kind_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    other = json.dumps([[3, 7], ".cpython-37m-x86_64-linux-gnu.so", "linux-x86_64", True])
    for name, text in (
        ("python3", f"#!/bin/sh\necho '{other}'\n"),
        ("python", "#!/bin/sh\necho no python\nexit 3\n"),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setattr(interpreter_module.sys, "executable", str(tmp_path / "bin" / "qgis"))
    for prefix in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(interpreter_module.sys, prefix, str(tmp_path))
    assert find_interpreter(never) is None


def test_pip_installs_from_a_folder_into_the_profile_and_nowhere_else(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    told: list[InstallStep] = []
    install(folder, supply(tmp_path, str(wheels)), told.append, never)
    assert installed(folder) == EXPECTED
    assert sys.path[-1] == str(folder.present)
    assert any("Installing" in item.text for item in told)
    assert left_in(tmp_path) == ["current", "set-1"]


def test_pip_installs_from_an_index_and_the_ledger_says_so(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    with LoopbackIndex(wheels) as index:
        given = supply(tmp_path, index.address)
        install(folder, given, lambda _: None, never)
    assert installed(folder) == EXPECTED
    (entry,) = given.ledger.entries()
    assert (entry.method, entry.purpose, entry.local, entry.status) == ("pip", "package", True, 200)


@pytest.mark.usefixtures("without_pip")
@pytest.mark.parametrize("kind", ["folder", "index"])
def test_without_pip_the_wheels_come_over_qgis_network(
    folder: PackageFolder, wheels: Path, tmp_path: Path, kind: str
) -> None:
    with LoopbackIndex(wheels) as index:
        given = supply(tmp_path, str(wheels) if kind == "folder" else index.address)
        install(folder, given, lambda _: None, never)
    assert installed(folder) == EXPECTED
    paths = {entry.path for entry in given.ledger.entries()}
    assert ("/simple/ollama/" in paths) is (kind == "index")
    assert folder.state("only_ours") == PackageState("only_ours", "1.0", own=True)
    assert not folder.state("h11").own  # this Python has one, and it comes first
    assert folder.state("not_there") == PackageState("not_there")
    program = f"import sys; sys.path.append({str(folder.present)!r}); import ollama._client, httpx"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


@pytest.mark.parametrize("with_pip", [True, False])
def test_a_package_that_is_wanted_alone_comes_without_what_it_asks_for(
    folder: PackageFolder, wheels: Path, tmp_path: Path, request: pytest.FixtureRequest,
    with_pip: bool,
) -> None:  # fmt: skip
    if not with_pip:
        request.getfixturevalue("without_pip")
    make_wheel(wheels, "onnxruntime", "1.24.4", ["numpy>=1.21", "flatbuffers"])
    given = replace(supply(tmp_path, str(wheels)), alone=("onnxruntime>=1.17,<2",))
    install(folder, given, lambda _: None, never)
    assert installed(folder) == sorted([*EXPECTED, "onnxruntime-1.24.4.dist-info"])


@pytest.mark.usefixtures("without_pip")
def test_without_pip_and_index_the_user_is_asked_for_one(
    folder: PackageFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_module, "configured_index", lambda: "")
    with pytest.raises(PackageError, match="Type the address of one, or choose a folder"):
        install(folder, supply(tmp_path, ""), lambda _: None, never)
    assert left_in(tmp_path) == []


def test_a_failure_leaves_what_was_there(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    install(folder, supply(tmp_path, str(wheels)), lambda _: None, never)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(PackageError, match=r"could not be installed: .*ollama") as caught:
        install(folder, supply(tmp_path, str(empty)), lambda _: None, never)
    assert caught.value.message.endswith("then try again.")
    assert installed(folder) == EXPECTED
    assert left_in(tmp_path) == ["current", "set-1"]


@pytest.mark.parametrize("with_pip", [True, False])
def test_a_stop_in_the_middle_leaves_nothing_half_done(
    folder: PackageFolder,
    wheels: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    with_pip: bool,
) -> None:
    if not with_pip:
        request.getfixturevalue("without_pip")
    with LoopbackIndex(wheels, pause=30.0) as index:
        begun: list[float] = []

        def stopped() -> bool:
            if not begun and any("files" in path for path in index.paths):
                begun.append(time.monotonic())
            return bool(begun) and time.monotonic() - begun[0] > 0.3

        with pytest.raises(RunCancelled):
            install(folder, supply(tmp_path, index.address), lambda _: None, stopped)
        assert time.monotonic() - begun[0] < 4
    assert left_in(tmp_path) == []
    assert folder.present is None


def test_offline_lets_a_folder_through_and_no_index(
    folder: PackageFolder, wheels: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    far = supply(tmp_path, "https://index.example/simple", offline=True)
    for _ in range(2):
        with pytest.raises(PackageError) as caught:
            install(folder, far, lambda _: None, never)
        assert caught.value.message == "Offline is on, so index.example was not contacted."
        request.getfixturevalue("without_pip")
    assert far.ledger.entries() == []
    install(folder, supply(tmp_path, str(wheels), offline=True), lambda _: None, never)
    assert installed(folder) == EXPECTED


def test_a_second_installation_takes_the_place_of_the_first(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    install(folder, supply(tmp_path, str(wheels)), lambda _: None, never)
    make_wheel(wheels, "openai", "2.9.0", ["httpx<1"])
    install(folder, supply(tmp_path, str(wheels)), lambda _: None, never)
    assert "openai-2.9.0.dist-info" in installed(folder)
    assert left_in(tmp_path) == ["current", "set-2"]
    assert sum(str(tmp_path) in path for path in sys.path) == 1
    folder.remove()
    assert left_in(tmp_path) == []
    assert not any(str(tmp_path) in path for path in sys.path)


def test_the_packages_are_there_at_the_next_start_and_last_on_the_path(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    install(folder, supply(tmp_path, str(wheels)), lambda _: None, never)
    folder.deactivate()
    later = PackageFolder(tmp_path / "packages")
    draft = tmp_path / "packages" / "part-999999999"
    draft.mkdir()
    later.activate()
    assert sys.path[-1] == str(later.present)
    assert not draft.exists()
    later.deactivate()


def test_packages_of_another_python_are_left_alone(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    install(folder, supply(tmp_path, str(wheels)), lambda _: None, never)
    made = tmp_path / "packages" / "set-1" / "made.json"
    made.write_text(json.dumps({"python": "3.7 .so linux"}))
    folder.activate()
    assert folder.present is None
    assert not any(str(tmp_path) in path for path in sys.path)


def test_a_profile_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "packages").write_text("a file")
    with pytest.raises(PackageError, match="could not be written"):
        install(PackageFolder(tmp_path / "packages"), supply(tmp_path, ""), lambda _: None, never)


def test_qgis_proxy_is_handed_to_pip_outside_its_words() -> None:
    store, manager = QgsSettings(), QgsNetworkAccessManager.instance()
    for name, value in (
        ("proxyEnabled", True),
        ("proxyType", "HttpProxy"),
        ("proxyHost", "proxy.example"),
        ("proxyPort", "3128"),
        ("proxyUser", "me"),
        ("proxyPassword", "p@ss"),
    ):
        store.setValue(f"proxy/{name}", value)
    manager.setupDefaultProxyAndCache()
    assert proxy_address() == "http://me:p%40ss@proxy.example:3128"
    store.remove("proxy")
    manager.setupDefaultProxyAndCache()
    assert proxy_address() == ""


def test_pip_goes_through_the_proxy_and_wants_https_elsewhere(
    folder: PackageFolder, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_egress import Proxy

    with LoopbackIndex(wheels) as index, Proxy(index.address) as proxy:
        given = replace(
            supply(tmp_path, "http://index.test/simple"),
            proxy=f"http://127.0.0.1:{proxy.server_port}",
        )
        with pytest.raises(PackageError, match="pip does not trust the package index"):
            install(folder, given, lambda _: None, never)
        monkeypatch.setenv("PIP_TRUSTED_HOST", "index.test")
        install(folder, given, lambda _: None, never)
        assert any(path.startswith("http://index.test/files/") for path in proxy.asked)
    assert installed(folder) == EXPECTED
    entry = given.ledger.entries()[0]
    assert (entry.host, entry.local, entry.status) == ("index.test", False, 200)


def test_the_work_can_be_done_on_a_thread_of_its_own(
    folder: PackageFolder, wheels: Path, tmp_path: Path
) -> None:
    given = supply(tmp_path, str(wheels))
    faults: list[BaseException] = []

    def work() -> None:
        try:
            install(folder, given, lambda _: None, never)
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert faults == []
    assert installed(folder) == EXPECTED
