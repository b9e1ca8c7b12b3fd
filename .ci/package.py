# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs what git holds as dist/geo_olm-VERSION.zip and checks it as the plugin repository does.

With --check the zip is made in a temporary folder, checked, and thrown away.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from check_metadata import ROOT, read
from failure import OK, FailureError, run, say

TOP = "geo_olm"
LEFT_OUT = ("tests/", "Makefile", "pyproject.toml")
NEEDED = ("LICENSE", "metadata.txt", "__init__.py")
LIMIT = 25 << 20
TEXT = {
    "", ".py", ".txt", ".md", ".json", ".svg", ".toml", ".sha256", ".jinja", ".csv", ".xml",
    ".html", ".css", ".qml", ".qgs", ".ts", ".model3", ".geojson",
}  # fmt: skip
PICTURES = {".png", ".qm", ".qgz"}


def main() -> int:
    """Make the zip, check it, and print where it is."""
    if "--check" in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="geo-olm-zip-") as scratch:
            check(pack(Path(scratch, "geo_olm.zip")))
        return OK
    version = read(ROOT / "metadata.txt")["version"]
    path = ROOT / "dist" / f"{TOP}-{version}.zip"
    path.parent.mkdir(exist_ok=True)
    check(pack(path))
    print(path)
    return OK


def held_files() -> list[str]:
    """Return the paths that belong into the zip: what git holds less what only developers need."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailureError("The zip is made of what git holds, and this is no git checkout.")
    names = [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [n for n in names if not n.startswith((".", *LEFT_OUT)) and "/." not in n]


def pack(path: Path) -> Path:
    """Write the zip with fixed dates and modes, so that the same files give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(held_files()):
            entry = zipfile.ZipInfo(f"{TOP}/{name}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (ROOT / name).read_bytes())
    return path


def check(path: Path) -> None:
    """Raise FailureError with all that the plugin repository would refuse."""
    found = layout_faults(path)
    with tempfile.TemporaryDirectory(prefix="geo-olm-scan-") as scratch:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(scratch)
        found += _bandit(Path(scratch)) + _secrets(Path(scratch))
    for fault in found:
        say(f"package: {fault}")
    if found:
        raise FailureError(f"The package has {len(found)} faults; they are listed above.")
    say(f"package: no faults, {path.stat().st_size >> 10} KiB")


def layout_faults(path: Path) -> list[str]:
    """Return what is wrong with the names, the size or the kinds of files in the zip."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        found = [
            f"{name} is binary"
            for name in names
            if Path(name).suffix not in PICTURES and b"\0" in archive.read(name)
        ]
    found += [f"{name} is missing" for name in NEEDED if f"{TOP}/{name}" not in names]
    found += [f"{n} is no kind of file we ship" for n in names if not _is_known(n)]
    found += [f"{n} is no good path" for n in names if ".." in n or "\\" in n or not n.isascii()]
    found += [f"{n} is outside {TOP}/" for n in names if not n.startswith(f"{TOP}/")]
    if path.stat().st_size > LIMIT:
        found.append("the zip is larger than 25 MB")
    return found


def _is_known(name: str) -> bool:
    return Path(name).suffix in TEXT | PICTURES and "__pycache__" not in name


def _tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _bandit(folder: Path) -> list[str]:
    command = [_tool("bandit"), "-q", "-r", TOP, "-f", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    errors = [f"bandit: {error['filename']}: {error['reason']}" for error in report["errors"]]
    return errors + [
        f"bandit {item['test_id']}: {item['filename']}:{item['line_number']}: {item['issue_text']}"
        for item in report["results"]
    ]


def _secrets(folder: Path) -> list[str]:
    command = [_tool("detect-secrets"), "scan", "--all-files", "--no-verify", TOP]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [
        f"detect-secrets: {name}:{item['line_number']}: {item['type']}"
        for name, items in json.loads(done.stdout)["results"].items()
        for item in items
    ]


if __name__ == "__main__":
    sys.exit(run(main))
