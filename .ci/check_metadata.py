# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks metadata.txt against what the QGIS plugin repository asks of it."""

import configparser
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = (
    *("name", "description", "version", "qgisMinimumVersion", "author", "email", "about"),
    *("tracker", "repository", "homepage", "license"),
)
OPTIONAL = (
    *("changelog", "tags", "experimental", "deprecated", "icon", "category", "server"),
    *("hasProcessingProvider", "plugin_dependencies", "qgisMaximumVersion", "external_deps"),
)
LINKS = ("tracker", "repository", "homepage")
SERVICES = ("Ollama", "OpenAI", "llama.cpp")
FLAGS = ("experimental", "deprecated", "server", "hasProcessingProvider")


def read(path: Path) -> dict[str, str]:
    """Return the keys of [general]."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.optionxform = str  # type: ignore[assignment,method-assign]
    ini.read_string(path.read_text(encoding="utf-8"))
    return dict(ini["general"])


def faults(general: Mapping[str, str], root: Path) -> list[str]:
    """Return one sentence for each fault; none means that it is right."""
    found = [f"{key} is missing" for key in REQUIRED if not general.get(key, "").strip()]
    found += [f"{key} is no known key" for key in general if key not in REQUIRED + OPTIONAL]
    found += [f"{key} holds HTML" for key, text in general.items() if re.search(r"</?\w+>", text)]
    found += [
        f"{key} is neither yes/no nor true/false"
        for key in FLAGS
        if general.get(key, "no").lower() not in ("yes", "no", "true", "false")
    ]
    found += _text_faults(general) + _version_faults(general)
    found += [f"{key} is no https address" for key in LINKS if not _is_link(general.get(key, ""))]
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[a-z]+", general.get("email", "")):
        found.append("email is no address")
    if "icon" in general and not (root / general["icon"]).is_file():
        found.append(f"icon {general['icon']} is not there")
    if not (root / "LICENSE").is_file():
        found.append("LICENSE is not there")
    return found


def _text_faults(general: Mapping[str, str]) -> list[str]:
    found = []
    if "plugin" in general.get("name", "").lower():
        found.append('name holds the word "plugin"')
    if "/" in general.get("author", ""):
        found.append("author holds a slash")
    found += [
        f"{key} is not ASCII" for key in ("name", "version") if not general.get(key, "").isascii()
    ]
    missing = [name for name in SERVICES if name not in general.get("about", "")]
    if missing:
        found.append(f"about does not name {', '.join(missing)}")
    return found


def _version_faults(general: Mapping[str, str]) -> list[str]:
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", general.get("version", "")):
        found.append("version is not of the form 1.2.3")
    least, most = (general.get(f"qgis{end}imumVersion", "") for end in ("Min", "Max"))
    if not re.fullmatch(r"3\.\d+", least):
        found.append("qgisMinimumVersion is not of the form 3.x")
    if most != "4.99":
        found.append("qgisMaximumVersion is not 4.99")
    if "supportsQt6" in general:
        found.append("supportsQt6 is obsolete")
    return found


def _is_link(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme == "https" and bool(parts.hostname)


def placeholders(general: Mapping[str, str]) -> list[str]:
    """Return the keys that still stand under example.org."""
    return [key for key in (*LINKS, "email") if "example.org" in general.get(key, "")]


def main() -> int:
    """Print the faults, and what the owner has to replace before publishing."""
    general = read(ROOT / "metadata.txt")
    found = faults(general, ROOT)
    for fault in found:
        print(f"metadata.txt: {fault}", file=sys.stderr)
    waiting = placeholders(general)
    if waiting:
        print(f"metadata.txt: example.org to be replaced before publishing: {', '.join(waiting)}")
    print(f"metadata.txt: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
