"""Where Tab goes in a window of docks."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QScrollArea, QWidget


def dock_of(widget: QWidget | None) -> QDockWidget | None:
    """The dock that it lies in."""
    while widget is not None and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return widget


def is_behind(widget: QWidget) -> bool:
    """Whether it lies in a dock behind another's tab. Qt calls such a dock visible, and Tab would go through it."""
    dock = dock_of(widget)
    return dock is not None and dock.visibleRegion().isEmpty()


def float_dock_of(widget: QWidget | None) -> bool:
    """Take its dock out of the window, or put it back, and leave it the keys. False where it is in none."""
    dock = dock_of(widget)
    if dock is None or widget is None:
        return False
    dock.setFloating(not dock.isFloating())
    dock.activateWindow()
    widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
    return True


def scroll_to(widget: QWidget) -> None:
    """Bring it into view where it lies in something that scrolls."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
