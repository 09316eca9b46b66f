"""Sends alerts to the services of the settings, on a thread: apprise blocks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

from PySide6.QtCore import QObject, Signal, Slot

from core.alerts.alert import Alert
from core.alerts.delivery import Delivery
from core.domain.clock import Clock
from core.market.feeds.timing import Backoff

_FIRST_WAIT_S, _LONGEST_WAIT_S = 5.0, 300.0
_STOP_WITHIN_S = 3.0
_log = logging.getLogger("ghostcandle")


class AlertSender(QObject):
    """The thread starts with the first alert, or at once if some are left of the last start. Lives in the window's
    thread."""

    failed = Signal(str)
    """A sentence about an alert that was not delivered, without secrets."""

    def __init__(
        self, urls: Callable[[], Sequence[str]], file: Path, clock: Clock, parent: QObject | None = None
    ) -> None:
        """urls: where alerts go now; also called on the thread. file: of what is not sent yet."""
        super().__init__(parent)
        self._urls = urls
        self._file = file
        self._clock = clock
        self._inbox = SimpleQueue[Alert | None]()
        self._is_closed = Event()
        self._thread: Thread | None = None
        if file.exists():
            self._start()

    @Slot(object)
    def send(self, alert: Alert) -> None:
        """Returns at once."""
        if self._urls():
            self._inbox.put(alert)
            self._start()

    def close(self) -> None:
        """End the thread. A request that is under way gets a moment; its alert is sent again at the next start."""
        self._is_closed.set()
        self._inbox.put(None)
        if self._thread is not None:
            self._thread.join(_STOP_WITHIN_S)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="Alerts", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        delivery, backoff = Delivery(self._file, self._clock), Backoff(_FIRST_WAIT_S, _LONGEST_WAIT_S)
        wait_s: float | None = 0.0
        while True:
            self._receive(delivery, wait_s)
            if self._is_closed.is_set():
                break
            for sentence in delivery.send(self._urls(), self._is_closed.is_set):
                self.failed.emit(sentence)
            if not delivery.waiting:
                backoff.reset()
            wait_s = backoff.next_s() if delivery.waiting else None
        if delivery.waiting:
            _log.info("Alerts that are sent at the next start: %d.", delivery.waiting)

    def _receive(self, delivery: Delivery, wait_s: float | None) -> None:
        """Wait for an alert, at most so long, and store all that have come."""
        try:
            received = self._inbox.get(timeout=wait_s)
            while True:
                if received is not None:
                    delivery.add(received)
                received = self._inbox.get_nowait()
        except Empty:
            return
