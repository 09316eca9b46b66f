"""Sends alerts to the services of the settings, on a thread: apprise blocks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread

from PySide6.QtCore import QObject, Signal, Slot

from core.alerts.delivery import Delivery
from core.alerts.service import Alert
from core.domain.clock import Clock

_STOP_WITHIN_S = 3.0
_log = logging.getLogger("ghostcandle")


class AlertSender(QObject):
    """The thread starts with the first alert, or at once if some are left from the last run. Lives in the window's
    thread."""

    failed = Signal(str)
    """A sentence about an alert that was not delivered, without secrets."""

    def __init__(
        self, urls: Callable[[], Sequence[str]], file: Path, clock: Clock, parent: QObject | None = None
    ) -> None:
        """urls: current addresses of alerts; also called on the thread. file: stores unsent alerts."""
        super().__init__(parent)
        self._urls = urls
        self._delivery = Delivery(file, clock)
        self._wake = Event()
        self._is_closed = Event()
        self._thread: Thread | None = None
        if self._delivery.waiting:
            self._start()

    @Slot(object)
    def send(self, alert: Alert) -> None:
        """Store the alert, and send it later, without waiting for a request."""
        if self._urls():
            self._delivery.add(alert)
            self._start()
            self._wake.set()

    def close(self) -> None:
        """End the thread. A running request gets a moment; its alert is sent again at the next start."""
        self._is_closed.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_STOP_WITHIN_S)
        if self._delivery.waiting:
            _log.info("Alerts that are sent at the next start: %d.", self._delivery.waiting)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="Alerts", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.clear()
            if self._is_closed.is_set():
                return
            for sentence in self._delivery.send(self._urls(), self._is_closed.is_set):
                self.failed.emit(sentence)
            self._wake.wait(self._delivery.next_attempt_s())
