"""Accessible descriptions of painted widgets, which Qt cannot describe."""

from __future__ import annotations

import weakref

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QComboBox, QGraphicsView, QWidget

from core.domain.plain_text import plain
from desktop.ui.plain_text import LONGEST_TEXT


class _Picture(QAccessibleWidget):
    """A chart, with what its `in_words()` says as its description: what is to be seen on it now, in sentences. That is
    asked only when somebody listens."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget, QAccessible.Role.Chart)
        self._shown = weakref.ref(widget)  # Qt keeps what describes a widget for longer than the widget lives

    def text(self, kind: QAccessible.Text) -> str:
        shown = self._shown()
        in_words = getattr(shown, "in_words", None)
        return str(in_words()) if in_words and kind is QAccessible.Text.Description else super().text(kind)


def _of_painted(_class_name: str, thing: QObject) -> QAccessibleInterface | None:
    is_painted = isinstance(thing, QWidget) and (isinstance(thing, QGraphicsView) or hasattr(thing, "in_words"))
    return _Picture(thing) if is_painted else None  # type: ignore[arg-type]


def describe_painted() -> None:
    """Let painted widgets speak, from now to the end of the process. To be called once."""
    QAccessible.installFactory(_of_painted)


def announce(widget: QWidget, text: str) -> None:
    """Have a text read out at once, where a screen reader listens."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, plain(text, LONGEST_TEXT)))


def name_box(box: QComboBox, name: str) -> None:
    """Name a combo box without a label. On Linux Qt exposes the choice in place of the name, so
    that the name is set as the description too."""
    box.setAccessibleName(name)
    box.setAccessibleDescription(name)
