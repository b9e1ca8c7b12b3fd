# SPDX-License-Identifier: GPL-2.0-or-later
"""The card that asks, once for each host, whether questions may leave this machine."""

from __future__ import annotations

from .card import MessageCard
from .model_view import Action
from .number import tr
from .outlet import Outlet
from .state_shape import Shape


def consent_card(outlet: Outlet, host: str) -> MessageCard:
    """Return the card that asks for consent; it has no default button."""
    text = tr(
        "The model at {0} is not on this machine. Your questions go there, with names of layers "
        "and fields, and values that the tools find. Layers and files themselves stay here. You "
        "can take this back in the options."
    )
    buttons = ((Action.ALLOW.value, tr("Allow")), (Action.REFUSE.value, tr("Refuse")))
    title = tr("Send data to {0}?").format(host)
    return MessageCard(outlet, Shape.WAITING, title, text.format(host), buttons)
