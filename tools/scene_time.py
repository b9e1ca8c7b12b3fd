# SPDX-License-Identifier: GPL-2.0-or-later
"""The dates of the bands of a netCDF cube, by its time axis."""

from __future__ import annotations

import datetime
import re

from osgeo import gdal

_UNITS = re.compile(r"^\s*(\w+) since (\d{4})-(\d{1,2})-(\d{1,2})")
_SECONDS = {"days": 86400, "day": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "")


def band_days(dataset: gdal.Dataset) -> list[datetime.date | None]:
    """Return the date of each band; None for all where nothing tells a time axis of a common
    calendar."""
    metadata = dataset.GetMetadata()
    units = _UNITS.match(metadata.get("time#units", ""))
    common = metadata.get("time#calendar", "").lower() in _CALENDARS
    step = _SECONDS.get(units.group(1).lower()) if units and common else None
    if units is None or step is None:
        return [None] * dataset.RasterCount
    start = datetime.datetime(*(int(one) for one in units.groups()[1:]))
    return [
        _day(dataset.GetRasterBand(number), start, step)
        for number in range(1, dataset.RasterCount + 1)
    ]


def _day(band: gdal.Band, start: datetime.datetime, step: int) -> datetime.date | None:
    text = band.GetMetadataItem("NETCDF_DIM_time")
    try:
        return (start + datetime.timedelta(seconds=float(text) * step)).date()
    except (TypeError, ValueError, OverflowError):
        return None
