# SPDX-License-Identifier: GPL-2.0-or-later
"""Every icon named in the code exists, and our drawings hold no colour of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor, QIcon

from geo_olm.ui import icon as icons
from geo_olm.ui.palette import contrast

ROOM = Path(icons.__file__).parent
NAMED = re.compile(
    r'"((?:algorithms/|propertyicons/)?(?:m(?:Action|Icon|Algorithm)\w+|search|'
    r'symbology|processing(?:Algorithm|Model)))"'
)


def theme_names() -> list[str]:
    names = {each for path in ROOM.glob("*.py") for each in NAMED.findall(path.read_text("utf-8"))}
    names |= {name for _, name in icons.TOOLS} | set(icons.FAMILIES.values())
    return sorted(names)


@pytest.mark.parametrize("name", theme_names())
def test_a_theme_icon_named_in_the_code_exists(qgis_app: object, name: str) -> None:
    assert not icons.theme_icon(name).isNull()


def test_the_search_for_names_finds_them() -> None:
    assert {"mActionEditCopy", "mActionUndo", "mIconRaster"} <= set(theme_names())


@pytest.mark.parametrize("path", sorted(icons.FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_our_drawings_take_the_palette_colour(path: Path) -> None:
    text = path.read_text("utf-8")
    colours = re.findall(r"#[0-9a-fA-F]{3,8}\b", text)
    assert 'viewBox="0 0 24 24"' in text
    if path.stem == "geo_olm":
        assert len(set(colours)) == 2
    else:
        assert colours == []
        assert "currentColor" in text


def test_a_drawing_is_drawn_in_the_colour_asked_for(qgis_app: object) -> None:
    picture = icons.own_icon("stop", QColor("#ff0000")).pixmap(QSize(24, 24)).toImage()
    assert picture.pixelColor(12, 12).name() == "#ff0000"
    assert picture.pixelColor(0, 0).alpha() == 0


@pytest.mark.parametrize("ground", ["#ffffff", "#efefef", "#323232", "#262626"])
def test_the_mark_can_be_seen_on_light_and_dark(qgis_app: object, ground: str) -> None:
    text = (icons.FOLDER / "geo_olm.svg").read_text("utf-8")
    for colour in set(re.findall(r"#[0-9a-fA-F]{6}\b", text)):
        assert contrast(QColor(colour), QColor(ground)) >= 2.9


def test_a_tool_takes_the_icon_of_its_algorithm(qgis_app: object) -> None:
    assert isinstance(icons.tool_icon("count", "native:nothing"), QIcon)
    assert not icons.tool_icon("anything").isNull()
