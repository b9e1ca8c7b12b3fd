# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes what the project's own QGIS profile needs into its ini and leaves the rest as it is.

The plugin is enabled; the first-run page, the news feed and the look for updates are off. QGIS
takes a plugin out of its profile when it was killed while it loaded it: this puts it in again.
"""

import configparser
import sys
from pathlib import Path

SETTINGS = {
    "PythonPlugins": {"geo_olm": "true", "processing": "true", "grassprovider": "false"},
    "migration": {"firstRunVersionFlag": "49900"},
    "qgis": {
        "checkVersion": "false",
        "askToSaveProjectChanges": "false",
        "walForSqlite3": "false",
    },
    "app": {r"news-feed\items\httpsfeedqgisorg\disabled": "true"},
    "plugin-manager": {"automatically-check-for-updates": "false"},
}

WATCHDOG = r"watchDogTimestamp\geo_olm"


def main(profile: str) -> None:
    """Merge SETTINGS into profiles/default/QGIS/QGIS3.ini below the profile root."""
    path = Path(profile, "profiles", "default", "QGIS", "QGIS3.ini")
    path.parent.mkdir(parents=True, exist_ok=True)
    ini = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=(";",), strict=False)
    ini.optionxform = str  # type: ignore[assignment,method-assign]
    ini.read(path, encoding="utf-8")
    changed = ini.remove_option("PythonPlugins", WATCHDOG) if "PythonPlugins" in ini else False
    for section, values in SETTINGS.items():
        if not ini.has_section(section):
            ini.add_section(section)
        for key, value in values.items():
            changed |= ini.get(section, key, fallback=None) != value
            ini.set(section, key, value)
    if not changed:
        return
    with path.open("w", encoding="utf-8") as file:
        ini.write(file, space_around_delimiters=False)


if __name__ == "__main__":
    main(sys.argv[1])
