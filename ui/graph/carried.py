# SPDX-License-Identifier: GPL-2.0-or-later
"""What is dragged onto the canvas: a step of the palette, layers of the project, or files."""

from __future__ import annotations

import json
from dataclasses import dataclass

from qgis.PyQt.QtCore import QByteArray, QMimeData, QXmlStreamReader

from ...plugin.workflow.form import FormError, read_vertex, vertex_form
from ...plugin.workflow.graph import Vertex
from .document import GraphDocument

STEP = "application/x-geo-olm-step"
LAYER = "application/x-geo-olm-layer"
LAYER_TREE = "application/qgis.layertreemodeldata"
URIS = "application/x-vnd.qgis.qgis.uri"
"""The form of QgsMimeDataUtils, in which QGIS's browser hands its items on."""


@dataclass(frozen=True)
class Carried:
    """A new step without an id, or layers by their keys, or sources that the project has not."""

    step: Vertex | None = None
    layers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that the canvas can take."""
        return self.step is None and not self.layers and not self.sources


def step_mime(step: Vertex) -> QMimeData:
    """Return a step of the palette as it is dragged."""
    mime = QMimeData()
    mime.setData(STEP, QByteArray(json.dumps({**vertex_form(step), "id": "new"}).encode()))
    return mime


def layer_mime(key: str) -> QMimeData:
    """Return a layer of the palette as it is dragged."""
    mime = QMimeData()
    mime.setData(LAYER, QByteArray(key.encode()))
    return mime


def carried(mime: QMimeData, document: GraphDocument) -> Carried:
    """Return what is dragged; nothing for what the canvas cannot take."""
    if mime.hasFormat(STEP):
        return Carried(step=_step(bytes(mime.data(STEP))))
    if mime.hasFormat(LAYER):
        return Carried(layers=(bytes(mime.data(LAYER)).decode(errors="replace"),))
    if mime.hasFormat(LAYER_TREE):
        return Carried(layers=_tree(mime.data(LAYER_TREE), document))
    if mime.hasFormat(URIS):
        return Carried(sources=_uris(bytes(mime.data(URIS))))
    files = tuple(one.toLocalFile() for one in mime.urls() if one.isLocalFile())
    return Carried(sources=files)


def _step(data: bytes) -> Vertex | None:
    try:
        form = json.loads(data.decode(errors="replace"))
        found = read_vertex(form, "step", lambda remark: None)
    except (ValueError, FormError):
        return None  # another program's data under our name
    return Vertex(
        "", found.agent, found.objective, found.tool, found.parameters, kind=found.kind,
        title=found.title,
    )  # fmt: skip


def _tree(data: QByteArray, document: GraphDocument) -> tuple[str, ...]:
    """Return the keys of the layers in a piece of QGIS's layer tree."""
    keys = {one.id: one.key for one in document.layers}
    reader = QXmlStreamReader(data)
    found: list[str] = []
    while not reader.atEnd():
        reader.readNext()
        if reader.isStartElement() and str(reader.name()) == "layer-tree-layer":
            given = reader.attributes()
            found.append(keys.get(str(given.value("id")), str(given.value("name"))))
    return tuple(dict.fromkeys(one for one in found if one))


def _uris(data: bytes) -> tuple[str, ...]:
    """Return what QGIS's browser drags, one text each, as it encodes it: with a length before each
    text, in UTF-16."""
    found: list[str] = []
    at = 0
    while at + 4 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if length == 0xFFFFFFFF:  # Qt's mark of a text that is not there
            continue
        found.append(data[at : at + length].decode("utf-16-be", errors="replace"))
        at += length
    return tuple(one for one in found if one)
