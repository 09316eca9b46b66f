"""Sends alerts to the webhook of the settings, on a thread with its own loop."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from core.alerts.alert import Alert
from core.alerts.webhook import Outbox, WebhookQueue
from desktop.services.loop_thread import LoopThread

_log = logging.getLogger("ghostcandle")


class Webhook(QObject):
    """The thread starts with the first alert, or at once if some are left of the last start. Lives in the window's
    thread."""

    trouble = Signal(str)
    """A sentence about an alert that was not delivered, without the address's secrets."""

    def __init__(self, url: Callable[[], str | None], outbox: Outbox, parent: QObject | None = None) -> None:
        """url: where alerts go now; None: nowhere. Also called on the thread. outbox: of what is not sent yet."""
        super().__init__(parent)
        self._url = url
        self._queue = WebhookQueue(url, self.trouble.emit, outbox)
        self._thread = LoopThread("Webhook", self)
        self._is_sending = False
        if self._queue.waiting:
            self._wake()

    @Slot(object)
    def send(self, alert: Alert) -> None:
        """Returns at once."""
        if self._url() is None:
            return
        self._queue.put(alert)
        self._wake()

    def _wake(self) -> None:
        if not self._is_sending:
            self._is_sending = True
            self._thread.submit(self._run)
        self._thread.call(self._queue.wake)

    async def _run(self) -> None:
        try:
            await self._queue.run()
        except Exception as error:
            self.trouble.emit(f"{type(error).__name__}: {error}")
            raise

    def close(self) -> None:
        """End the thread and wait."""
        if not self._thread.close():
            _log.error("The thread that sends alerts to the webhook did not end in time.")
        if self._queue.waiting:
            _log.info("Alerts that are sent to the webhook at the next start: %d.", self._queue.waiting)
