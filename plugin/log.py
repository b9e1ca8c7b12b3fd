# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends the package's logging to QGIS's message log, in a tab of its own."""

from __future__ import annotations

import logging

from qgis.core import Qgis, QgsMessageLog

TAB = "Geo-OLM"
_ROOT = __name__.split(".")[0]


class MessageLogHandler(logging.Handler):
    """Writes log records to QGIS's message log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; its level becomes QGIS's."""
        level = Qgis.MessageLevel.Info
        if record.levelno >= logging.ERROR:
            level = Qgis.MessageLevel.Critical
        elif record.levelno >= logging.WARNING:
            level = Qgis.MessageLevel.Warning
        QgsMessageLog.logMessage(self.format(record), TAB, level, False)


def attach(debug: bool) -> MessageLogHandler:
    """Start logging; with `debug` prompts and replies are written too. Returns the handler."""
    handler = MessageLogHandler()
    logger = logging.getLogger(_ROOT)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if debug else logging.INFO)
    return handler


def detach(handler: MessageLogHandler) -> None:
    """Stop logging through this handler."""
    logging.getLogger(_ROOT).removeHandler(handler)
