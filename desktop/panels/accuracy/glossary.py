"""Words of the Accuracy panel lead to their meaning in docs/glossary.md."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

ROWS = ("coverage", "coverage", *["skill"] * 4, "direction")
"""Anchors of the rows of `TERMS`."""


class GlossaryLinks(QObject):
    """A click on a linked label emits `chosen` with its anchor. The labels stay plain text, as outside text may be in
    them."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._anchors: dict[QObject, str] = {}

    def link(self, label: QWidget, anchor: str) -> None:
        self._anchors[label] = anchor
        label.setCursor(Qt.CursorShape.PointingHandCursor)
        label.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.button() is Qt.MouseButton.LeftButton and watched in self._anchors:
            if event.type() is QEvent.Type.MouseButtonRelease:
                self.chosen.emit(self._anchors[watched])
            return True
        return super().eventFilter(watched, event)
