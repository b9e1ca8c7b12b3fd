# SPDX-License-Identifier: GPL-2.0-or-later
"""The report and the table of the made-up earthquake, both labelled as made up."""

from __future__ import annotations

import csv
from pathlib import Path

from .earthquake import CITIES, DAYS, Scenario
from .setting import Setting

COLUMNS = ("city", "image_date", "buildings_total", "buildings_damaged", "pct_damaged",
           "population_affected", "source_page")  # fmt: skip
"""The columns in which the published table of the real study may be typed in too."""
MADE_UP = "made up"
_HEAD = (
    "# Damage after a made-up earthquake\n\n"
    "Everything in this report is made up for tests. The towns carry the names of real ones; no "
    "number is of the real event of February 2023.\n\n"
    "## Method\n\n"
    "Footprints of buildings were laid over classes of damage at one metre. A building counts as "
    "damaged when any cell of its footprint is. People are those of blocks of 100 m that hold a "
    "damaged building.\n"
)


def write_report(setting: Setting, scenario: Scenario) -> None:
    """Write report.md and table.csv beside the layers of the study."""
    parts = [_HEAD]
    for city in CITIES:
        told = [
            f"On the image of {day}, {scenario.damaged(city, day)} of {scenario.total(city)} "
            f"buildings were damaged ({scenario.percent(city, day):.2f} %); "
            f"{scenario.affected(city, day):.0f} people live in the blocks that were hit."
            for day in DAYS
        ]
        parts.append(f"## {city}\n\n" + "\n\n".join(told) + "\n")
    report = setting.place("earthquake", "report.md")
    report.write_text("\n".join(parts), encoding="utf-8")
    _write_table(setting.place("earthquake", "table.csv"), scenario)


def _write_table(path: Path, scenario: Scenario) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for city in CITIES:
            for day in DAYS:
                table.writerow((
                    city, day, scenario.total(city), scenario.damaged(city, day),
                    f"{scenario.percent(city, day):.4f}", f"{scenario.affected(city, day):.1f}",
                    MADE_UP,
                ))  # fmt: skip
