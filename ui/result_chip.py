# SPDX-License-Identifier: GPL-2.0-or-later
"""A layer that an answer made, as a chip: click selects it, a double click zooms to it."""

from __future__ import annotations

from qgis.PyQt.QtCore import QRectF, QSize, Qt
from qgis.PyQt.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QIcon,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from qgis.PyQt.QtWidgets import QAbstractButton, QMenu, QSizePolicy

from ..plugin.agent.event import LayerReference
from .icon import layer_icon, theme_icon
from .number import count, crs, number, plain_tip
from .outlet import Outlet
from .palette import em, face, line, muted

WIDEST = 20


class ResultChip(QAbstractButton):
    """Icon, name and count of a layer; struck through once the layer is removed."""

    def __init__(self, outlet: Outlet, layer: LayerReference, temporary: bool = False) -> None:
        super().__init__()
        self.setObjectName("GeoOlmResultChip")
        self.layer_id, self.removed, self.temporary = layer.id, False, temporary
        self._outlet, self._layer = outlet, layer
        self._icon: QIcon = layer_icon(layer.geometry)
        self._count = number(layer.features) if layer.features >= 0 else ""
        what = count(layer.features, layer.geometry)
        self.setAccessibleName(f"{layer.name}, {what}")
        self.setToolTip(plain_tip("\n".join(filter(None, (layer.name, what, crs(layer.crs))))))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda: outlet.layer_activated.emit(layer.id))

    def mark_removed(self) -> None:
        """Show that the layer is no longer in the project."""
        self.removed = True
        self.setEnabled(False)
        self.setAccessibleName(self.tr("{0}, removed").format(self._layer.name))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size that icon, name and count need, at most 20 em wide."""
        unit = em(self)
        wide = QFontMetrics(self._font()).horizontalAdvance(self._layer.name)
        wide += QFontMetrics(self.font()).horizontalAdvance(self._count)
        return QSize(min(round(wide + unit * 3.6), unit * WIDEST), round(unit * 1.9))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Zoom to the layer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._outlet.layer_zoom_requested.emit(self.layer_id)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the layer."""
        menu = self.menu()
        menu.popup(event.globalPos())

    def menu(self) -> QMenu:
        """Return the menu of the layer, deleted when it closes."""
        menu = QMenu(self)
        menu.setObjectName("GeoOlmResultMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name, text, signal in (
            ("mActionZoomToLayer", self.tr("Zoom to the layer"), "layer_zoom_requested"),
            ("mActionOpenTable", self.tr("Open the table"), "layer_table_requested"),
            ("mActionRemoveLayer", self.tr("Remove from the project"), "layer_removal_requested"),
        ):
            if signal == "layer_table_requested" and self._layer.features < 0:
                continue
            emit = getattr(self._outlet, signal).emit
            action = menu.addAction(theme_icon(name), text)
            action.setObjectName(f"GeoOlm_{signal}")
            action.triggered.connect(lambda _=False, emit=emit: emit(self.layer_id))
        if self.temporary:
            keep = menu.addAction(theme_icon("mActionFileSave"), self.tr("Keep…"))
            keep.setObjectName("GeoOlm_keep_requested")
            keep.triggered.connect(lambda: self._outlet.keep_requested.emit((self.layer_id,)))
            menu.insertAction(menu.actions()[-2], keep)
        return menu

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chip."""
        painter, palette, unit = QPainter(self), self.palette(), em(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        roles = QPalette.ColorRole
        edge = palette.color(roles.Highlight) if self.hasFocus() else line(palette)
        painter.setPen(QPen(edge, unit * 0.12 if self.hasFocus() else 1))
        held = self.isDown() or self.underMouse()
        painter.setBrush(face(palette, held))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        side, middle = round(unit * 1.25), self.height() / 2
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        start = self.width() - unit * 0.7 - side if mirrored else unit * 0.7
        picture = QRectF(start, middle - side / 2, side, side).toRect()
        self._icon.paint(painter, picture)
        counted = QFontMetrics(self.font()).horizontalAdvance(self._count)
        room = self.width() - unit * 3.4 - counted
        left = unit * 1.1 + counted if mirrored else unit * 2.3
        painter.setFont(self._font())
        painter.setPen(muted(palette) if self.removed else palette.color(roles.Text))
        metrics = QFontMetrics(self._font())
        name = metrics.elidedText(self._layer.name, Qt.TextElideMode.ElideMiddle, int(room) + 1)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(QRectF(left, 0, room, self.height()), flags, name)
        painter.setFont(self.font())
        painter.setPen(muted(palette))
        end = unit * 0.7 if mirrored else self.width() - unit * 0.7 - counted
        painter.drawText(QRectF(end, 0, counted + 1, self.height()), flags, self._count)

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        font.setStrikeOut(self.removed)
        return font
