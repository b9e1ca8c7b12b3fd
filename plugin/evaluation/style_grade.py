# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades a style from its QML: the renderer, the field and the number of classes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qgis.PyQt.QtXml import QDomDocument, QDomElement

RENDERERS = {
    "graduated": "graduatedSymbol",
    "categorised": "categorizedSymbol",
    "categorized": "categorizedSymbol",
    "single": "singleSymbol",
    "rule-based": "RuleRenderer",
    "heatmap": "heatmapRenderer",
}
CLASSES = {"graduatedSymbol": ("ranges", "range"), "categorizedSymbol": ("categories", "category")}


def _renderer(path: str) -> QDomElement:
    document = QDomDocument()
    document.setContent(Path(path).read_text(encoding="utf-8"))
    return document.documentElement().firstChildElement("renderer-v2")


def _takes_all_others(item: QDomElement) -> bool:
    return item.attribute("type") == "NULL" or (
        item.attribute("value") == "" and item.attribute("type") != "List"
    )


def _class_count(renderer: QDomElement) -> int:
    """Count classes; the category without a value, which takes all others, is none."""
    group, tag = CLASSES.get(renderer.attribute("type"), ("", ""))
    if not group:
        return 1
    item, count = renderer.firstChildElement(group).firstChildElement(tag), 0
    while not item.isNull():
        count += tag == "range" or not _takes_all_others(item)
        item = item.nextSiblingElement(tag)
    return count


def _plain_field(attribute: str) -> str:
    quoted = len(attribute) > 1 and attribute.startswith('"') and attribute.endswith('"')
    return attribute[1:-1].replace('""', '"') if quoted else attribute


def _mode(renderer: QDomElement) -> str:
    method = renderer.firstChildElement("classificationMethod").attribute("id")
    return method or renderer.attribute("graduatedMethod")


def style_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    """Judge a style file against renderer, field, number of classes and classification mode."""
    renderer = _renderer(path)
    if renderer.isNull():
        return ["it is no style of a vector layer"]
    misses, wanted = [], RENDERERS.get(expect["renderer"], expect["renderer"])
    if renderer.attribute("type") != wanted:
        misses.append(f"the renderer is {renderer.attribute('type')} instead of {wanted}")
    found = _plain_field(renderer.attribute("attr"))
    if "field" in expect and found != expect["field"]:
        misses.append(f"it is coloured by '{found}' instead of '{expect['field']}'")
    if "classes" in expect and _class_count(renderer) != expect["classes"]:
        misses.append(f"it has {_class_count(renderer)} classes instead of {expect['classes']}")
    if "mode" in expect and _mode(renderer).casefold() != expect["mode"].casefold():
        misses.append(f"its classes are made by {_mode(renderer)} instead of {expect['mode']}")
    return misses
