# SPDX-License-Identifier: GPL-2.0-or-later
"""A graph as a Python script: an algorithm of Processing that can be read, changed and run.

QGIS writes the steps. Its scripts do not know the variables of a model's expressions and take
optional results for given; both are put right here, and a part is added by which a script runs
without a window.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from qgis.core import (
    Qgis,
    QgsExpression,
    QgsProcessing,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildParameterSource,
)

from ..workflow.graph import Graph
from .loss import Lost
from .model_out import LAYER_OUTPUTS, VARIABLE_MARKS, to_model
from .remainder import name_of

_INDENT, _LONGEST = 4, 60
_FROM = Qgis.ProcessingModelChildParameterSource
_MARK = "geo_olm_expression_"
_MARKED = re.compile(rf"\['{_MARK}(\d+)'(?:,(.*?))?\](,?)$", re.MULTILINE)
_RESULT = re.compile(r"parameters\[('[^']*:Result [^']*')\]")
_GIVEN = re.compile(r"^(\s*results\['[^']*'\] = outputs\['[^']*'\])\[('[^']*')\]$", re.MULTILINE)

_HEAD = """import json
import os
import sys

from qgis.core import QgsApplication
from qgis.core import QgsExpressionContext
from qgis.core import QgsExpressionContextScope
from qgis.core import QgsProcessingContext
from qgis.core import QgsProcessingException
from qgis.core import QgsProcessingFeedback
from qgis.core import QgsProcessingUtils

if __name__ == '__main__':
    application = QgsApplication([], False)
    application.initQgis()
    sys.path.append(os.path.join(QgsApplication.pkgDataPath(), 'python', 'plugins'))
    sys.path += [one for one in os.environ.get('QGIS_PLUGINPATH', '').split(os.pathsep) if one]

import processing


def evaluated(text, variables):
    # Returns the value of an expression over the results of steps.
    scope = QgsExpressionContextScope()
    for name, value in variables.items():
        scope.setVariable(name, value)
    expression = QgsExpression(text)
    context = QgsExpressionContext()
    context.appendScope(scope)
    value = expression.evaluate(context)
    if expression.hasEvalError():
        raise QgsProcessingException(expression.evalErrorString())
    return value
"""
_TAIL = """

def main():
    # Runs the algorithm over {"inputs": {...}}, JSON on standard input, and prints its results.
    from processing.core.Processing import Processing
    Processing.initialize()
    registry = QgsApplication.processingRegistry()
    if registry.providerById('geo_olm') is None:
        from geo_olm.plugin.provider import GeoOlmProvider
        registry.addProvider(GeoOlmProvider())
    given = json.load(sys.stdin)
    context = QgsProcessingContext()
    context.setEllipsoid(given.get('ellipsoid', 'EPSG:7030'))
    algorithm = CLASS()
    algorithm.initAlgorithm()
    inputs = {
        one.name(): one.defaultValue()
        for one in algorithm.parameterDefinitions()
        if one.defaultValue() is not None
    }
    inputs.update(given['inputs'])
    feedback = QgsProcessingFeedback(False)
    results, done = algorithm.run(inputs, context, feedback)
    print(json.dumps(results, default=str) if done else feedback.textLog())
    return 0 if done else 1


if __name__ == '__main__':
    code = main()
    sys.stdout.flush()
    os._exit(code)
"""


def to_script(graph: Graph, is_tool: Callable[[str], bool]) -> tuple[str, tuple[Lost, ...]]:
    """Return a script for the toolbox's "Create new script", and what it could not hold.

    It runs by itself too, with QGIS's Python: parameters as JSON on standard input, as
    qgis_process takes them. Main thread only. Raises TopologyError for a graph without an order.
    """
    model, lost = to_model(graph, is_tool)
    model.setName(_plain(name_of(graph)))
    model.setHelpContent({"ALG_DESC": graph.question.replace("\\", "/").replace('"', "'")})
    expressions = _marked(model)
    kind = QgsProcessing.PythonOutputType.PythonQgsProcessingAlgorithmSubclass
    text = "\n".join(model.asPythonCode(kind, _INDENT)) + "\n"
    text = _MARKED.sub(lambda found: _written(found, expressions), text)
    text = _RESULT.sub(r"parameters.get(\1)", text)
    text = _GIVEN.sub(r"\1.get(\2)", text)
    needed = "" if "import QgsExpression\n" in text else "from qgis.core import QgsExpression\n"
    text = text.replace("import processing\n", needed + _HEAD, 1)
    name = re.findall(r"^class (\w+)\(", text, re.MULTILINE)[0]
    return text + _TAIL.replace("CLASS", name), lost


def _plain(name: str) -> str:
    """Return a name of which a class can be called so."""
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    words = re.sub(r"\W+", " ", bare)[:_LONGEST].strip()
    return words if words[:1].isalpha() else f"Workflow {words}".strip()


def _marked(model: QgsProcessingModelAlgorithm) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Put a mark and the sources of its variables in place of each expression of a model.

    Return by the number of the mark the expression, and for each variable its name and whether it
    is a layer.
    """
    known = _variables(model)
    found: list[tuple[str, list[tuple[str, bool]]]] = []
    for child in model.childAlgorithms().values():
        for name, sources in child.parameterSources().items():
            if len(sources) != 1 or sources[0].source() != _FROM.Expression:
                continue
            text = sources[0].expression()
            used = sorted(one for one in QgsExpression(text).referencedVariables() if one in known)
            mark = QgsProcessingModelChildParameterSource.fromStaticValue(f"{_MARK}{len(found)}")
            found.append((text, [(one, known[one][1]) for one in used]))
            # A second mark keeps an expression without variables a list, as QGIS writes it.
            child.addParameterSources(name, [mark, *(known[one][0] for one in used), mark])
        model.setChildAlgorithm(child)
    return found


def _variables(
    model: QgsProcessingModelAlgorithm,
) -> dict[str, tuple[QgsProcessingModelChildParameterSource, bool]]:
    """Return by the names of a model's variables their sources, and whether they are layers."""
    source = QgsProcessingModelChildParameterSource
    found = {
        one.name(): (source.fromModelParameter(one.name()), False)
        for one in model.parameterDefinitions()
        if not one.isDestination()
    }
    for key, child in model.childAlgorithms().items():
        for one in child.algorithm().outputDefinitions():
            name = VARIABLE_MARKS.sub("_", f"{child.description()}_{one.name()}")
            made = source.fromChildOutput(key, one.name())
            found[name] = made, one.type() in LAYER_OUTPUTS
    return found


def _written(found: re.Match[str], expressions: list[tuple[str, list[tuple[str, bool]]]]) -> str:
    """Return the Python text of an expression over its variables."""
    text, names = expressions[int(found.group(1))]
    codes = found.group(2).split(",")[:-1]
    pairs = [
        f"{name!r}: QgsProcessingUtils.mapLayerFromString({code}, context)" if layer
        else f"{name!r}: {code}"
        for (name, layer), code in zip(names, codes)
    ]  # fmt: skip
    return f"evaluated({text!r}, {{{', '.join(pairs)}}}){found.group(3)}"
