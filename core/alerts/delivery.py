"""Alerts on their way to the services of the settings, in a file until each service has them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.alerts.alert import Alert
from core.alerts.service import service_of
from core.domain.clock import Clock
from core.files.durable import write_durably

MOST_WAITING = 100
LONGEST_WAIT_MS = 24 * 3_600_000
_FAILURES_IN_A_ROW = 3
"""Then the service is left alone until the next attempt: one alert that it cannot take does not hold up the others."""
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """delivered_to: keys of the URLs that need no further attempt. A key is a hash: the file holds no secret."""

    alert: Alert
    since_ms: int
    delivered_to: tuple[str, ...] = ()


_FILE = TypeAdapter(list[_Waiting])


class Delivery:
    """Used from one thread. A file that cannot be read or written costs the alerts of an earlier start, and a line of
    the log."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._waiting = self._read()
        self._failing: set[str] = set()

    @property
    def waiting(self) -> int:
        """Alerts that some service does not have yet."""
        return len(self._waiting)

    def add(self, alert: Alert) -> None:
        """The oldest is dropped where too many wait."""
        self._waiting.append(_Waiting(alert, self._clock.now_ms()))
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[0]
            _log.warning("More than %d alerts wait to be sent; the oldest was dropped.", MOST_WAITING)
        self._write()

    def send(self, urls: Sequence[str], is_stopped: Callable[[], bool] = lambda: False) -> list[str]:
        """Attempt once what is not delivered yet. Without URLs all is dropped. Returns a sentence for each URL that
        begins to fail. Blocks; is_stopped: asked before each alert."""
        oldest_ms = self._clock.now_ms() - LONGEST_WAIT_MS
        fresh = [each for each in self._waiting if urls and each.since_ms >= oldest_ms]
        if len(fresh) < len(self._waiting):
            _log.warning("Alerts that were dropped unsent: %d.", len(self._waiting) - len(fresh))
        self._waiting = fresh
        sentences = [sentence for url in urls if (sentence := self._send_to(url, is_stopped)) is not None]
        keys = {_key(url) for url in urls}
        self._waiting = [each for each in self._waiting if not keys <= {*each.delivered_to}]
        self._write()
        return sentences

    def _send_to(self, url: str, is_stopped: Callable[[], bool]) -> str | None:
        key, service, failures, problem = _key(url), service_of(url), 0, None
        for place, each in enumerate(self._waiting):
            if failures == _FAILURES_IN_A_ROW or is_stopped():
                break
            if key in each.delivered_to:
                continue
            problem = service.send(each.alert) if service is not None else "cannot be used"
            failures = failures + 1 if problem else 0
            if problem is None:
                self._waiting[place] = replace(each, delivered_to=(*each.delivered_to, key))
                self._write()
        was_failing = key in self._failing
        (self._failing.discard if problem is None else self._failing.add)(key)
        if problem is None or was_failing:
            return None
        name = "a URL under Preferences › Notifications" if service is None else service.name
        sentence = f"An alert was not delivered: {name} {problem}. It is retried for up to a day."
        _log.warning("%s", sentence)
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


def _key(url: str) -> str:
    return sha256(url.encode()).hexdigest()[:16]
