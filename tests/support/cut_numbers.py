"""Finds partly hidden numbers on the screen: 980 reads as 98."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6 import QtGui
from PySide6.QtCore import QModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPixmap, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QComboBox,
    QDockWidget,
    QLabel,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop.ui.plain_text import ElidedLabel, with_whole_figures

_NUMBER = re.compile(r"\d")
_SLACK_PX = 1


def cut_numbers(root: QWidget) -> list[str]:
    """Cut numbers in `root`, in words; empty if all are readable."""
    shown = (each for each in (root, *root.findChildren(QWidget)) if each.isVisible() and not _is_behind_a_tab(each))
    return [words for widget in shown for words in _cut(widget)]


def _is_behind_a_tab(widget: QWidget) -> bool:
    while widget is not None and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return widget is not None and widget.visibleRegion().isEmpty()


def _cut(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, ElidedLabel):
        return  # it leaves whole words out, and says so with an ellipsis
    if isinstance(widget, QLabel):
        yield from _cut_label(widget)
    elif isinstance(widget, QAbstractItemView):
        yield from _cut_cells(widget)
    elif isinstance(widget, QAbstractButton | QComboBox):
        text = widget.currentText() if isinstance(widget, QComboBox) else widget.text()
        if _NUMBER.search(text) and widget.width() + _SLACK_PX < widget.minimumSizeHint().width():
            yield f"button {text!r}: {widget.width()} of {widget.minimumSizeHint().width()} px"


def _cut_label(label: QLabel) -> Iterator[str]:
    text = _words(label)
    if not _NUMBER.search(text):
        return
    place = _place_of_text(label)
    if not label.contentsRect().adjusted(-_SLACK_PX, -_SLACK_PX, _SLACK_PX, _SLACK_PX).contains(place):
        yield f"label {text!r}: {place.width()}x{place.height()} in {label.width()}x{label.height()} px"
    elif not _is_reachable(label, place):
        yield f"label {text!r}: outside of what can be seen or scrolled to"


def _place_of_text(label: QLabel) -> QRect:
    """Where the words are drawn, as Qt lays them out."""
    wrap = Qt.TextFlag.TextWordWrap if label.wordWrap() else Qt.TextFlag(0)
    text = with_whole_figures(_words(label))
    return label.fontMetrics().boundingRect(label.contentsRect(), int(label.alignment()) | int(wrap), text)


def _words(label: QLabel) -> str:
    """Without markup."""
    text = label.text()
    if not QtGui.Qt.mightBeRichText(text) or label.textFormat() is Qt.TextFormat.PlainText:
        return text
    document = QTextDocument()
    document.setHtml(text)
    return document.toPlainText()


def _is_reachable(label: QLabel, place: QRect) -> bool:
    """Whether no ancestor cuts it, but for one that scrolls down: what is scrolled across shows a part of a number."""
    rect, child = QRect(place), label
    while (parent := child.parentWidget()) is not None and not child.isWindow():
        rect.translate(child.pos())
        seen = parent.rect().adjusted(-_SLACK_PX, -_SLACK_PX, _SLACK_PX, _SLACK_PX)
        if rect.left() < seen.left() or rect.right() > seen.right():
            return False
        if _scrolls_down(parent):
            rect.moveTop(0)
            rect.setHeight(min(rect.height(), parent.height()))
        elif rect.top() < seen.top() or rect.bottom() > seen.bottom():
            return False
        child = parent
    return True


def _scrolls_down(view: QWidget) -> bool:
    """Whether this is the content of a scroll area."""
    area = view.parentWidget()
    if not isinstance(area, QAbstractScrollArea) or area.viewport() is not view:
        return False
    return area.verticalScrollBarPolicy() is not Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def _cut_cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if model is None or not isinstance(view, QTableView):
        return
    for row in range(min(model.rowCount(), 30)):
        for column in range(model.columnCount()):
            index = model.index(row, column)
            text = index.data(Qt.ItemDataRole.DisplayRole)
            if view.isColumnHidden(column) or not isinstance(text, str) or not _is_number(text):
                continue
            needed, has = _needed(view, index), view.columnWidth(column)
            if needed > has + _SLACK_PX:
                yield f"cell {row},{column} {text!r}: {has} of {needed} px"


def _is_number(text: str) -> bool:
    """A figure, not a sentence with one in it: those are elided by words."""
    return bool(_NUMBER.search(text)) and len(text.split()) <= 4


def _needed(view: QAbstractItemView, index: QModelIndex) -> int:
    option = QStyleOptionViewItem()
    view.initViewItemOption(option)
    font = index.data(Qt.ItemDataRole.FontRole)
    if font is not None:
        option.font = font
    margin = 2 * (view.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, view) + 1)
    return QFontMetrics(option.font).horizontalAdvance(index.data(Qt.ItemDataRole.DisplayRole)) + margin


def evenness(strip: QPixmap) -> float:
    """1 where all pixels are equally light, towards 0 where a letter is among them."""
    image = strip.toImage()
    lights = [image.pixelColor(x, 0).lightnessF() for x in range(image.width())]
    return 1.0 - (max(lights) - min(lights))
