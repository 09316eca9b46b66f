"""Starts the program as its command does, in this process, and lets a story happen in its window."""

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
from desktop.services.single_instance import SingleInstance
from tests.stranger import eyes
from tests.stranger.hands import Hands, photograph

_SIZE = (1440, 860)
Story = Callable[[Hands], Awaitable[None]]


class Telling:
    """Goes through a story a step at a time, by Qt's timers: as a task of the window's loop it would hold up the others
    whenever a click opens something."""

    def __init__(self, story: Coroutine[Any, Any, None], album: Path, longest_s: float) -> None:
        self._story, self._album = story, album
        self.error: BaseException | None = None
        self.is_over = False
        self._timer = QTimer(singleShot=True)
        self._timer.timeout.connect(self._go_on)
        self._limit = QTimer(singleShot=True, interval=int(longest_s * 1000))
        self._limit.timeout.connect(lambda: self._end(TimeoutError(f"the story took more than {longest_s:.0f} s")))

    def begin(self) -> None:
        """To be called once the loop runs."""
        self._limit.start()
        self._timer.start(0)

    def close(self) -> None:
        """Its timers rest."""
        self._timer.stop()
        self._limit.stop()
        self._story.close()

    def _go_on(self) -> None:
        """In the loop of an open menu this is called while a deed is still under way."""
        try:
            beat = self._story.send(None)
            self._timer.start(beat.milliseconds)
            if beat.deed is not None:
                beat.deed()
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
        for window in QApplication.topLevelWidgets():  # where the story has not closed it
            if window.objectName() == "main_window":
                window.close()


async def _in_a_window(story: Story, hands: Hands) -> None:
    """Once the window is there; where the screen is none, and small, it is made as large as a desktop would."""
    await hands.until(lambda: bool(eyes.windows()), "the window")
    for window in eyes.windows():
        if window.screen().size().width() < _SIZE[0]:
            window.resize(*_SIZE)
    await story(hands)


def play(qt: QApplication, context: Context, story: Story, hands: Hands, longest_s: float = 150.0) -> None:
    """Start the program on this data folder, tell the story, and wait until the program has ended."""
    context.folder.ensure()
    door = SingleInstance(context.folder.root)
    telling = Telling(_in_a_window(story, hands), hands.album, longest_s)
    try:
        with own(context.folder, "window") as ownership:
            door.listen()
            QTimer.singleShot(0, telling.begin)
            code = run_application(context, qt, door, left_behind=ownership.left_behind)
    finally:
        telling.close()
        door.release()
        asyncio.set_event_loop(None)
    if telling.error is not None:
        raise telling.error
    assert telling.is_over, "the program ended before the story did"
    assert code == 0


def title() -> str:
    """Of the main window."""
    return main_window().windowTitle()


def has_ghosts_of_the_model() -> bool:
    """Those of the simple rules are there while the trainer still learns from stored candles."""
    model = chart().model
    return bool(model.ghosts()) and model.forecast is not None and not model.forecast.is_by_simple_rules


def chart() -> ChartWidget:
    """What it shows may be read; what it does is for the hands."""
    found = main_window().findChild(ChartWidget)
    assert found is not None
    return found


def words_of_chart() -> str:
    """What is written on it: the readout, the note, the labels of the price axis."""
    overlay = chart().overlay
    boxes = (overlay.readout, overlay.note, *overlay.axis_tags)
    rows = (row for box in boxes if box is not None for row in box.rows)
    return "\n".join(" ".join(span.text for span in row) for row in rows)


def drawings_of_chart() -> list[Drawing]:
    """What can be seen of what was drawn, in the order in which it lies on the chart."""
    shown = [label.shows for label in chart().overlay.plot_labels]
    return [each[0] for each in shown if isinstance(each, tuple) and isinstance(each[0], Drawing)]


def main_window() -> QWidget:
    """What is in it may be read."""
    return next(window for window in eyes.windows() if window.objectName() == "main_window")
