# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the exchanges by which the plugin reaches servers: each with the user's word on hosts
and the one ledger of what was sent."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from qgis.core import QgsNetworkAccessManager
from qgis.PyQt.QtNetwork import QNetworkProxy

from .llm.exchange import ExchangeFactory
from .llm.gate import Gate, hosts_of
from .llm.holding import AskKnown, nothing_known
from .llm.ledger import Ledger
from .llm.transport import qgis_exchange
from .llm.ward import DOWNLOAD, MODEL, PACKAGE, Ward
from .place import store_folder
from .settings import Settings


def gate_of(settings: Settings) -> Gate:
    """Return which hosts the settings let be contacted."""
    return Gate(settings.offline, hosts_of(settings.allowed_hosts))


def ledger() -> Ledger:
    """Return the ledger of this profile."""
    return _ledger(store_folder() / "ledger")


def model_exchange(settings: Settings, known: AskKnown = nothing_known) -> ExchangeFactory:
    """Return the maker of exchanges with a model, with the user's authentication applied.

    `known` gives, at each request, the names and values to look for in it.
    """
    return qgis_exchange(_ward(settings, MODEL, known), settings.auth_config)


def package_exchange(settings: Settings) -> ExchangeFactory:
    """Return the maker of exchanges with a package index."""
    return qgis_exchange(_ward(settings, PACKAGE))


def download_exchange(settings: Settings) -> ExchangeFactory:
    """Return the maker of exchanges that download models and programs."""
    return qgis_exchange(_ward(settings, DOWNLOAD))


def proxy_address() -> str:
    """Return QGIS's own HTTP proxy with its name and password, "" without one, for programs that
    know no other way to it."""
    proxy = QgsNetworkAccessManager.instance().fallbackProxy()
    kinds = QNetworkProxy.ProxyType
    if proxy.type() not in (kinds.HttpProxy, kinds.HttpCachingProxy) or not proxy.hostName():
        return ""
    word = f":{quote(proxy.password(), safe='')}" if proxy.password() else ""
    user = f"{quote(proxy.user(), safe='')}{word}@" if proxy.user() else ""
    return f"http://{user}{proxy.hostName()}:{proxy.port()}"


def _ward(settings: Settings, purpose: str, known: AskKnown = nothing_known) -> Ward:
    return Ward(gate_of(settings), ledger(), purpose, known)


@lru_cache(maxsize=4)
def _ledger(folder: Path) -> Ledger:
    return Ledger(folder)
