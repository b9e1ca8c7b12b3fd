# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which hosts may be contacted: this machine always, others unless Offline is on, and a
model's host only once the user has allowed it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from .address import is_loopback, shown
from .base import ModelError

VARIABLE = "GEO_OLM_SET_ALLOWED_HOSTS"
_LOG = logging.getLogger(__name__)


class OfflineRefused(ModelError):
    """Offline is on, and the address is not on this machine."""

    def __init__(self, host: str) -> None:
        super().__init__(f"Offline is on, so {host} was not contacted.")
        self.host = host


class ConsentNeeded(ModelError):
    """The user has not yet allowed that questions go to this host."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is not on this machine, so nothing was sent to it. Allow it in the options, "
            f"or set {VARIABLE}={host}."
        )
        self.host = host


@dataclass(frozen=True)
class Gate:
    """The user's word on hosts; `allowed` are hosts with their port, as address.shown gives."""

    offline: bool = False
    allowed: frozenset[str] = frozenset()

    def check(self, url: str, with_consent: bool) -> None:
        """Let an address pass; `with_consent` asks for the user's word on its host too.

        Raises OfflineRefused and ConsentNeeded.
        """
        if is_loopback(url):
            return
        host = shown(url)
        if self.offline:
            raise OfflineRefused(host)
        if with_consent and host not in self.allowed:
            raise ConsentNeeded(host)


def hosts_of(lines: str) -> frozenset[str]:
    """Return the hosts of a setting: one a line, or parted by commas; addresses count too."""
    found = set()
    for word in _listed(lines):
        try:
            found.add(shown(word))
        except ValueError as error:
            _LOG.warning("a host that is allowed was left out: %s", error)
    return frozenset(found)


def with_host(lines: str, host: str) -> str:
    """Return the setting with one more host."""
    return "\n".join(dict.fromkeys((*_listed(lines), host)))


def _listed(lines: str) -> list[str]:
    return lines.replace(",", " ").split()
