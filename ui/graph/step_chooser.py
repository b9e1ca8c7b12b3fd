# SPDX-License-Identifier: GPL-2.0-or-later
"""A small search that opens on the canvas and offers only the steps that fit there."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QObject, QPoint, QSize, Qt
from qgis.PyQt.QtGui import QBrush, QKeyEvent
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.fitting import PLURAL
from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.shelf import ALGORITHM
from ...tools.base import Family
from ..icon import theme_icon, tool_icon
from ..palette import em, muted
from .card import title
from .document import GraphDocument
from .join_command import Offer

_ROLE = int(Qt.ItemDataRole.UserRole)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_STEER = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class StepChooser(QFrame):
    """Enter takes the marked step, Esc closes."""

    def __init__(self, document: GraphDocument, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("GeoOlmStepChooser")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._document = document
        self._offer = Offer((), lambda step: None, lambda phrase: ())
        self.search = QLineEdit()
        self.search.setObjectName("GeoOlmChooserSearch")
        self.search.setPlaceholderText(self.tr("Search tools that fit…"))
        self.search.setAccessibleName(self.tr("Search tools that fit"))
        self.search.addAction(theme_icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.list = QTreeWidget()
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setObjectName("GeoOlmChooserList")
        self.list.setAccessibleName(self.tr("Steps that fit"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        hint = QLabel(self.tr("Enter inserts, Esc closes"))
        lines = QVBoxLayout(self)
        pad = round(em(self) * 0.5)
        lines.setContentsMargins(pad, pad, pad, pad)
        lines.setSpacing(pad)
        for widget in (self.search, self.list, hint):
            lines.addWidget(widget)
        self.search.textChanged.connect(self._fill)
        self.search.installEventFilter(self)
        self.list.itemClicked.connect(lambda item, _column: self._chosen(item))

    def offer(self, offer: Offer, place: QPoint) -> None:
        """Open at a place on the screen with steps to choose from."""
        self._offer = offer
        self.search.clear()
        self._fill("")
        self.resize(QSize(em(self) * 27, em(self) * 20))
        self.move(self._on_screen(place))
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Steer the list from the search."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in _ENTER:
                self._chosen(self.list.currentItem())
                return True
            if event.key() in _STEER:
                self.list.keyPressEvent(event)
                return True
        return bool(super().eventFilter(watched, event))

    def _fill(self, phrase: str) -> None:
        """Show the steps that have all words of a phrase, then algorithms that are found by it."""
        words = phrase.casefold().split()
        self.list.clear()
        for step in self._offer.steps:
            definition = self._document.tools.get(step.tool)
            about = definition.description if definition else step.objective
            name = title(self._document, step)
            if all(word in f"{name} {step.tool} {about}".casefold() for word in words):
                self._add(step, about)
        for step in self._offer.more(phrase) if words else ():
            self._add(step, str((step.parameters or {}).get(ALGORITHM, "")))
        self.list.setCurrentItem(self.list.topLevelItem(0))

    def _add(self, step: Vertex, about: str) -> None:
        item = QTreeWidgetItem(self.list, [title(self._document, step), self._kinds(step)])
        item.setData(0, _ROLE, step)
        item.setToolTip(0, about)
        algorithm = str((step.parameters or {}).get(ALGORITHM, ""))
        is_tool = bool(step.tool)
        item.setIcon(0, tool_icon(step.tool, algorithm) if is_tool else theme_icon("mActionPlay"))
        item.setForeground(1, QBrush(muted(self.palette())))

    def _kinds(self, step: Vertex) -> str:
        """Return what a step takes and gives: "polygons to a raster"."""
        document = self._document
        port = next(iter(document.ports(step).values()), None)
        gives = document.flow.given_by(step, document.graph)
        if port is None or gives is None:
            return self.tr("gives no layer") if gives is None else ""
        takes = self._short(port.kinds[0])
        if gives is Family.ANY:
            return self.tr("any {}").replace("{}", takes)
        return self.tr("{0} to {1}").replace("{0}", takes).replace("{1}", self._short(gives))

    def _short(self, family: Family) -> str:
        words = {
            Family.ANY: self.tr("layer"),
            Family.VECTOR: self.tr("vector"),
            Family.RASTER: self.tr("raster"),
            Family.TABLE: self.tr("table"),
        }
        return words.get(family, PLURAL[family])

    def _chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            step = item.data(0, _ROLE)
            self.close()
            self._offer.take(step)

    def _on_screen(self, place: QPoint) -> QPoint:
        screen = self.screen() if hasattr(self, "screen") else None
        if screen is None:
            return place
        room = screen.availableGeometry()
        x = min(place.x(), room.right() - self.width())
        y = min(place.y(), room.bottom() - self.height())
        return QPoint(max(x, room.left()), max(y, room.top()))
