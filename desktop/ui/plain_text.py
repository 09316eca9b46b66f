"""Widgets that show text literally. Qt interprets text that looks like HTML, reads the files that it names, and lays
out any length; text from outside must not cause that. Nor may a line end between a number and its unit. Lines without
enough room are shortened by whole words.

Everywhere else `QLabel`, `QMessageBox` and `QToolTip` are banned (ruff's TID251), and a test holds tooltips to
`paragraphs`.
"""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from core.domain.plain_text import plain
from desktop.ui.translation import translate

LONGEST_TEXT = 600
"""Characters of a label or a painted sentence: longer than any text of ours, short enough to be laid out at once."""
_LONGEST_TOOLTIP = 4_000
_ONE_LINE = 80
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_BEFORE_A_UNIT = re.compile(r"(?<=[0-9][KMBT]) (?=[^\W\d_])|(?<=[0-9]) (?=[^\W\d_]|[%°])|(?<=[0-9KMBT] of) (?=[0-9])")
"""A number, a space, and a word or a sign: “12 candles”, “1.2K candles”, “97 %”; and both spaces of “12 of 1,008”."""


def with_whole_figures(text: str) -> str:
    """The text for a widget that breaks lines: no line ends between a number and its unit."""
    return _BEFORE_A_UNIT.sub(_NO_BREAK_SPACE, text)


def with_usual_spaces(text: str) -> str:
    return text.replace(_NO_BREAK_SPACE, " ")


def words_with_whole_figures(text: str) -> list[str]:
    """The words of a text for a caller that breaks lines itself: a number and its unit are one word."""
    words = with_whole_figures(" ".join(text.split())).split(" ")
    return [with_usual_spaces(word) for word in words if word]


class Label(QLabel):
    """Shows its text literally, its figures whole; for our own markup, set `RichText` and escape the inserted texts."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
        wraps: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(alignment)
        self.setWordWrap(wraps)
        self.setText(text)

    def setText(self, text: str) -> None:
        is_plain = self.textFormat() is Qt.TextFormat.PlainText
        super().setText(with_whole_figures(plain(text, LONGEST_TEXT) if is_plain else text))

    def text(self) -> str:
        return with_usual_spaces(super().text())


class WrappedLabel(Label):
    """Never lower than its text at the width that it has: a layout measured for a shorter text would cut it above and
    below. A dialog around it grows."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text, wraps=True)

    def setText(self, text: str) -> None:
        super().setText(text)
        self._keep_its_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_its_height()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._keep_its_height()

    def _keep_its_height(self) -> None:
        self.setMinimumHeight(0)  # else Qt answers with at least the height that it had
        self.setMinimumHeight(max(0, self.heightForWidth(self.width())) if self.text() else 0)


class TextView(QPlainTextEdit):
    """A text that is read and copied. Tab leaves it."""

    def __init__(self, name: str, placeholder: str = "") -> None:
        """name: what a screen reader calls it; placeholder: shown while there is no text."""
        super().__init__(readOnly=True, tabChangesFocus=True, placeholderText=placeholder)
        self.setAccessibleName(name)
        self._shown = ""
        """The text as set: the box's own text has other spaces."""

    def show_text(self, text: str) -> None:
        """Set the text. An equal one changes neither the scroll position nor the selection."""
        if text != self._shown:
            self._shown = text
            self.setPlainText(text)


class MessageBox(QMessageBox):
    """Shows a question or a message literally. Qt guesses the format of its informative text, which is ours."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str) -> None:
        is_plain = self.textFormat() is Qt.TextFormat.PlainText
        super().setText(with_whole_figures(plain(text, LONGEST_TEXT) if is_plain else text))

    def text(self) -> str:
        return with_usual_spaces(super().text())


def paragraphs(text: str) -> str:
    """A tooltip's text, one paragraph per line, so that Qt breaks its lines, which it does not in plain text. A short
    line that cannot be markup is unchanged."""
    shown = plain(text, _LONGEST_TOOLTIP)
    lines = shown.splitlines()
    if len(shown) <= _ONE_LINE and len(lines) < 2 and not {"<", "&"} & set(shown):
        return shown
    return "".join(f"<p>{with_whole_figures(html.escape(line, quote=False))}</p>" for line in lines)


def set_tooltip(widget: QWidget, text: str) -> None:
    """Set a tooltip whose lines Qt breaks."""
    widget.setToolTip(paragraphs(text))


def show_tooltip(place: QPoint, text: str, widget: QWidget, area: QRect | None = None) -> None:
    """A tooltip for a part of a painted widget, at a place on the screen; an empty text hides it."""
    QToolTip.showText(place, paragraphs(text), widget, area or QRect())


class ElidedLabel(Label):
    """Single-line label, elided at word boundaries so that numbers are never cut. The tooltip has all of it."""

    def __init__(self) -> None:
        super().__init__()
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
    """Shortens the sentences of a table as `ElidedLabel` does."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        widget: QWidget = option.widget  # type: ignore[attr-defined]
        margin = widget.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, widget) + 1
        room = option.rect.width() - 2 * margin  # type: ignore[attr-defined]
        option.text = elided_by_words(option.text, option.fontMetrics, room)  # type: ignore[attr-defined]


def elided_by_words(text: str, metrics: QFontMetrics, width: int) -> str:
    """As many whole words as fit, with an ellipsis if some do not."""
    words = with_whole_figures(text).split(" ")
    while len(words) > 1 and metrics.horizontalAdvance(text) > width:
        words.pop()
        text = " ".join(words) + " …"
    text = with_usual_spaces(text)
    if metrics.horizontalAdvance(text) <= width:  # Qt counts fractions of a pixel, and would take a character off
        return text
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
