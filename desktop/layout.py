"""Where the window and its docks were: kept in a file of the data folder, and given back at the next start."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

LAYOUT_VERSION = 3
"""Grows when docks are added, renamed or removed: a layout of another version is not taken."""


class LayoutStore:
    """Reads and writes the layout file. A broken or missing one means the default layout, never an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def restore(self, window: QMainWindow) -> bool:
        """Put the window and its docks where they were. False where there is nothing to restore, or Qt refuses it.

        Call it once all docks exist.
        """
        settings = self._open()
        geometry, docks = settings.value("window/geometry"), settings.value("window/docks")
        if not isinstance(geometry, QByteArray) or not isinstance(docks, QByteArray):
            return False
        return window.restoreGeometry(geometry) and window.restoreState(docks, LAYOUT_VERSION)

    def save(self, window: QMainWindow) -> bool:
        """Write where they are now. False where the file cannot be written; nothing else depends on it."""
        settings = self._open()
        settings.setValue("window/geometry", window.saveGeometry())
        settings.setValue("window/docks", window.saveState(LAYOUT_VERSION))
        settings.sync()
        return settings.status() is QSettings.Status.NoError

    def forget(self) -> None:
        """Start with the default layout next time."""
        settings = self._open()
        settings.clear()
        settings.sync()

    def _open(self) -> QSettings:
        return QSettings(str(self._path), QSettings.Format.IniFormat)


def arrange_docks(
    window: QMainWindow,
    loss: QDockWidget,
    gradients: QDockWidget,
    accuracy: QDockWidget,
    best: QDockWidget,
    checkpoints: QDockWidget,
    incidents: QDockWidget,
    feed: QDockWidget,
    watchlist: QDockWidget,
) -> None:
    """The default. Right: loss before gradients and the watchlist, accuracy, the best checkpoint. Below the chart:
    checkpoints before incidents and the feed."""
    areas = Qt.DockWidgetArea
    window.setCorner(Qt.Corner.BottomRightCorner, areas.RightDockWidgetArea)
    window.setCorner(Qt.Corner.TopRightCorner, areas.RightDockWidgetArea)
    docks = (loss, gradients, accuracy, best, checkpoints, incidents, feed, watchlist)
    for dock in docks:
        dock.setFloating(False)
        window.removeDockWidget(dock)
    window.addDockWidget(areas.RightDockWidgetArea, loss)
    window.splitDockWidget(loss, accuracy, Qt.Orientation.Vertical)
    window.splitDockWidget(accuracy, best, Qt.Orientation.Vertical)
    window.tabifyDockWidget(loss, gradients)
    window.tabifyDockWidget(gradients, watchlist)
    window.addDockWidget(areas.BottomDockWidgetArea, checkpoints)
    window.tabifyDockWidget(checkpoints, incidents)
    window.tabifyDockWidget(incidents, feed)
    for dock in docks:
        dock.show()
    loss.raise_()
    checkpoints.raise_()
    size_docks(window, *docks)


def size_docks(window: QMainWindow, *docks: QDockWidget) -> None:
    """Sizes that fit the window it is in; they hold only once it is shown."""
    loss, _gradients, accuracy, best, checkpoints, *_others = docks
    width, height = window.width(), window.height()
    right = min(max(round(width * 0.315), 372), 520)
    bottom = min(max(round(height * 0.26), 180), 280)
    window.resizeDocks([loss], [right], Qt.Orientation.Horizontal)
    window.resizeDocks([checkpoints], [bottom], Qt.Orientation.Vertical)
    column = max(height - 110, 400)
    scores = min(max(round(0.42 * column), 206), 420)
    heights = [column - scores - 112, scores, 112]
    window.resizeDocks([loss, accuracy, best], heights, Qt.Orientation.Vertical)
