"""A hand on the mouse and one on the keys. Nothing else moves the program: no slot and no method of it is called."""

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

from tests.stranger import eyes
from tests.stranger.eyes import Spot

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
_BEAT_MS = 20
"""Between two acts of a hand."""
_LOOK_MS = 50
_DESKTOP_MS = 150
"""After which a window that was opened is active, where there is a desktop."""
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Beat:
    """A step of a story: what is done in it, and how long until the next one."""

    milliseconds: int
    deed: Callable[[], object] | None = None


class NotSeenError(AssertionError):
    """What was looked for is not on the screen."""


@coroutine
def pause(milliseconds: int) -> Generator[Beat, None, None]:
    """Let the program go on."""
    yield Beat(milliseconds)


@coroutine
def act(deed: Callable[[], object]) -> Generator[Beat, None, None]:
    """Do something and go on after a beat, also where what was done is not over by then: an open menu may wait in a
    loop of its own until something is chosen."""
    yield Beat(_BEAT_MS, deed)


class Hands:
    """What a person can do, and see. Pictures go to `album`, named by step."""

    def __init__(self, album: Path) -> None:
        self.album = album
        album.mkdir(parents=True, exist_ok=True)

    async def until(self, condition: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
        """Watch until something is so."""
        until_s = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > until_s:
                raise NotSeenError(f"waited {patience_s:.0f} s for {what}; on the screen:\n{eyes.words_on_screen()}")
            await pause(_LOOK_MS)

    async def read(self, *texts: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until all of these words can be read somewhere."""
        for text in texts:
            await self.until(lambda text=text: text in eyes.words_on_screen(), f"“{text}”", patience_s)

    async def spot(self, text: str, within: str | None = None, patience_s: float = PATIENCE_S) -> Spot:
        """Wait for something that can be clicked, with these words."""
        found: list[Spot] = []

        def look() -> bool:
            found[:] = [each for each in eyes.find(text, within) if each.is_enabled]
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
        """Click on what has these words."""
        await self.click_on(await self.spot(text, within), button, keys)

    async def click_on(self, spot: Spot, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = PLAIN) -> None:
        """Click on a spot that was found."""
        await self.click_at(spot.widget, spot.middle, button, keys)

    async def click_at(
        self, widget: QWidget, place: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = PLAIN
    ) -> None:
        """Click at a place of a widget: on the window system's side, so that whatever covers it gets the click."""
        await self.point_at(widget, place)
        window, at = _on_window(widget, place)
        await act(lambda: QTest.mouseClick(window, button, keys, at))

    async def double_click(self, text: str, within: str | None = None) -> None:
        """Twice, quickly."""
        spot = await self.spot(text, within)
        window, at = _on_window(spot.widget, spot.middle)
        await act(lambda: QTest.mouseMove(window, at))
        await act(lambda: QTest.mouseDClick(window, LEFT, PLAIN, at))

    async def point_at(self, widget: QWidget, place: QPoint) -> None:
        """Move the mouse there."""
        window, at = _on_window(widget, place)
        await act(lambda: QTest.mouseMove(window, at))

    async def drag(self, widget: QWidget, start: QPoint, end: QPoint) -> None:
        """From one place of a widget to another, the left button down."""
        await self.point_at(widget, start)
        window, pressed_at = _on_window(widget, start)
        _, let_go_at = _on_window(widget, end)
        await act(lambda: QTest.mousePress(window, LEFT, PLAIN, pressed_at))
        for place in ((pressed_at + let_go_at) / 2, let_go_at):
            await act(lambda place=place: QTest.mouseMove(window, place))
        await act(lambda: QTest.mouseRelease(window, LEFT, PLAIN, let_go_at))

    async def menu(self, *path: str) -> None:
        """Open a menu of the bar, go down the path, and choose what stands at its end."""
        for text in path:
            await self.click(text)

    async def press(self, keys: str) -> None:
        """Press a combination, as it is written in menus: ``Ctrl+K``."""
        await self._await_keys()
        await act(lambda: QTest.keySequence(_key_window(), keys))

    async def type(self, text: str) -> None:
        """Type words where the cursor stands."""
        for letter in text:
            await self._await_keys()
            await act(lambda letter=letter: QTest.keyClick(_key_window(), ord(letter)))

    async def _await_keys(self) -> None:
        """A dialog has the keys soon after it opened. Where there is no desktop that gives them to the topmost window
        once what had them is gone, this does."""
        if not _has_keys():
            await pause(_DESKTOP_MS)
        if not _has_keys():
            await act(lambda: _key_window().requestActivate())
        await self.until(_has_keys, "a window that has the keys")

    async def has_within_a_moment(self, condition: Callable[[], bool]) -> bool:
        """Whether a desktop has done something for a window: without a window manager, nobody does."""
        await pause(_DESKTOP_MS)
        return condition()

    async def place(self, window: QWidget, rect: QRect) -> None:
        """Put a window where a desktop would have, on a screen that has none."""
        await act(lambda: window.setGeometry(rect))

    async def picture(self, step: str) -> Path:
        """Photograph what is on the screen."""
        await pause(250)
        path = self.album / f"{step}.png"
        assert photograph().save(str(path)), path
        return path


def photograph() -> QPixmap:
    """The windows as they lie over each other, each with a line around it, as a desktop gives them. There may be no
    screen that could be photographed."""
    shown = eyes.windows()
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


def _has_keys() -> bool:
    """Whether what takes the mouse takes the keys too."""
    widget = QApplication.activePopupWidget() or QApplication.activeWindow()
    return widget is not None and widget.window() in eyes.reachable_windows()


def _key_window() -> QWindow:
    """Where a keyboard sends its keys: the dialog that asks, else the active window. Qt itself gives them to a list or
    a menu that is open over it."""
    widget = QApplication.activeModalWidget() or QApplication.activeWindow()
    if widget is None or not eyes.is_a_window(widget.window()):
        widget = [window for window in eyes.windows() if eyes.is_a_window(window)][-1]
    return widget.window().windowHandle()
