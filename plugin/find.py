# SPDX-License-Identifier: GPL-2.0-or-later
"""The Processing algorithm that finds algorithms by phrases, for people, batches and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputString,
    QgsProcessingParameterFile,
    QgsProcessingParameterString,
)
from qgis.PyQt.QtCore import QCoreApplication

from ..tools import search
from .question_algorithm import QuestionAlgorithm, write_json

_MOST_PHRASES = 100_000
_PROGRESS_EVERY = 20


def tr(text: str) -> str:
    """Translate a text of this algorithm."""
    return QCoreApplication.translate("FindAlgorithm", text)


class FindAlgorithm(QuestionAlgorithm):
    """Ranks every algorithm of the registry by what a phrase asks for, refused ones too: a person
    may run what no model is given."""

    def name(self) -> str:  # noqa: D102
        return "findalgorithm"

    def displayName(self) -> str:  # noqa: D102
        return tr("Find an algorithm")

    def shortHelpString(self) -> str:  # noqa: D102
        return tr(
            "Finds the algorithms that do what a phrase says, in English, Spanish, French or "
            "Turkish, best first. Nothing leaves this machine. A file holds a phrase a line, in "
            "UTF-8; JSON takes the first eight ids for each."
        )

    def createInstance(self) -> FindAlgorithm:  # noqa: D102
        return FindAlgorithm()

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:
        """Declare the parameters and outputs of the contract."""
        self.addParameter(QgsProcessingParameterString("PHRASE", tr("Phrase"), optional=True))
        self.addParameter(
            QgsProcessingParameterFile(
                "FILE",
                tr("File with a phrase a line"),
                QgsProcessingParameterFile.Behavior.File,
                optional=True,
            )
        )
        self.add_json(tr("Found algorithms"))
        self.addOutput(QgsProcessingOutputString("FOUND", tr("Found algorithms, a phrase a line")))

    def prepareAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> bool:
        """Read the registry, on the main thread."""
        self._search = search.live()
        return True

    def processAlgorithm(
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Rank the algorithms for each phrase. Raises QgsProcessingException with a sentence."""
        phrase = self.parameterAsString(parameters, "PHRASE", context).strip()
        path = self.parameterAsString(parameters, "FILE", context)
        phrases = ([phrase] if phrase else []) + (read_phrases(Path(path)) if path else [])
        if not phrases:
            raise QgsProcessingException(tr("Give a phrase, or a file with a phrase a line."))
        results: list[dict[str, Any]] = []
        for place, one in enumerate(phrases):
            if place % _PROGRESS_EVERY == 0:
                feedback.setProgress(100 * place / len(phrases))
                if feedback.isCanceled():
                    raise QgsProcessingException(tr("Stopped."))
            found = self._search.found(one, refused=True)
            results.append({"phrase": one, "ids": [match.id for match in found]})
        lines = [f"{one['phrase']}: {', '.join(one['ids'])}" for one in results]
        for line in lines[:_PROGRESS_EVERY]:
            feedback.pushInfo(line)
        target = self.parameterAsFileOutput(parameters, "JSON", context)
        if target:
            write_json(target, {"results": results})
        return {"JSON": target, "FOUND": "\n".join(lines)}


def read_phrases(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file that say something.

    Raises QgsProcessingException with a sentence for a file that cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise QgsProcessingException(
            tr("The file {} cannot be read: {}.").format(path, error.strerror or error)
        ) from error
    except UnicodeDecodeError as error:
        raise QgsProcessingException(
            tr("The file {} is not in UTF-8. Save it in that encoding.").format(path)
        ) from error
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise QgsProcessingException(tr("The file {} holds no phrase.").format(path))
    if len(found) > _MOST_PHRASES:
        raise QgsProcessingException(
            tr("The file {} holds {} phrases; {} are the most.").format(
                path, len(found), _MOST_PHRASES
            )
        )
    return found
