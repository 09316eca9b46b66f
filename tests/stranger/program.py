"""Starts the program as its command does, in this process, and runs a story in its window."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from core.domain.drawings import Drawing
from core.storage.ownership import own
from desktop.app.context import Context
from desktop.app.running import run_application
from desktop.chart.widget import ChartWidget
from desktop.overview.tile import Tile
from desktop.services.single_instance import SingleInstance
from tests.stranger import screen
from tests.stranger.user import User, photograph

_SIZE = (1440, 860)
_AGAIN_MS = 20
_TURNS = 50
Story = Callable[[User], Awaitable[None]]


class StoryRunner:
    """Runs a story step by step on Qt timers: as a task of the window's event loop it would block the other tasks
    whenever a click opens a menu or dialog."""

    def __init__(self, story: Coroutine[Any, Any, None], album: Path, longest_s: float) -> None:
        self._story, self._album = story, album
        self.error: BaseException | None = None
        self.is_over = False
        self._is_acting, self._opened = False, _opened()
        self._turns = 0
        """How often the story has waited for its running action."""
        self._timer = QTimer(singleShot=True)
        self._timer.timeout.connect(self._advance)
        self._limit = QTimer(singleShot=True, interval=int(longest_s * 1000))
        self._limit.timeout.connect(lambda: self._end(TimeoutError(f"the story took more than {longest_s:.0f} s")))

    def begin(self) -> None:
        """Call this once the event loop runs."""
        self._limit.start()
        self._timer.start(0)

    def close(self) -> None:
        """Stop the timers."""
        self._timer.stop()
        self._limit.stop()
        self._story.close()

    def _advance(self) -> None:
        """The event loop of an open menu calls this while an action is still running. So does a slow combination of
        keys, whose letter would then come after the keys of the next action: this waits for it."""
        if self._is_acting and self._opened == _opened() and self._turns < _TURNS:
            self._turns += 1
            self._timer.start(_AGAIN_MS)
            return
        self._turns = 0
        try:
            beat = self._story.send(None)
            self._timer.start(beat.milliseconds)
            if beat.action is not None:
                self._is_acting, self._opened = True, _opened()
                beat.action()
                self._is_acting = False
        except StopIteration:
            self._end(None)
        except BaseException as error:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        if self.is_over:
            return
        self.is_over, self.error = True, error
        self._timer.stop()
        self._limit.stop()
        if error is not None:
            photograph().save(str(self._album / "failed.png"))
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for window in QApplication.topLevelWidgets():  # if the story has not closed it
            if window.objectName() == "main_window":
                window.close()


def _opened() -> tuple[QWidget | None, QWidget | None]:
    """Open menus and dialogs, which run an event loop themselves."""
    return QApplication.activePopupWidget(), QApplication.activeModalWidget()


async def _with_window(story: Story, user: User) -> None:
    """Run the story once the window is open, enlarged on a small virtual screen."""
    await user.until(lambda: bool(screen.windows()), "the window")
    for window in screen.windows():
        if window.screen().size().width() < _SIZE[0]:
            window.resize(*_SIZE)
    await story(user)


def play(qt: QApplication, context: Context, story: Story, user: User, longest_s: float = 150.0) -> None:
    """Start the program on this data folder, run the story, and wait until the program has ended."""
    context.folder.ensure()
    instance_lock = SingleInstance(context.folder.root)
    runner = StoryRunner(_with_window(story, user), user.album, longest_s)
    try:
        with own(context.folder, "window") as ownership:
            instance_lock.listen()
            QTimer.singleShot(0, runner.begin)
            code = run_application(context, qt, instance_lock, left_behind=ownership.left_behind)
    finally:
        runner.close()
        instance_lock.release()
        asyncio.set_event_loop(None)
    if runner.error is not None:
        raise runner.error
    assert runner.is_over, "the program ended before the story did"
    assert code == 0


def title() -> str:
    """Title of the main window."""
    return main_window().windowTitle()


def has_ghosts_of_the_model() -> bool:
    """Ghosts of the simple rules are shown while the trainer still learns from stored candles."""
    model = chart().model
    return bool(model.ghosts()) and model.forecast is not None and not model.forecast.is_by_simple_rules


def chart() -> ChartWidget:
    """The large one. For reading only; actions are the user's."""
    return next(each for each in main_window().findChildren(ChartWidget) if not isinstance(each.parent(), Tile))


def words_of_chart() -> str:
    """Its texts: the readout, the note, the labels of the price axis."""
    overlay = chart().overlay
    boxes = (overlay.readout, overlay.note, *overlay.axis_tags)
    rows = (row for box in boxes if box is not None for row in box.rows)
    return "\n".join(" ".join(span.text for span in row) for row in rows)


def drawings_of_chart() -> list[Drawing]:
    """The visible drawings in their order on the chart."""
    shown = [label.shows for label in chart().overlay.plot_labels]
    return [each[0] for each in shown if isinstance(each, tuple) and isinstance(each[0], Drawing)]


def main_window() -> QWidget:
    """For reading only."""
    return next(window for window in screen.windows() if window.objectName() == "main_window")
