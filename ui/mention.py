# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers and fields that "@" can name, found by what was typed, and the rows that offer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qgis.PyQt.QtCore import QAbstractListModel, QModelIndex, QRect, QSize, Qt
from qgis.PyQt.QtGui import QPainter, QPalette
from qgis.PyQt.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from .icon import layer_icon, own_icon
from .number import SPACE, count, crs, number, tr
from .palette import em, face, mix, muted

if TYPE_CHECKING:
    from ..tools.base import FieldProfile, LayerProfile

MOST = 30


@dataclass(frozen=True)
class Mention:
    """A name to insert after "@"; `icon` is a geometry, or "number" or "text" for a field."""

    text: str
    detail: str
    icon: str
    field: bool = False


def mentions(layers: tuple[LayerProfile, ...]) -> tuple[Mention, ...]:
    """Return all layers, then all their fields as "layer.field"."""
    found = [Mention(layer.key, _layer_detail(layer), _kind(layer)) for layer in layers]
    for layer in layers:
        for field in layer.fields:
            kind = "number" if field.type in ("integer", "real") else "text"
            text = f"{layer.key}.{field.name}"
            found.append(Mention(text, _field_detail(field), kind, field=True))
    return tuple(found)


def matching(known: tuple[Mention, ...], typed: str, most: int = MOST) -> tuple[Mention, ...]:
    """Return what fits the typed text: layers before fields, beginnings before parts of a name.

    Fields are offered once something is typed, so that "@" alone lists the layers.
    """
    low = typed.lower()
    ranked = []
    for order, mention in enumerate(known):
        name = mention.text.lower()
        if (mention.field and not low) or low not in name or (name == low and mention.field):
            continue
        begins = name.startswith(low) or name.rpartition(".")[2].startswith(low)
        ranked.append(((mention.field, not begins, order), mention))
    return tuple(mention for _, mention in sorted(ranked, key=lambda pair: pair[0])[:most])


def _kind(layer: LayerProfile) -> str:
    family = str(layer.family.value)
    return layer.geometry or family if family in ("any", "vector") else family


def _layer_detail(layer: LayerProfile) -> str:
    if layer.family == "raster":
        what = tr("{0} bands").format(len(layer.bands)) if len(layer.bands) > 1 else tr("raster")
    else:
        what = count(layer.features, _kind(layer)) if layer.features >= 0 else ""
    return " · ".join(part for part in (what, crs(layer.crs)) if part)


def _field_detail(field: FieldProfile) -> str:
    values = tr("{0} values").format(number(field.distinct)) if field.distinct else ""
    return " · ".join(part for part in (tr(field.type), values.replace(" ", SPACE)) if part)


class MentionModel(QAbstractListModel):
    """The rows of the completion list."""

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self._owner = owner
        self.rows: tuple[Mention, ...] = ()

    def show_rows(self, rows: tuple[Mention, ...]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | None = None) -> int:
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a row's name, icon or detail."""
        if not 0 <= index.row() < len(self.rows):
            return None
        row = self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.text}, {row.detail}"
        if role == Qt.ItemDataRole.UserRole:
            return row.detail
        if role == Qt.ItemDataRole.DecorationRole:
            if row.field:
                colour = muted(self._owner.palette())
                return own_icon(f"field_{row.icon}", colour)
            return layer_icon(row.icon)
        return None


class MentionDelegate(QStyledItemDelegate):
    """Draws icon and name at the start, the detail at the end of a row."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return a row of 2.1 em."""
        unit = em(option.widget)
        return QSize(unit * 16, round(unit * 2.1))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw a row; the name keeps its room before the detail."""
        unit, palette, roles = em(option.widget), option.palette, QPalette.ColorRole
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(option.rect, palette.color(roles.Highlight) if chosen else face(palette))
        ink = palette.color(roles.HighlightedText if chosen else roles.Text)
        faint = mix(ink, palette.color(roles.Highlight), 0.1) if chosen else muted(palette)
        side, box = round(unit * 1.25), option.rect.adjusted(unit // 2, 0, -(unit // 2), 0)
        icon = QRect(box.left(), box.center().y() - side // 2, side, side)
        index.data(Qt.ItemDataRole.DecorationRole).paint(painter, icon)
        box.setLeft(icon.right() + round(unit * 0.5))
        metrics = option.fontMetrics
        name, detail = index.data(), index.data(Qt.ItemDataRole.UserRole)
        needed = metrics.horizontalAdvance(name) + unit
        rest = max(0, box.width() - needed)
        middle, right = Qt.AlignmentFlag.AlignVCenter, Qt.TextElideMode.ElideRight
        painter.setPen(ink)
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, middle | Qt.AlignmentFlag.AlignLeft, shown)
        painter.setPen(faint)
        if rest > unit * 4:
            shown = metrics.elidedText(detail, right, rest)
            painter.drawText(box, middle | Qt.AlignmentFlag.AlignRight, shown)
        painter.restore()
