"""Lines that are shortened where there is no room for all of them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.ui.plain_text import Label, with_usual_spaces, with_whole_figures
from desktop.ui.tables import Index
from desktop.ui.translation import translate


class ElidedLabel(Label):
    """One line that is shortened by whole words where there is no room: half a number would be another one, and one
    without its unit none. The tooltip has all of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(
            self.fontMetrics().horizontalAdvance(translate("Panels", "Reconnecting…")),
            super().minimumSizeHint().height(),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        text = elided_by_words(self.text(), self.fontMetrics(), self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


class ElidedCells(QStyledItemDelegate):
    """The same for the sentences of a table."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        widget: QWidget = option.widget  # type: ignore[attr-defined]
        margin = widget.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, widget) + 1
        room = option.rect.width() - 2 * margin  # type: ignore[attr-defined]
        option.text = elided_by_words(option.text, option.fontMetrics, room)  # type: ignore[attr-defined]


def elided_by_words(text: str, metrics: QFontMetrics, width: int) -> str:
    """As many whole words as fit, with an ellipsis where some do not."""
    words = with_whole_figures(text).split(" ")
    while len(words) > 1 and metrics.horizontalAdvance(text) > width:
        words.pop()
        text = " ".join(words) + " …"
    text = with_usual_spaces(text)
    if metrics.horizontalAdvance(text) <= width:  # Qt counts fractions of a pixel, and would take a character off
        return text
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
