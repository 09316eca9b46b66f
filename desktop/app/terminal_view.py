"""An offscreen window: without a display, the terminal shows progress and a picture is written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from core.market.feeds.base import FeedStatus
from desktop.app.terminal_progress import TerminalProgress
from desktop.services.run_controller import RunController

_SIZE = (1600, 900)
_FIRST_PICTURE_MS = 5_000
_PICTURE_EVERY_MS = 15_000


class TerminalView(QObject):
    """Takes what the run says, and paints the offscreen window into a PNG now and then."""

    def __init__(
        self, window: QWidget, runs: RunController, progress: TerminalProgress, picture: Path, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._progress = progress
        self._picture = picture
        window.resize(*_SIZE)
        runs.batch.connect(progress.take_batch)
        runs.feed_event.connect(self._on_feed)
        runs.notice.connect(progress.say)
        runs.failed.connect(progress.say)
        runs.refused.connect(progress.say)
        self._timer = QTimer(self)
        self._timer.setInterval(_PICTURE_EVERY_MS)
        self._timer.timeout.connect(self.write_picture)
        self._timer.start()
        QTimer.singleShot(_FIRST_PICTURE_MS, self, self.write_picture)

    def write_picture(self) -> None:
        """Paint the window into the file, and say where it is."""
        self._picture.parent.mkdir(parents=True, exist_ok=True)
        if self._window.grab().save(str(self._picture)):
            self._progress.say(f"Picture of the window: {self._picture}")
        else:
            self._progress.say(f"The picture {self._picture} could not be written.")

    def _on_feed(self, event: object) -> None:
        if isinstance(event, FeedStatus):
            self._progress.take_feed(event)
