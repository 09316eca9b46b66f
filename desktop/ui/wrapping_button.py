"""A push button that says a whole sentence, on several lines where there is no room for one."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

from desktop.ui.plain_text import with_whole_figures

_TALL = 10_000


class WrappingButton(QPushButton):
    """As high as its text needs at the width that it gets; never wider than the text on one line."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        longest = max((self.fontMetrics().horizontalAdvance(word) for word in self._drawn().split(" ")), default=0)
        return QSize(longest + self._padding().width(), super().minimumSizeHint().height())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(width - self._padding().width(), 1), _TALL)
        text = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, self._drawn())
        return text.height() + self._padding().height()

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""  # type: ignore[attr-defined]  # PySide6's stubs lack it
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        self._paint_text(painter, option)
        painter.end()

    def _paint_text(self, painter: QPainter, option: QStyleOptionButton) -> None:
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        inner = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        room = self._padding().width() // 2
        inner = QRect(room, inner.top(), self.width() - 2 * room, inner.height())
        self.style().drawItemText(
            painter, inner, int(flags), self.palette(), self.isEnabled(), self._drawn(), QPalette.ColorRole.ButtonText
        )

    def _drawn(self) -> str:
        return with_whole_figures(self.text())

    def _padding(self) -> QSize:
        """What the style puts around one line."""
        metrics = self.fontMetrics()
        line = QSize(metrics.horizontalAdvance(self.text()), metrics.height())
        around = super().sizeHint() - line
        return QSize(max(around.width(), 8), max(around.height(), 4))
