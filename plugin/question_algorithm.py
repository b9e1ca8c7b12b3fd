# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Processing algorithms for questions share: their group, a model, a JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from .llm.base import Server


def tr(text: str) -> str:
    """Translate a text of these algorithms."""
    return QCoreApplication.translate("QuestionAlgorithm", text)


class QuestionAlgorithm(QgsProcessingAlgorithm):
    """An algorithm of the group of questions."""

    def group(self) -> str:  # noqa: D102
        return tr("Questions")

    def groupId(self) -> str:  # noqa: D102
        return "questions"

    def add_model(self, *advanced: QgsProcessingParameterDefinition) -> None:
        """Declare MODEL, and as advanced ones SERVER, BASE_URL and what else is given."""
        self.addParameter(QgsProcessingParameterString("MODEL", tr("Model"), optional=True))
        server = QgsProcessingParameterEnum(
            "SERVER",
            tr("Server"),
            [server.value for server in Server],
            defaultValue=Server.AUTO.value,
            optional=True,
        )
        server.setUsesStaticStrings(True)
        address = QgsProcessingParameterString("BASE_URL", tr("Server address"), optional=True)
        for parameter in (server, address, *advanced):
            parameter.setFlags(
                parameter.flags() | QgsProcessingParameterDefinition.Flag.FlagAdvanced
            )
            self.addParameter(parameter)

    def add_json(self, title: str) -> None:
        """Declare JSON, a file that is written only when it is named."""
        self.addParameter(
            QgsProcessingParameterFileDestination(
                "JSON", title, tr("JSON files (*.json)"), optional=True, createByDefault=False
            )
        )


def write_json(path: str, value: Any) -> None:
    """Write a value as JSON. Raises QgsProcessingException with a sentence."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise QgsProcessingException(
            tr("{} cannot be written: {}.").format(path, error.strerror or error)
        ) from error
