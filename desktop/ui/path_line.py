"""A line for a path: wide enough to be read, and its whole text in the tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop.ui.plain_text import paragraphs

_CHARACTERS = 56
"""Of /home/somebody/Downloads/binance-BTCUSDT-15m-2024.csv there are 53."""


class PathLine(QLineEdit):
    """A dialog around it is as wide as a usual path needs; on a small screen it may be narrower."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.textChanged.connect(lambda typed: self.setToolTip(paragraphs(typed)))
        self.setText(text)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return size.expandedTo(QSize(_CHARACTERS * self.fontMetrics().horizontalAdvance("n"), size.height()))
