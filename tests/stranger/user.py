"""Drives the program by mouse and keyboard only: none of its slots or methods is called."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from types import coroutine

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPixmap, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.stranger import screen
from tests.stranger.screen import Spot

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
_BEAT_MS = 20
"""Between two actions of the user."""
_LOOK_MS = 50
_DESKTOP_MS = 150
"""Time until a desktop activates a new window."""
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Beat:
    """A step of a story: its action, and the pause before the next one."""

    milliseconds: int
    action: Callable[[], object] | None = None


class NotSeenError(AssertionError):
    """The text or element did not appear on the screen."""


@coroutine
def pause(milliseconds: int) -> Generator[Beat, None, None]:
    """Let the program run."""
    yield Beat(milliseconds)


@coroutine
def act(action: Callable[[], object]) -> Generator[Beat, None, None]:
    """Start an action and continue after a beat even if it is still running: an open menu may run a nested event loop
    until an item is chosen."""
    yield Beat(_BEAT_MS, action)


class User:
    """Actions of a person. Screenshots go to `album`, named by step."""

    def __init__(self, album: Path) -> None:
        self.album = album
        album.mkdir(parents=True, exist_ok=True)

    async def until(self, condition: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until the condition holds."""
        until_s = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > until_s:
                raise NotSeenError(f"waited {patience_s:.0f} s for {what}; on the screen:\n{screen.words_on_screen()}")
            await pause(_LOOK_MS)

    async def read(self, *texts: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until all these texts are on the screen."""
        for text in texts:
            await self.until(lambda text=text: text in screen.words_on_screen(), f"“{text}”", patience_s)

    async def spot(self, text: str, within: str | None = None, patience_s: float = PATIENCE_S) -> Spot:
        """Wait for an enabled element with this text."""
        found: list[Spot] = []

        def look() -> bool:
            found[:] = [each for each in screen.find(text, within) if each.is_enabled]
            return bool(found)

        await self.until(look, f"“{text}” to click on{f' in {within}' if within else ''}", patience_s)
        return found[0]

    async def click(
        self,
        text: str,
        within: str | None = None,
        button: Qt.MouseButton = LEFT,
        keys: Qt.KeyboardModifier = PLAIN,
    ) -> None:
        """Click on the element with this text."""
        await self.click_on(await self.spot(text, within), button, keys)

    async def click_on(self, spot: Spot, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = PLAIN) -> None:
        """Click on a spot."""
        await self.click_at(spot.widget, spot.middle, button, keys)

    async def click_at(
        self, widget: QWidget, place: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = PLAIN
    ) -> None:
        """Click at a place of a widget, through the window system: anything that covers it gets the click."""
        await self.point_at(widget, place)
        window, at = _on_window(widget, place)
        await act(lambda: QTest.mouseClick(window, button, keys, at))

    async def double_click(self, text: str, within: str | None = None) -> None:
        """Double-click on the element with this text."""
        spot = await self.spot(text, within)
        window, at = _on_window(spot.widget, spot.middle)
        await act(lambda: QTest.mouseMove(window, at))
        await act(lambda: QTest.mouseDClick(window, LEFT, PLAIN, at))

    async def point_at(self, widget: QWidget, place: QPoint) -> None:
        """Move the mouse there."""
        window, at = _on_window(widget, place)
        await act(lambda: QTest.mouseMove(window, at))

    async def drag(self, widget: QWidget, start: QPoint, end: QPoint) -> None:
        """Drag with the left button from one place of a widget to another."""
        await self.point_at(widget, start)
        window, pressed_at = _on_window(widget, start)
        _, released_at = _on_window(widget, end)
        await act(lambda: QTest.mousePress(window, LEFT, PLAIN, pressed_at))
        for place in ((pressed_at + released_at) / 2, released_at):
            await act(lambda place=place: QTest.mouseMove(window, place))
        await act(lambda: QTest.mouseRelease(window, LEFT, PLAIN, released_at))

    async def menu(self, *path: str) -> None:
        """Open a menu of the bar, follow the path, and choose its last item."""
        for text in path:
            await self.click(text)

    async def press(self, keys: str) -> None:
        """Press a key combination, as menus write it: ``Ctrl+K``."""
        await self._await_focus()
        await act(lambda: QTest.keySequence(_focus_window(), keys))

    async def type(self, text: str) -> None:
        """Type text at the cursor."""
        for letter in text:
            await self._await_focus()
            await act(lambda letter=letter: QTest.keyClick(_focus_window(), ord(letter)))

    async def _await_focus(self) -> None:
        """A new dialog soon has keyboard focus. Without a window manager nothing focuses the topmost window after the
        focused one has closed; then this does."""
        if not _has_focus():
            await pause(_DESKTOP_MS)
        if not _has_focus():
            await act(lambda: _focus_window().requestActivate())
        await self.until(_has_focus, "a window with keyboard focus")

    async def has_within_a_moment(self, condition: Callable[[], bool]) -> bool:
        """Whether a desktop has done something for a window: without a window manager, nothing does."""
        await pause(_DESKTOP_MS)
        return condition()

    async def place(self, window: QWidget, rect: QRect) -> None:
        """Place a window as a window manager would, for screens without one."""
        await act(lambda: window.setGeometry(rect))

    async def picture(self, step: str) -> Path:
        """Save a screenshot."""
        await pause(250)
        path = self.album / f"{step}.png"
        assert photograph().save(str(path)), path
        return path


def photograph() -> QPixmap:
    """The windows in their stacking order, each with a frame, painted one by one: there may be no real screen."""
    shown = screen.windows()
    frame = QRect()
    for widget in shown:
        frame = frame.united(widget.geometry())
    picture = QPixmap(frame.size())
    picture.fill(Qt.GlobalColor.darkGray)
    painter = QPainter(picture)
    for widget in shown:
        painter.drawPixmap(widget.geometry().topLeft() - frame.topLeft(), widget.grab())
        painter.setPen(Qt.GlobalColor.gray)
        painter.drawRect(widget.geometry().translated(-frame.topLeft()).adjusted(0, 0, -1, -1))
    painter.end()
    return picture


def _on_window(widget: QWidget, place: QPoint) -> tuple[QWindow, QPoint]:
    window = widget.window().windowHandle()
    assert window is not None, f"{widget} is in no window"
    return window, widget.mapTo(widget.window(), place)


def _has_focus() -> bool:
    """Whether the window that receives the mouse has keyboard focus."""
    widget = QApplication.activePopupWidget() or QApplication.activeWindow()
    return widget is not None and widget.window() in screen.reachable_windows()


def _focus_window() -> QWindow:
    """The modal dialog, else the active window. Qt itself forwards keys to a list or menu open over it."""
    widget = QApplication.activeModalWidget() or QApplication.activeWindow()
    if widget is None or not screen.is_a_window(widget.window()):
        widget = [window for window in screen.windows() if screen.is_a_window(window)][-1]
    return widget.window().windowHandle()
