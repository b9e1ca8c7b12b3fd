# SPDX-License-Identifier: GPL-2.0-or-later
"""Which algorithms are never offered, each with its reason.

Rules over what an algorithm says of itself come first; names stand only for what it does not say.
"""

from __future__ import annotations

from qgis.core import Qgis, QgsProcessingAlgorithm, QgsProcessingParameterDefinition

KNOWN_PROVIDERS = frozenset({"native", "qgis", "gdal", "3d", "pdal", "grass", "grass7", "otb"})
"""Providers whose algorithms are checked by the rules here; others may do anything."""

NETWORK = "sends data over the network"
CODE = "runs code or a database statement"
DEVICE = "talks to a device"
DATABASE = "connects to a database or a server"
IN_PLACE = "changes a layer, a file or the project in place"
ELSEWHERE = "writes files outside the temporary folder"
INSIDE_MODELS = "works only inside a model"
OTHER_PLUGIN = "comes from another plugin, so what it does is not known"

NAMED = {
    "filedownloader": NETWORK,
    "httprequest": NETWORK,
    "openurl": NETWORK,
    "batchnominatimgeocoder": NETWORK,
    "downloadvectortiles": NETWORK,
    "downloadgpsdata": DEVICE,
    "uploadgpsdata": DEVICE,
    "executesql": CODE,
    "spatialiteexecutesql": CODE,
    "spatialiteexecutesqlregistered": CODE,
    "postgisexecutesql": CODE,
    "postgisexecuteandloadsql": CODE,
    "advancedpythonfieldcalculator": CODE,
    "rastercalculator": CODE,
    "repairshapefile": IN_PLACE,
    "extractprojection": ELSEWHERE,
    "alignrasters": ELSEWHERE,
    "atlaslayouttoimage": ELSEWHERE,
    "atlaslayouttomultiplepdf": ELSEWHERE,
    "importintospatialite": DATABASE,
}
"""Names without their provider, so that no id of a certain version stands in the code."""

_DATABASE_TYPES = {"authcfg", "providerconnection", "databaseschema", "databasetable"}
_LAYER_OUTPUTS = {"outputVector", "outputRaster", "outputLayer", "outputMultilayer"}
COMMAND_TEXT = frozenset({"EXTRA", "OPTIONS", "CREATION_OPTIONS", "CREATE_OPTIONS"})
"""Parameters that pass free text to a program; they are left at their defaults everywhere."""


def refused(algorithm: QgsProcessingAlgorithm) -> str:
    """Return why an algorithm is never offered, "" when it is. Any thread."""
    if algorithm.name() in NAMED:
        return NAMED[algorithm.name()]
    provider = algorithm.provider()
    if provider is None or provider.id() not in KNOWN_PROVIDERS:
        return OTHER_PLUGIN
    flags = algorithm.flags()
    if flags & Qgis.ProcessingAlgorithmFlag.SecurityRisk:
        return CODE
    if flags & Qgis.ProcessingAlgorithmFlag.HideFromToolbox:
        return INSIDE_MODELS
    definitions = algorithm.parameterDefinitions()
    if any(item.type() in _DATABASE_TYPES for item in definitions):
        return DATABASE
    if algorithm.name().startswith("importvectorinto"):
        return DATABASE
    if not algorithm.destinationParameterDefinitions() and _acts(algorithm):
        return IN_PLACE
    return ""


def _acts(algorithm: QgsProcessingAlgorithm) -> bool:
    """Tell whether an algorithm that makes no new layer gives nothing but layers, or nothing."""
    outputs = {item.type() for item in algorithm.outputDefinitions()}
    return not outputs or bool(outputs & _LAYER_OUTPUTS)


def is_hidden(definition: QgsProcessingParameterDefinition) -> bool:
    """Tell whether a parameter is never shown to a model."""
    hidden = Qgis.ProcessingParameterFlag.Hidden
    return definition.name() in COMMAND_TEXT or bool(definition.flags() & hidden)
