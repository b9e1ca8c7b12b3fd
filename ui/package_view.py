# SPDX-License-Identifier: GPL-2.0-or-later
"""What the options page shows of the client packages: plain data, filled by who installs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PackageLine:
    """One package: its version ("" is not there), and whether it lies in the plugin's folder."""

    name: str
    version: str = ""
    own: bool = False


@dataclass(frozen=True)
class PackageView:
    """The packages as they are; `busy` while an installation runs.

    `progress` is the line of a running installation, `percent` the share done (-1 is unknown),
    `error` one sentence when the last one failed. `removable` tells that the plugin's own folder
    holds packages.
    """

    packages: tuple[PackageLine, ...] = ()
    busy: bool = False
    progress: str = ""
    percent: float = -1.0
    error: str = ""
    removable: bool = False
