"""Arrangements of the docks for a purpose, and the order of Tab among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabBar, QWidget
from shiboken6 import isValid

from desktop.actions import ActionId
from desktop.ui.interface_size import InterfaceSize, enlarged, interface_factor

Docks = Mapping[ActionId, QDockWidget]
Tabs = tuple[ActionId, ...]
"""Docks in one place; the first is in front."""
_RIGHT_SHARE, _RIGHT_PX = 0.315, (372, 520)
_LEAST_COLUMN_PX = 400
_TURNS = 5
_USUAL_PX = "usual_px"
_HEIGHTS_PX = "heights_px"
"""Property of a dock in the right column: the window's last size with each text size, and the dock's height then."""
_ROOM_FOR_COLUMN = QSize(760, 440)
_AROUND_PX = 110
"""Height of menu, tool bar and status bar."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """right: from the top down, with the share of the column that each has; bottom: below the chart, whose height is a
    share of the window's within limits. in_front: where all lie behind tabs; None: the first. Other docks are closed.
    """

    right: tuple[tuple[Tabs, float], ...]
    bottom: Tabs = ()
    bottom_share: float = 0.26
    bottom_px: tuple[int, int] = (180, 280)
    in_front: ActionId | None = None

    @property
    def shown(self) -> frozenset[ActionId]:
        return frozenset({*self.bottom, *(each for tabs, _share in self.right for each in tabs)})


_ID = ActionId
WATCH = Arrangement(
    right=(((_ID.SHOW_MARKETS,), 0.4), ((_ID.SHOW_ACCURACY,), 0.6)),
    in_front=_ID.SHOW_ACCURACY,
)
"""The default: a large chart, prices beside it, and how good the ghosts have been."""
TRAIN = Arrangement(
    right=(((_ID.SHOW_LOSS,), 0.45), ((_ID.SHOW_GRADIENTS, _ID.SHOW_ACCURACY), 0.55)),
    bottom=(_ID.SHOW_EVENTS, _ID.SHOW_CHECKPOINTS),
)
"""The effect of each step, and the failures."""
COMPARE = Arrangement(
    right=(((_ID.SHOW_ACCURACY, _ID.SHOW_LOSS), 1.0),),
    bottom=(_ID.SHOW_CHECKPOINTS,),
    bottom_share=0.45,
    bottom_px=(260, 620),
)
"""Room for the checkpoints, and their measures."""
_WIDE = (_ID.SHOW_CHECKPOINTS, _ID.SHOW_EVENTS, _ID.SHOW_JOBS)
"""Docks with tables open below the chart, if an arrangement has no other place for them."""


def arrange(window: QMainWindow, docks: Docks, arrangement: Arrangement) -> None:
    """Put the docks of the arrangement in their places, and close the others."""
    arrangement, areas = _fitted(arrangement, window), Qt.DockWidgetArea
    window.setCorner(Qt.Corner.BottomRightCorner, areas.RightDockWidgetArea)
    window.setCorner(Qt.Corner.TopRightCorner, areas.RightDockWidgetArea)
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
        dock.setParent(window)  # it still is Qt's: PySide takes it for Python's, and could delete it a second time
    (first, *others), bottom = [tabs for tabs, _share in arrangement.right], arrangement.bottom
    closed = [each for each in docks if each not in arrangement.shown]
    right = [(*first, *(each for each in closed if each not in _WIDE)), *others]
    below = (*bottom, *(each for each in closed if each in _WIDE))
    column = [docks[tabs[0]] for tabs in right]
    window.addDockWidget(areas.RightDockWidgetArea, column[0])
    for above, under in pairwise(column):
        window.splitDockWidget(above, under, Qt.Orientation.Vertical)
    window.addDockWidget(areas.BottomDockWidgetArea, docks[below[0]])
    for tabs in (*right, below):
        for one, next_one in pairwise([docks[each] for each in tabs]):
            window.tabifyDockWidget(one, next_one)
        for each in tabs:
            docks[each].setVisible(each in arrangement.shown)
        docks[tabs[0]].raise_()
    size(window, docks, arrangement)


def size(window: QMainWindow, docks: Docks, arrangement: Arrangement) -> None:
    """Set sizes that fit the dock's window; they hold only once it is shown."""
    forget_sizes(docks.values())
    arrangement = _fitted(arrangement, window)
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


def has_room(window: QMainWindow) -> bool:
    """Whether the docks as they are arranged fit on the window's screen."""
    room, needed = window.screen().availableSize(), window.minimumSizeHint()
    return needed.width() <= room.width() and needed.height() <= room.height()


def _fitted(arrangement: Arrangement, window: QMainWindow) -> Arrangement:
    """Without room for docks above each other, all lie behind tabs beside the chart."""
    room = window.size() if window.isVisible() else window.screen().availableSize()
    if room.width() >= enlarged(_ROOM_FOR_COLUMN.width()) and room.height() >= enlarged(_ROOM_FOR_COLUMN.height()):
        return arrangement
    tabs = (*(each for tabs, _share in arrangement.right for each in tabs), *arrangement.bottom)
    return Arrangement(right=((tuple(sorted(tabs, key=lambda tab: tab is not arrangement.in_front)), 1.0),))


class DockSizes(QObject):
    """Scales docks with the size of text, and restores their sizes afterwards. As larger text may need more than its
    share, the size with usual text is the reference, until the user or an arrangement sets another. Heights in the
    right column share the window's: if this text size was used before in a window of this size, its heights are
    restored, as larger text without room compresses some docks."""

    def __init__(self, window: QMainWindow, docks: Iterable[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._docks = window, tuple(docks)
        self._text: InterfaceSize | None = None
        self._turns_left = 0
        """Turns of the event loop until bars, and then the column, have their heights for a new text size."""
        self._noting = QTimer(self, singleShot=True)  # not amid the window's layout
        self._noting.timeout.connect(self._update_heights)
        self._noting.start()
        for dock in self._docks:
            dock.installEventFilter(self)

    def follow(self, text: InterfaceSize) -> None:
        """Scale the docks whenever the size of text changes."""
        self._text = text
        text.changing.connect(self.store)
        text.changed.connect(self.scale)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
                forget_sizes(self._docks)
            self._noting.start()
        return False

    def store(self) -> None:
        """Store the sizes before text grows or shrinks: afterwards, docks too narrow for the text have widened
        already."""
        for docks, direction in self._sides():
            for dock in (each for each in docks if each.property(_USUAL_PX) is None):
                now_px = dock.width() if direction is Qt.Orientation.Horizontal else self._height(dock)
                for each in (dock, *self._window.tabifiedDockWidgets(dock)):  # one that lies behind it may come forth
                    each.setProperty(_USUAL_PX, now_px / interface_factor())

    def scale(self) -> None:
        """Resize the docks for the new size of text."""
        for docks, direction in self._sides():
            stored = [(dock, dock.property(_USUAL_PX)) for dock in docks]
            sizes = [(dock, round(usual_px * interface_factor())) for dock, usual_px in stored if usual_px is not None]
            self._window.resizeDocks([dock for dock, _ in sizes], [size_px for _, size_px in sizes], direction)
        self._turns_left = _TURNS
        self._noting.start()

    def _update_heights(self) -> None:
        """Restore the heights after text has grown or shrunk, or store the current ones."""
        if self._text is not None and self._text.is_settling:
            return
        if self._turns_left > 0:
            is_done = self._restore_heights()
            self._turns_left = 0 if is_done else self._turns_left - 1
            self._noting.start()
            return
        window_px, text_size = [self._window.width(), self._window.height()], _text_size()
        for dock in self._column():
            for each in (dock, *self._window.tabifiedDockWidgets(dock)):
                each.setProperty(_HEIGHTS_PX, {**_heights_of(each), text_size: [*window_px, self._height(dock)]})

    def _restore_heights(self) -> bool:
        """Restore the heights stored for this window size. False: the docks do not share its height yet."""
        column, window_px = self._column(), [self._window.width(), self._window.height()]
        noted = [_heights_of(dock).get(_text_size(), [0, 0, 0]) for dock in column]
        heights = [height_px for *of_window_px, height_px in noted if of_window_px == window_px]
        if len(heights) < len(column):
            return True
        if is_time := sum(heights) == sum(map(self._height, column)):
            self._window.resizeDocks(column, heights, Qt.Orientation.Vertical)
        return is_time

    def _height(self, dock: QDockWidget) -> int:
        """A dock's height with the tabs below it, as `resizeDocks` counts."""
        below = dock.geometry().bottomLeft() + QPoint(1, 2)
        bars = self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        tabs = (bar.height() for bar in bars if bar.isVisible() and bar.geometry().contains(below))
        return dock.height() + next(tabs, 0)

    def _sides(self) -> Iterator[tuple[list[QDockWidget], Qt.Orientation]]:
        yield self._column(), Qt.Orientation.Horizontal
        yield self._shown_in(Qt.DockWidgetArea.BottomDockWidgetArea), Qt.Orientation.Vertical

    def _column(self) -> list[QDockWidget]:
        return self._shown_in(Qt.DockWidgetArea.RightDockWidgetArea)

    def _shown_in(self, area: Qt.DockWidgetArea) -> list[QDockWidget]:
        shown = (dock for dock in self._docks if not dock.isFloating() and not dock.visibleRegion().isEmpty())
        return [dock for dock in shown if self._window.dockWidgetArea(dock) is area]


def forget_sizes(docks: Iterable[QDockWidget]) -> None:
    """Drop the stored sizes of docks that were resized."""
    for dock in docks:
        dock.setProperty(_USUAL_PX, None)
        dock.setProperty(_HEIGHTS_PX, None)


def _text_size() -> str:
    return f"{interface_factor():g}"


def _heights_of(dock: QDockWidget) -> dict[str, list[int]]:
    noted: dict[str, list[int]] | None = dock.property(_HEIGHTS_PX)
    return noted or {}


def _within(size_px: float, limits: tuple[int, int]) -> int:
    return min(max(round(size_px), limits[0]), limits[1])


def open_dock(window: QMainWindow, dock: QDockWidget, *, was_closed: bool) -> None:
    """Show it in front of docks in the same place. One that opens alone below the chart gets the usual height."""
    below = Qt.DockWidgetArea.BottomDockWidgetArea
    others = (each for each in window.findChildren(QDockWidget) if each is not dock and each.isVisible())
    dock.show()
    dock.raise_()
    if not was_closed or dock.isFloating() or window.dockWidgetArea(dock) is not below:
        return
    if not any(window.dockWidgetArea(each) is below for each in others):
        size_px = _within(WATCH.bottom_share * window.height(), WATCH.bottom_px)
        window.resizeDocks([dock], [size_px], Qt.Orientation.Vertical)


class DockToggle(QObject):
    """A dock's own action would hide it whenever it is open, even behind another tab, when the user wants to see it."""

    def __init__(self, window: QMainWindow, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._window, self._dock = window, dock
        self._is_seen = self._was_seen = False
        dock.visibilityChanged.connect(self._on_visibility)
        dock.toggleViewAction().triggered.connect(self._on_triggered)

    def _on_visibility(self, is_seen: bool) -> None:
        """Qt calls this for a dock behind a tab too, and again when the dock is closed there."""
        self._was_seen, self._is_seen = self._is_seen, is_seen
        if not isValid(self._window):  # Qt hides the docks once more while it deletes the window
            return
        for bar in self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            # Qt leaves those without a second tab outside the window, where Tab would still stop at them.
            bar.setFocusPolicy(Qt.FocusPolicy.TabFocus if bar.count() > 1 else Qt.FocusPolicy.NoFocus)

    def _on_triggered(self, is_open: bool) -> None:
        """Called after the dock has shown or hidden itself."""
        if is_open or not self._was_seen:
            open_dock(self._window, self._dock, was_closed=is_open)


def dock_of(widget: QWidget | None) -> QDockWidget | None:
    while widget is not None and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return widget


def is_behind(widget: QWidget) -> bool:
    """Whether it lies in a dock behind another's tab. Qt calls such a dock visible, and Tab would go through it."""
    dock = dock_of(widget)
    return dock is not None and dock.visibleRegion().isEmpty()


def float_dock_of(widget: QWidget | None) -> bool:
    """Float its dock, or dock it again, with the keyboard focus still in it. False without a dock."""
    dock = dock_of(widget)
    if dock is None or widget is None:
        return False
    dock.setFloating(not dock.isFloating())
    dock.activateWindow()
    widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
    return True
