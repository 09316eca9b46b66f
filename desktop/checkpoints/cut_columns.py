"""What is painted of a column that the edge of its table cuts: a part of a number would be taken for another."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from desktop.ui.tables import Index

_ELLIPSIS = "…"


class NumberDelegate(QStyledItemDelegate):
    """Numbers that are whole in what is seen of their cell, or an ellipsis where there is room for that."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        cell: QRect = option.rect  # type: ignore[attr-defined]
        seen = cell.intersected(self._table.viewport().rect())
        if seen.isEmpty() or seen.width() == cell.width():
            return
        option.rect = seen  # type: ignore[attr-defined]
        room = seen.width() - 2 * (self._table.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1)
        texts = (option.text, _ELLIPSIS, "")  # type: ignore[attr-defined]
        metrics = option.fontMetrics  # type: ignore[attr-defined]
        option.text = next(text for text in texts if not text or metrics.horizontalAdvance(text) <= room)  # type: ignore[attr-defined]


class SeenTitles(QHeaderView):
    """Titles in what is seen of their sections."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QPainter, rect: QRect, logical_index: int) -> None:
        super().paintSection(painter, rect.intersected(self.viewport().rect()), logical_index)


def keep_numbers_whole(table: QTableView) -> None:
    """Paint all again whenever it is scrolled sideways: Qt moves what it has painted."""
    table.setHorizontalHeader(SeenTitles(table))
    scrolled = table.horizontalScrollBar().valueChanged
    scrolled.connect(lambda _value: table.viewport().update())
    scrolled.connect(lambda _value: table.horizontalHeader().viewport().update())
