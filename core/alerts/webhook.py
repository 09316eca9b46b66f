"""Posts alerts as JSON to one address, one after another, and tries again where that may help.

No sentence and no log line has the address's path or query, which may hold a secret.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from core.alerts.alert import Alert
from core.files.durable import write_durably
from core.market.feeds.timing import Backoff

if TYPE_CHECKING:
    import aiohttp

MOST_WAITING = 100
_TIMEOUT_S = 10.0
_ATTEMPTS = 8
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_LONGEST_ASKED_S = 300.0
_REDIRECTS = (301, 302, 303, 307, 308)
_AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_ALERTS = TypeAdapter(list[Alert])
_log = logging.getLogger("ghostcandle")


class Outbox:
    """Alerts that the webhook has not taken yet, in a file: what is left at the program's end is sent at its next
    start.

    A file that cannot be read or written costs the alerts of an earlier start, and a line of the log.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: list[Alert] = []

    def read(self) -> list[Alert]:
        """In the order in which they were put."""
        try:
            self._written = _ALERTS.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError) as error:
            _log.warning("The alerts that waited for the webhook could not be read (%s).", type(error).__name__)
            return []
        return list(self._written)

    def write(self, alerts: Iterable[Alert]) -> None:
        """These, and no others. Nothing is written if they are there already."""
        wanted = list(alerts)
        if wanted == self._written:
            return
        self._written = wanted
        try:
            if wanted:
                write_durably(self._path, _ALERTS.dump_json(wanted))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("The alerts that wait for the webhook could not be written (%s).", error.strerror)


@dataclass(frozen=True, slots=True)
class _Failure:
    """why: the end of a sentence about the webhook. wait_s: how long it asks to be left alone."""

    why: str
    is_final: bool = False
    wait_s: float = 0.0


class WebhookQueue:
    """Used from one event loop, but for `put`."""

    def __init__(
        self, url: Callable[[], str | None], on_trouble: Callable[[str], object], outbox: Outbox | None = None
    ) -> None:
        """url: where alerts go now, asked before each attempt; None: nowhere, and what waits is dropped.
        on_trouble: called with a sentence about an alert that was not delivered. Both on the loop. outbox: keeps what
        waits for the next start, and has that of the last one.
        """
        self._url = url
        self._on_trouble = on_trouble
        self._outbox = outbox
        self._waiting: deque[Alert] = deque(() if outbox is None else outbox.read())
        self._is_filled = asyncio.Event()

    @property
    def waiting(self) -> int:
        """Alerts that are not delivered yet."""
        return len(self._waiting)

    def put(self, alert: Alert) -> None:
        """Callable from any thread; `wake` has to follow on the loop. The oldest is dropped where too many wait."""
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.popleft()
            _log.warning("More than %d alerts wait for the webhook; the oldest was dropped.", MOST_WAITING)
        self._waiting.append(alert)

    def wake(self) -> None:
        """There is something to send."""
        self._keep()
        self._is_filled.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            while self._waiting:
                alert = self._waiting[0]
                await self._deliver(alert)
                if self._waiting and self._waiting[0] is alert:  # else too many waited, and it was dropped
                    self._waiting.popleft()
                self._keep()
            self._is_filled.clear()
            await self._is_filled.wait()

    def _keep(self) -> None:
        if self._outbox is not None:
            self._outbox.write(self._waiting)

    async def _deliver(self, alert: Alert) -> None:
        backoff = Backoff(_FIRST_WAIT_S, _LONGEST_WAIT_S)
        for attempt in range(1, _ATTEMPTS + 1):
            url = self._url()
            if url is None:
                _log.info("The webhook's address was removed; %d alerts are not sent.", self.waiting)
                self._waiting.clear()
                return
            failure = await _post(url, alert)
            if failure is None:
                return
            if failure.is_final or attempt == _ATTEMPTS:
                self._report(url, failure)
                return
            await asyncio.sleep(backoff.next_s(failure.wait_s))

    def _report(self, url: str, failure: _Failure) -> None:
        sentence = f"An alert was not delivered: the webhook at {host_of(url)} {failure.why}."
        _log.warning("%s", sentence)
        self._on_trouble(sentence)


def host_of(url: str) -> str:
    """What may be shown of a webhook's address."""
    try:
        return urlsplit(url).hostname or "?"
    except ValueError:
        return "?"


async def _post(url: str, alert: Alert) -> _Failure | None:
    """None where it was taken. Redirects are not followed: they could lead anywhere."""
    import aiohttp  # noqa: PLC0415 - it takes half as long as opening the window

    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=url.startswith("https:")) as session,
            session.post(url, json=alert.to_json(), allow_redirects=False) as answer,
        ):
            return _judged(answer)
    except TimeoutError:
        return _Failure(f"did not answer within {_TIMEOUT_S:.0f} s")
    except aiohttp.ClientSSLError:
        return _Failure("has no valid certificate", is_final=True)
    except aiohttp.ClientConnectionError:
        return _Failure("could not be reached")
    except ValueError:
        return _Failure("is not an address that can be used", is_final=True)
    except aiohttp.ClientError as error:
        return _Failure(f"did not answer as it should ({type(error).__name__})")


def _judged(answer: aiohttp.ClientResponse) -> _Failure | None:
    status = answer.status
    if status in range(200, 300):
        return None
    is_final = status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _AGAIN
    why = f"answered {status}"
    if status in _REDIRECTS:
        why += ", a redirect; enter the address that it leads to"
    asked = answer.headers.get("Retry-After", "")  # in seconds; a date counts as none
    wait_s = min(float(asked), _LONGEST_ASKED_S) if asked.isascii() and asked.isdigit() else 0.0
    return _Failure(why, is_final, wait_s)
