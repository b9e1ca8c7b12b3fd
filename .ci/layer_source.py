# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads LAYERS of make: sources separated by blanks, or a file with one source a line.

A quoted stretch may hold blanks. Quotes at the start of a source are taken away, those inside it
belong to it, as in NETCDF:"file":variable. `qgis:` stands for the data folder of QGIS itself.
"""

import re
from pathlib import Path

from failure import WRONG_USE, FailureError

LISTS = {".txt", ".list"}
QUOTED_FILE = re.compile(r'([A-Za-z][A-Za-z0-9_]+:)"([^"]+)"(.*)', re.DOTALL)
BARE_FILE = re.compile(r"([A-Z][A-Z0-9_]+:)([^:]+)(:.*)", re.DOTALL)
TOKEN = re.compile(r"""(?:(?:(?<=[:=|])|(?<!\S))(?:"[^"]*"|'[^']*')|\S)+""")


def layer_sources(text: str, folder: Path) -> list[str]:
    """Return the sources in a text, absolute, with relative paths taken from a folder."""
    if not text.strip():
        return []
    head = text.strip().partition("|")[0]
    if re.search(r"\s", head) and Path(folder, head).is_file():
        tokens = [text.strip()]
    else:
        tokens = [_unquoted(match.group()) for match in TOKEN.finditer(text)]
    sources: list[str] = []
    for token in tokens:
        path = Path(folder, token)
        if path.suffix.lower() in LISTS and path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            sources += [line.strip() for line in lines if line.strip() and line[0] != "#"]
        else:
            sources.append(token)
    return [_checked(_absolute(source, folder)) for source in sources]


def _unquoted(token: str) -> str:
    match = re.match(r"""(["'])(.*?)\1(.*)""", token, re.DOTALL)
    return match.group(2) + match.group(3) if match else token


def _absolute(source: str, folder: Path) -> str:
    if source.startswith("qgis:"):
        return str(_qgis_data()) + "/" + source.removeprefix("qgis:").lstrip("/")
    match = QUOTED_FILE.fullmatch(source)
    if match:
        prefix, file, rest = match.groups()
        return f'{prefix}"{_joined(file, folder)}"{rest}'
    match = BARE_FILE.fullmatch(source)
    if match and Path(folder, match.group(2)).exists():
        prefix, file, rest = match.groups()
        return f'{prefix}"{_joined(file, folder)}"{rest}'
    file, bar, rest = source.partition("|")
    if _is_path(file, folder):
        return _joined(file, folder) + bar + rest
    return source


def _joined(file: str, folder: Path) -> str:
    return file if file.startswith("/") else str((folder / file).resolve())


def _is_path(file: str, folder: Path) -> bool:
    return Path(folder, file).exists() or not re.search(r"[:=?]", file)


def _qgis_data() -> Path:
    from qgis.core import QgsApplication

    QgsApplication.setPrefixPath("/usr", True)
    return Path(QgsApplication.pkgDataPath(), "resources", "data")


def _checked(source: str) -> str:
    file = source.partition("|")[0]
    if file.startswith("/") and not file.startswith("/vsi") and not Path(file).exists():
        raise FailureError(f"There is no file {file}; look at LAYERS.", WRONG_USE)
    return source
