"""What went wrong at an exchange, in words a user understands, and whether waiting helps."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from core.domain.plain import plain
from core.market.feeds.words import in_words

_BAN_WAIT_S = 120.0
_SLOW_DOWN_WAIT_S = 30.0
_REFUSED_WAIT_S = 60.0
_MAINTENANCE_WAIT_S = 30.0
_TLS_WAIT_S = 30.0
_SERVER_FAULT = 500
LONGEST_BAN_S = 3 * 86_400.0
"""The longest that an exchange is known to shut somebody out for is Binance's three days. Whoever asks for more has
sent a date as a number, or nonsense."""
UNBELIEVED_WAIT_S = 3_600.0
"""Once an hour is no burden, whatever was meant."""
_TOO_LARGE_WAIT_S = 60.0
_INSTEAD = "Choose another venue, or replay a file."
BY_ITSELF = "It is tried again by itself."
_DEEPEST_CAUSE = 5
_INTERVAL_WORDS = ("interval", "granularity", "timeframe")
_SENTENCE_KEYS = ("msg", "message", "error")
"""Where exchanges put their words."""


@dataclass(slots=True)
class Answer:
    """What came back last over HTTP: ccxt's exceptions name neither the status nor the wait that was asked for."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def retry_after_s(self) -> float | None:
        """The seconds to wait that the header Retry-After asks for, where they can be meant."""
        asked_s = self._asked_s
        return UNBELIEVED_WAIT_S if asked_s is not None and asked_s > LONGEST_BAN_S else asked_s

    @property
    def disbelief(self) -> str:
        """A sentence on a wait that is not kept; empty where it is."""
        asked_s = self._asked_s
        if asked_s is None or asked_s <= LONGEST_BAN_S:
            return ""
        return f"It asks for a wait of {in_words(asked_s)}; that is not kept, and it is asked again in an hour."

    @property
    def _asked_s(self) -> float | None:
        """A number, or a date, which is measured from the answer's own."""
        headers = {name.lower(): value.strip() for name, value in self.headers.items()}
        asked = headers.get("retry-after", "")
        if asked.isascii() and asked.isdigit():  # a superscript two is a digit, too
            return float(asked)
        until, answered = _moment(asked), _moment(headers.get("date", ""))
        if until is None or answered is None:
            return None
        return max(0.0, (until - answered).total_seconds())


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


class VenueError(Exception):
    """An exchange does not do what it was asked for. The message is a sentence for the user.

    is_final: waiting does not help. wait_s: the least time to wait. is_asked: the exchange asked for that wait, of all
    who ask it. is_brief: it may be over in a moment. is_of_venue: another venue may well do it. is_planned: it is part
    of the plan, and needs no wait. is_absent: there are no such candles, whoever asks: what is stored is all there is.
    """

    def __init__(
        self,
        sentence: str,
        *,
        is_final: bool = False,
        wait_s: float = 0.0,
        is_asked: bool = False,
        is_brief: bool = False,
        is_of_venue: bool = False,
        is_planned: bool = False,
        is_absent: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.is_final = is_final
        self.wait_s = wait_s
        self.is_asked = is_asked
        self.is_brief = is_brief
        self.is_of_venue = is_of_venue
        self.is_planned = is_planned
        self.is_absent = is_absent


def explain(error: Exception, name: str, answer: Answer, is_stream: bool = False) -> VenueError:
    """Tell the faults of ccxt, the network and the exchange called `name` apart."""
    if isinstance(error, VenueError):
        return error
    proxy_status = _proxy_status(error)
    if proxy_status is not None:
        return VenueError(
            f"The proxy on the way to {name} does not let this through ({proxy_status}). "
            "Check the proxy that this computer is set to use, or replay a file."
        )
    refusal = _handshake(error) or answer
    return (
        _by_status(refusal.status, name, refusal)
        or _by_cause(error, name)
        or (_of_stream(error, name) if is_stream else None)
        or _by_class(error, name, has_answered=answer.status is not None)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, and those inside it: ccxt and aiohttp wrap each other's, as causes and as first arguments."""
    waiting, seen = [error], 0
    while waiting and seen < _DEEPEST_CAUSE:
        current = waiting.pop(0)
        seen += 1
        yield current
        inner = [current.__cause__, *current.args[:1], getattr(current, "os_error", None)]
        waiting += [each for each in inner if isinstance(each, BaseException)]


def _handshake(error: Exception) -> Answer | None:
    """ccxt wraps the refusal of a WebSocket in a NetworkError around the exception itself."""
    inner = error.args[0] if error.args else None
    status = getattr(inner, "status", None)
    return Answer(status, getattr(inner, "headers", None) or {}) if isinstance(status, int) else None


def _proxy_status(error: Exception) -> int | None:
    """What a proxy between here and the exchange answered, where it was one that refused."""
    import aiohttp  # noqa: PLC0415 - comes with ccxt

    return next((each.status for each in _causes(error) if isinstance(each, aiohttp.ClientHttpProxyError)), None)


def _by_status(status: int | None, name: str, answer: Answer) -> VenueError | None:
    trouble = _of_status(status, name, answer)
    if trouble is not None and trouble.wait_s and answer.disbelief:
        trouble.args = (f"{trouble} {answer.disbelief}",)
    return trouble


def _of_status(status: int | None, name: str, answer: Answer) -> VenueError | None:
    asked_s = answer.retry_after_s
    match status:
        case 451:
            return VenueError(f"{name} does not serve this location (451). {_INSTEAD}", is_final=True, is_of_venue=True)
        case 403:
            return VenueError(
                f"{name} refuses this computer (403): its firewall, or one on the way. {_INSTEAD}",
                wait_s=asked_s or _REFUSED_WAIT_S,
                is_asked=bool(asked_s),
                is_of_venue=True,
            )
        case 418:
            return VenueError(
                f"{name} has shut this address out for a while (418), after too many requests. Close other programs "
                "that ask it.",
                wait_s=asked_s or _BAN_WAIT_S,
                is_asked=True,
                is_of_venue=True,
            )
        case 429:
            return VenueError(
                f"{name} asks for fewer requests (429). {BY_ITSELF}",
                wait_s=asked_s or _SLOW_DOWN_WAIT_S,
                is_asked=True,
            )
        case 503:
            return VenueError(
                f"{name} is down for maintenance or overloaded (503). {BY_ITSELF}",
                wait_s=asked_s or 0.0,
                is_asked=bool(asked_s),
                is_of_venue=True,
            )
    if status is not None and status >= _SERVER_FAULT:
        return VenueError(
            f"{name} has a fault of its own ({status}). {BY_ITSELF}",
            is_brief=True,
            wait_s=asked_s or 0.0,
            is_asked=bool(asked_s),
        )
    return None


def _by_cause(error: Exception, name: str) -> VenueError | None:
    """Faults on the way, by what the network's libraries say: no name, no trust, no route."""
    from core.market.feeds.bounded_answers import LARGEST_BYTES, AnswerTooLargeError  # noqa: PLC0415 - as aiohttp

    causes = list(_causes(error))
    if any(isinstance(each, AnswerTooLargeError) for each in causes):
        return VenueError(
            f"{name} answered with more than {LARGEST_BYTES / 1e6:.0f} MB, so its answer was cut off. {BY_ITSELF}",
            wait_s=_TOO_LARGE_WAIT_S,
            is_of_venue=True,
        )
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return VenueError(
            f"{name} is not who it should be: its certificate was refused. Check this computer's date, and whether a "
            "firewall or a virus scanner opens encrypted connections.",
            wait_s=_TLS_WAIT_S,
        )
    if any(isinstance(each, ssl.SSLError) for each in causes):
        return VenueError(
            f"The encrypted connection to {name} could not be set up. {BY_ITSELF} A firewall or proxy on the way may "
            "be the reason.",
            is_brief=True,
        )
    if any(isinstance(each, socket.gaierror) for each in causes):
        return VenueError(
            f"{name} cannot be reached: its address was not found (DNS), so there is no network, or the name is "
            f"blocked here. {BY_ITSELF}",
            is_brief=True,
        )
    return None


def _of_stream(error: Exception, name: str) -> VenueError | None:
    """A stream that stood and broke; one that could not be opened has the network's exception inside."""
    import ccxt  # noqa: PLC0415 - as below

    is_inner = bool(error.args) and isinstance(error.args[0], Exception)
    if isinstance(error, ccxt.NetworkError) and not is_inner:
        return VenueError(f"The connection to {name} was cut.", is_brief=True)
    return None


def refuses_interval(error: Exception) -> bool:
    """Whether an exchange answered that it has no candles of the interval that was asked for."""
    import ccxt  # noqa: PLC0415 - as below

    words = str(error).casefold()
    return isinstance(error, ccxt.BadRequest | ccxt.NotSupported) and any(each in words for each in _INTERVAL_WORDS)


def _said(error: Exception) -> str:
    """The exchange's sentence, out of the JSON that ccxt hands on after the exchange's id."""
    text = str(error)
    try:
        answer = json.loads(text[text.index("{") :])
    except ValueError:
        return plain(text)
    words = next((answer[key] for key in _SENTENCE_KEYS if isinstance(answer.get(key), str) and answer[key]), text)
    return plain(words.rstrip(". ") or text)


def _by_class(error: Exception, name: str, has_answered: bool) -> VenueError:
    """has_answered: an answer came, with a trouble inside that its status does not show, as Kraken's do."""
    import ccxt  # noqa: PLC0415 - 0.7 s and more; whoever has an error to explain has loaded it

    said = _said(error)
    if isinstance(error, ccxt.BadSymbol):
        return VenueError(f"{name} does not have the market asked for ({said}).", is_final=True, is_absent=True)
    if isinstance(error, ccxt.OnMaintenance):
        return VenueError(f"{name} is down for maintenance. {BY_ITSELF}", wait_s=_MAINTENANCE_WAIT_S, is_of_venue=True)
    if isinstance(error, ccxt.ExchangeNotAvailable) and has_answered:
        return VenueError(
            f"{name} is down for maintenance or overloaded, and says so. {BY_ITSELF}", is_brief=True, is_of_venue=True
        )
    if isinstance(error, ccxt.RequestTimeout | TimeoutError):
        return VenueError(f"{name} did not answer in time.", is_brief=True)
    if isinstance(error, ccxt.RestrictedLocation):
        return VenueError(f"{name} does not serve this location. {_INSTEAD}", is_final=True, is_of_venue=True)
    if isinstance(error, ccxt.AuthenticationError):
        return VenueError(
            f"{name} wants a key for this, and none is ever used here. {_INSTEAD}", is_final=True, is_of_venue=True
        )
    if isinstance(error, ccxt.DDoSProtection | ccxt.RateLimitExceeded):
        return VenueError(f"{name} asks for fewer requests. {BY_ITSELF}", wait_s=_SLOW_DOWN_WAIT_S, is_asked=True)
    if isinstance(error, ccxt.NetworkError | OSError):
        return VenueError(f"{name} cannot be reached: no network, or its address is blocked.", is_brief=True)
    if isinstance(error, ccxt.NotSupported | ccxt.BadRequest):
        return VenueError(f"{name} refused the request: {said}. {_INSTEAD}", is_final=True, is_of_venue=True)
    return VenueError(f"{name} sent what cannot be read ({type(error).__name__}: {said}).", is_brief=True)
