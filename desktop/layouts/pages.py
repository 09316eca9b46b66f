"""The middle of the window: the chart with its docks, or one page that has the whole window meanwhile."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStackedWidget, QWidget

from desktop.layouts.store import LAYOUT_VERSION
from desktop.ui.paint_in_turn import PaintInTurn


class Pages(QStackedWidget):
    """`currentChanged` is emitted with each page that is shown. The first is the chart's."""

    def __init__(self, window: QMainWindow, first: QWidget, docks: Iterable[QDockWidget]) -> None:
        super().__init__()
        self._window, self._docks = window, tuple(docks)
        self._painting = PaintInTurn(self)
        self._before: QByteArray | None = None
        """Saved places of the hidden docks; None while they are shown."""
        self.addWidget(first)

    def show_alone(self, page: QWidget) -> None:
        """Show this page, and hide the docks until another is shown."""
        if self.indexOf(page) < 0:
            self.addWidget(page)
        if self._before is None:
            self._before = self._window.saveState(LAYOUT_VERSION)
            for dock in self._docks:
                if not dock.isFloating():
                    dock.hide()
        self.setCurrentWidget(page)

    def show_first(self, *, restores_docks: bool = True) -> None:
        """Show the chart again, with the docks where they were; without `restores_docks` they stay as they are.

        The chart is painted first, and the docks in the frames after it.
        """
        before, self._before = self._before, None
        if before is None:
            return
        self.setCurrentIndex(0)
        if restores_docks:
            hidden = [dock for dock in self._docks if dock.isHidden()]
            self._window.restoreState(before, LAYOUT_VERSION)
            self._painting.hold(dock for dock in hidden if dock.isVisible())
