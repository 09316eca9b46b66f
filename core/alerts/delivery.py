"""Alerts on their way to the services of the settings, in a file until each service has them.

What is tried again, when, and for how long is decided here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from core.alerts.service import Alert, Failure, service_of
from core.domain.backoff import Backoff
from core.domain.clock import Clock
from core.files.durable import write_durably

MOST_WAITING = 100
LONGEST_WAIT_MS = 24 * 3_600_000
"""An alert that has waited longer is dropped unsent."""
_FIRST_RETRY_S, _LONGEST_RETRY_S = 5.0, 300.0
_RETRIED = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
"""Statuses after which a request is sent again, as after a server's fault; another refusal would only repeat."""
_FAILURES_IN_A_ROW = 3
"""Failures in a row after which the service rests until the next attempt, so that one refused alert does not delay the
others."""
_log = logging.getLogger("ghostcandle")


@dataclass(slots=True)
class _Waiting:
    """finished: keys of the URLs that need no further attempt. A key is a hash: the file holds no secret."""

    alert: Alert
    since_ms: int
    finished: list[str] = field(default_factory=list)


_FILE = TypeAdapter(list[_Waiting])


class Delivery:
    """`add` may be called while another thread is in `send`: an alert is in the file when it returns. A file that
    cannot be read or written costs the alerts of an earlier start, and a line of the log."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = Lock()
        """Guards the list and the file; never held during a request."""
        self._waiting = self._read()
        self._failing: set[str] = set()
        self._backoff = Backoff(_FIRST_RETRY_S, _LONGEST_RETRY_S)

    @property
    def waiting(self) -> int:
        """Alerts that some service does not have yet."""
        return len(self._waiting)

    def next_attempt_s(self) -> float | None:
        """Seconds to wait before `send` is called again, longer each time; None if everything is delivered."""
        if self._waiting:
            return self._backoff.next_s()
        self._backoff.reset()
        return None

    def add(self, alert: Alert) -> None:
        """Append an alert; the oldest is dropped if too many wait."""
        with self._lock:
            self._waiting.append(_Waiting(alert, self._clock.now_ms()))
            if len(self._waiting) > MOST_WAITING:
                del self._waiting[0]
                _log.warning("More than %d alerts wait to be sent; the oldest was dropped.", MOST_WAITING)
            self._write()

    def send(self, urls: Sequence[str], is_stopped: Callable[[], bool] = lambda: False) -> list[str]:
        """Attempt each undelivered alert once. Without URLs all alerts are dropped. Returns a sentence for each URL
        that begins to fail, or refused an alert for good. Blocks; is_stopped: polled before each alert."""
        oldest_ms = self._clock.now_ms() - LONGEST_WAIT_MS
        with self._lock:
            fresh = [each for each in self._waiting if urls and each.since_ms >= oldest_ms]
            if len(fresh) < len(self._waiting):
                _log.warning("Alerts that were dropped unsent: %d.", len(self._waiting) - len(fresh))
            self._waiting = fresh
        sentences = [sentence for url in urls if (sentence := self._send_to(url, is_stopped)) is not None]
        keys = {_key(url) for url in urls}
        with self._lock:
            self._waiting = [each for each in self._waiting if not keys or not keys <= {*each.finished}]
            self._write()
        return sentences

    def _send_to(self, url: str, is_stopped: Callable[[], bool]) -> str | None:
        key, service, failures, sentence = _key(url), service_of(url), 0, None
        name = "a URL under Preferences › Notifications" if service is None else service.name
        with self._lock:
            waiting = [each for each in self._waiting if key not in each.finished]
        for each in waiting:
            if failures == _FAILURES_IN_A_ROW or is_stopped():
                break
            failure = Failure("cannot be used") if service is None else service.send(each.alert)
            is_final = failure is not None and bool(failure.statuses) and not any(map(_may_succeed, failure.statuses))
            if failure is None:
                failures = 0
                self._failing.discard(key)
            else:
                failures += 1
                if is_final or key not in self._failing:
                    outlook = "It is not retried." if is_final else "It is retried for up to a day."
                    sentence = f"An alert was not delivered: {name} {failure.reason}. {outlook}"
                    _log.warning("%s", sentence)
                self._failing.add(key)
            if failure is None or is_final:
                with self._lock:
                    each.finished.append(key)
                    self._write()
        return sentence

    def _read(self) -> list[_Waiting]:
        try:
            return _FILE.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError) as error:
            _log.warning("The alerts that waited to be sent could not be read (%s).", type(error).__name__)
            return []

    def _write(self) -> None:
        try:
            if self._waiting:
                write_durably(self._path, _FILE.dump_json(self._waiting))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("The alerts that wait to be sent could not be written (%s).", error.strerror)


def _may_succeed(status: int) -> bool:
    """Whether the same request may be answered otherwise later."""
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _RETRIED


def _key(url: str) -> str:
    return sha256(url.encode()).hexdigest()[:16]
