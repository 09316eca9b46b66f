"""A theme changes the style of the whole application: this restores it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication


@contextmanager
def restored_style(application: QApplication) -> Iterator[None]:
    """Only what has changed is set: each change makes Qt update all widgets."""
    palette, font, style = QPalette(application.palette()), QFont(application.font()), application.style().objectName()
    hints = application.styleHints()
    scheme, quits = hints.colorScheme(), application.quitOnLastWindowClosed()
    yield
    application.setQuitOnLastWindowClosed(quits)
    if hints.colorScheme() is not scheme:
        hints.unsetColorScheme()
    if application.style().objectName() != style:
        application.setStyle(style)
    if application.palette() != palette:
        application.setPalette(palette)
    if application.font() != font:
        application.setFont(font)
