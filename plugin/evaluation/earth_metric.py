# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of the Earth-observation tasks: errors of data points, recall, accuracy, F1.

The papers name them and give no formula; these are the readings in GeoLLM-Squad's manner.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Hashable, Iterable, Mapping

APPLICATIONS = ("Agriculture", "Climate", "Urban", "Forest")

Points = Mapping[Hashable, float]
"""Values by the points that they belong to."""


def error_percent(prompts: Iterable[tuple[Points, Points]]) -> float | None:
    """Return the mean-square percentage error of the found points to the expected ones.

    Each prompt is a pair of found and expected points. A missing point counts as an error of 1;
    for an expected 0 any other value does. The mean is taken over points, then over prompts that
    expect any; None without one. Wrong values can take it above 100.
    """
    means = [
        statistics.fmean(_error(found.get(point), value) for point, value in expected.items())
        for found, expected in prompts
        if expected
    ]
    return 100 * statistics.fmean(means) if means else None


def _error(found: float | None, expected: float) -> float:
    if found is None:
        return 1.0
    if expected == 0:
        return float(found != 0)
    return float(((found - expected) / expected) ** 2)


def errors_by_application(
    prompts: Iterable[tuple[str, Points, Points]],
) -> dict[str, float | None]:
    """Return the error percentage of each application; prompts begin with its name."""
    known = list(prompts)
    return {
        name: error_percent((found, expected) for own, found, expected in known if own == name)
        for name in APPLICATIONS
    }


def recall(found: Collection[Hashable], expected: Collection[Hashable]) -> float | None:
    """Return the share of expected detections that were found; None when none is expected."""
    wanted = set(expected)
    return len(wanted & set(found)) / len(wanted) if wanted else None


def land_cover_accuracy(
    found: Mapping[Hashable, Collection[str]], expected: Mapping[Hashable, Collection[str]]
) -> float | None:
    """Return the share of expected labels of images that were given; each maps image to classes."""
    return recall(_labels(found), _labels(expected))


def _labels(images: Mapping[Hashable, Collection[str]]) -> set[tuple[Hashable, str]]:
    return {(image, name) for image, names in images.items() for name in names}


def detection_f1(found: Collection[Hashable], expected: Collection[Hashable]) -> float | None:
    """Return the F1 score of found detections; None when none is expected and none was found."""
    have, wanted = set(found), set(expected)
    whole = len(have) + len(wanted)
    return 2 * len(have & wanted) / whole if whole else None
