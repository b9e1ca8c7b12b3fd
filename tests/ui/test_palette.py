# SPDX-License-Identifier: GPL-2.0-or-later
"""Colours can be read on both palettes, and follow the palette at run time."""

from __future__ import annotations

import pytest
from qgis.PyQt.QtGui import QColor, QGuiApplication, QPalette

from geo_olm.ui import palette as colours
from geo_olm.ui.palette import Tone

ROLES = QPalette.ColorRole


@pytest.fixture(params=["light", "dark"])
def either(request: pytest.FixtureRequest) -> QPalette:
    found: QPalette = request.getfixturevalue(request.param)
    return found


def test_the_contrast_of_black_and_white_is_21() -> None:
    assert colours.contrast(QColor("black"), QColor("white")) == pytest.approx(21)
    # WebAIM gives 4.54 for #767676 on white.
    assert colours.contrast(QColor("#767676"), QColor("#ffffff")) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("tone", list(Tone))
def test_every_state_colour_can_be_read_on_base_window_and_its_tint(
    either: QPalette, tone: Tone
) -> None:
    colour = colours.tone_colour(either, tone)
    for ground in (
        either.color(ROLES.Base),
        either.color(ROLES.Window),
        colours.tint(either, tone),
        colours.on_colour(either),
    ):
        assert colours.contrast(colour, ground) >= 4.5


def test_secondary_text_can_be_read(either: QPalette) -> None:
    for role in (ROLES.Base, ROLES.Window):
        assert colours.contrast(colours.muted(either), either.color(role)) >= 4.5


@pytest.mark.parametrize("agent", sorted(colours.AGENTS))
def test_every_agent_colour_can_be_read_on_base_in_its_palette(
    light: QPalette, dark: QPalette, agent: str
) -> None:
    for palette in (light, dark):
        ground = palette.color(ROLES.Base)
        assert colours.contrast(colours.agent_colour(palette, agent), ground) >= 4.4


def test_an_unknown_agent_takes_the_colour_of_data(light: QPalette) -> None:
    assert colours.agent_colour(light, "Nobody") == colours.agent_colour(light, "Data")


def test_the_window_decides_between_light_and_dark(light: QPalette, dark: QPalette) -> None:
    assert not colours.is_dark(light)
    assert colours.is_dark(dark)
    done = [colours.tone_colour(each, Tone.DONE).name() for each in (light, dark)]
    assert done == ["#065c40", "#2ddcad"]


def test_transparent_widgets_take_the_applications_background(either: QPalette) -> None:
    """QGIS's dark themes make widgets transparent; frames drawn on black could not be seen."""
    seen = QGuiApplication.palette()
    clear = QPalette(either)
    for role in (ROLES.Base, ROLES.Window):
        clear.setColor(role, QColor(0, 0, 0, 0))
    assert colours.face(clear) == seen.color(ROLES.Base)
    assert colours.is_dark(clear) == (seen.color(ROLES.Window).lightness() < 128)
    assert colours.face(either) == either.color(ROLES.Base)


def test_a_held_card_can_be_read_where_a_theme_leaves_the_alternate_base_light(
    dark: QPalette,
) -> None:
    dark.setColor(ROLES.AlternateBase, QColor("#f7f7f7"))
    text = dark.color(ROLES.Text)
    assert colours.contrast(colours.face(dark, held=True), text) >= 4.5
    assert colours.face(dark, held=True) != colours.face(dark)
