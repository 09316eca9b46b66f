"""Sends alerts to the webhook of the settings, on a thread with its own loop."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from core.alerts.alert import Alert
from core.alerts.webhook import WebhookQueue
from desktop.services.loop_thread import LoopThread

_log = logging.getLogger("ghostcandle")


class Webhook(QObject):
    """The thread starts with the first alert. Lives in the window's thread."""

    trouble = Signal(str)
    """A sentence about an alert that was not delivered, without the address's secrets."""

    def __init__(self, url: Callable[[], str | None], parent: QObject | None = None) -> None:
        """url: where alerts go now; None: nowhere. Also called on the thread."""
        super().__init__(parent)
        self._url = url
        self._queue = WebhookQueue(url, self.trouble.emit)
        self._thread: LoopThread | None = None

    @Slot(object)
    def send(self, alert: Alert) -> None:
        """Returns at once."""
        if self._url() is None:
            return
        self._queue.put(alert)
        if self._thread is None:
            self._thread = LoopThread(self._queue.run, "Webhook", self)
            self._thread.failed.connect(self.trouble)
            self._thread.start()
        self._thread.call(self._queue.wake)

    def close(self) -> None:
        """End the thread and wait."""
        if self._thread is None:
            return
        if not self._thread.stop_and_wait():
            _log.error("The thread that sends alerts to the webhook did not end in time.")
        if self._queue.waiting:
            _log.warning("The window closed before %d alerts were sent to the webhook.", self._queue.waiting)
