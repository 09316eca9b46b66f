"""Where the docks belong for what somebody is about to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from desktop.actions import ActionId
from desktop.interface_size import enlarged

Docks = Mapping[ActionId, QDockWidget]
Tabs = tuple[ActionId, ...]
"""Docks in one place; the first is in front."""
_RIGHT_SHARE, _RIGHT_PX = 0.315, (372, 520)
_LEAST_COLUMN_PX = 400
_AROUND_PX = 110
"""Of the window's height: menu, tool bar, status bar."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """right: from the top down, with the share of the column that each has; bottom: below the chart, whose height is a
    share of the window's within limits. What is in neither is closed."""

    right: tuple[tuple[Tabs, float], ...]
    bottom: Tabs = ()
    bottom_share: float = 0.26
    bottom_px: tuple[int, int] = (180, 280)

    @property
    def shown(self) -> frozenset[ActionId]:
        """All that are open."""
        return frozenset({*self.bottom, *(each for tabs, _share in self.right for each in tabs)})


_ID = ActionId
EVERYTHING = Arrangement(
    right=(
        ((_ID.SHOW_LOSS, _ID.SHOW_GRADIENTS, _ID.SHOW_WATCHLIST), 0.40),
        ((_ID.SHOW_ACCURACY,), 0.42),
        ((_ID.SHOW_BEST,), 0.18),
    ),
    bottom=(_ID.SHOW_CHECKPOINTS, _ID.SHOW_INCIDENTS, _ID.SHOW_FEED, _ID.SHOW_JOBS, _ID.SHOW_LOG),
)
"""The default."""
WATCH = Arrangement(right=(((_ID.SHOW_WATCHLIST, _ID.SHOW_FEED), 0.5), ((_ID.SHOW_ACCURACY,), 0.5)))
"""A large chart, prices beside it, and how good the ghosts have been."""
TRAIN = Arrangement(
    right=(((_ID.SHOW_LOSS,), 0.45), ((_ID.SHOW_GRADIENTS, _ID.SHOW_ACCURACY), 0.55)),
    bottom=(_ID.SHOW_INCIDENTS, _ID.SHOW_JOBS, _ID.SHOW_LOG, _ID.SHOW_CHECKPOINTS),
)
"""What each step did, and what went wrong."""
COMPARE = Arrangement(
    right=(((_ID.SHOW_ACCURACY, _ID.SHOW_LOSS), 0.8), ((_ID.SHOW_BEST,), 0.2)),
    bottom=(_ID.SHOW_CHECKPOINTS, _ID.SHOW_JOBS),
    bottom_share=0.45,
    bottom_px=(260, 620),
)
"""Room for the checkpoints, and what they are judged by."""


def arrange(window: QMainWindow, docks: Docks, arrangement: Arrangement) -> None:
    """Put all docks where the arrangement has them, and close the others."""
    areas = Qt.DockWidgetArea
    window.setCorner(Qt.Corner.BottomRightCorner, areas.RightDockWidgetArea)
    window.setCorner(Qt.Corner.TopRightCorner, areas.RightDockWidgetArea)
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    column = [docks[tabs[0]] for tabs, _share in arrangement.right]
    window.addDockWidget(areas.RightDockWidgetArea, column[0])
    for above, below in pairwise(column):
        window.splitDockWidget(above, below, Qt.Orientation.Vertical)
    if arrangement.bottom:
        window.addDockWidget(areas.BottomDockWidgetArea, docks[arrangement.bottom[0]])
    for tabs in (*(tabs for tabs, _share in arrangement.right), arrangement.bottom):
        _stack(window, [docks[each] for each in tabs])
    for each in docks.keys() - arrangement.shown:  # closed, but with a place to come back to
        window.addDockWidget(areas.RightDockWidgetArea, docks[each])
        window.tabifyDockWidget(column[0], docks[each])
        docks[each].hide()
    size(window, docks, arrangement)


def size(window: QMainWindow, docks: Docks, arrangement: Arrangement) -> None:
    """Sizes that fit the window it is in; they hold only once it is shown."""
    column = [docks[tabs[0]] for tabs, _share in arrangement.right]
    width, height = window.width(), window.height()
    right = _within(_RIGHT_SHARE * width, (_RIGHT_PX[0], enlarged(_RIGHT_PX[1])))
    window.resizeDocks([column[0]], [right], Qt.Orientation.Horizontal)
    if arrangement.bottom:
        bottom = _within(arrangement.bottom_share * height, arrangement.bottom_px)
        window.resizeDocks([docks[arrangement.bottom[0]]], [bottom], Qt.Orientation.Vertical)
    room = max(height - _AROUND_PX, _LEAST_COLUMN_PX)
    heights = [round(share * room) for _tabs, share in arrangement.right]
    window.resizeDocks(column, heights, Qt.Orientation.Vertical)


def scale(window: QMainWindow, docks: Iterable[QDockWidget], factor: float) -> None:
    """Give the docks beside the chart as much more or less room as their text has grown or shrunk by."""
    areas, directions = Qt.DockWidgetArea, Qt.Orientation
    shown = [dock for dock in docks if not dock.isFloating() and not dock.visibleRegion().isEmpty()]
    beside = [dock for dock in shown if window.dockWidgetArea(dock) is areas.RightDockWidgetArea]
    below = [dock for dock in shown if window.dockWidgetArea(dock) is areas.BottomDockWidgetArea]
    window.resizeDocks(beside, [round(factor * dock.width()) for dock in beside], directions.Horizontal)
    window.resizeDocks(below, [round(factor * dock.height()) for dock in below], directions.Vertical)


def _stack(window: QMainWindow, tabs: list[QDockWidget]) -> None:
    for under, over in pairwise(tabs):
        window.tabifyDockWidget(under, over)
    for dock in tabs:
        dock.show()
    if tabs:
        tabs[0].raise_()


def _within(size_px: float, limits: tuple[int, int]) -> int:
    return min(max(round(size_px), limits[0]), limits[1])


class DockToggle(QObject):
    """A dock's own action hides it whenever it is open, also where it lies unseen behind another tab: whoever asks for
    it there wants to see it."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._dock = dock
        self._is_seen = self._was_seen = False
        dock.visibilityChanged.connect(self._on_visibility)
        dock.toggleViewAction().triggered.connect(self._on_triggered)

    def _on_visibility(self, is_seen: bool) -> None:
        """It is told behind a tab too, and again when the dock is closed there."""
        self._was_seen, self._is_seen = self._is_seen, is_seen

    def _on_triggered(self, is_open: bool) -> None:
        """The dock has done its own part by then."""
        if is_open or not self._was_seen:
            self._dock.show()
            self._dock.raise_()
