# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a scheduler may be contacted: this machine's always, others by the user's word."""

from __future__ import annotations

from ..egress import gate_of, ledger
from ..llm.address import is_loopback, shown
from ..llm.holding import Held
from ..settings import Settings
from .job import BatchError

PURPOSE = "batch"
_SCHEMES = ("tcp", "tls")


def checked(text: str, settings: Settings) -> str:
    """Return a scheduler's address as Dask takes it, "" for none, once it may be contacted.

    Workflow and inputs go there, so another machine needs the consent that a model's host needs;
    the contact is noted. Raises BatchError, ModelError (Offline is on, or no consent).
    """
    text = text.strip()
    if not text:
        return ""
    scheme, mark, place = text.partition("://")
    scheme, place = (scheme, place) if mark else ("tcp", text)
    try:
        url = f"http://{place}"
        host, local = shown(url), is_loopback(url)
    except ValueError:
        host = ""
    if scheme not in _SCHEMES or not host or not host.rpartition(":")[2].isdigit():
        raise BatchError(
            f'"{text}" is no address of a scheduler: write one such as tcp://host:8786.'
        )
    gate_of(settings).check(url, with_consent=True)
    if not local:
        try:
            ledger().begin(host, local, PURPOSE, scheme, "", 0, Held())
        except OSError as error:
            raise BatchError(
                f"What goes to {host} could not be noted, so nothing was sent. Make room in the "
                "profile's folder, then try again."
            ) from error
    return f"{scheme}://{host}"
