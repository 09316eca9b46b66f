"""Errors of exchanges, as sentences for the user, and whether waiting helps."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from core.domain.counts import in_words
from core.domain.plain_text import plain
from core.market.feeds.exchange_facts import Refusal
from core.market.feeds.refusals import names_interval, refusal_of, until_ms

_BAN_WAIT_S = 120.0
_SLOW_DOWN_WAIT_S = 30.0
_REFUSED_WAIT_S = 60.0
_MAINTENANCE_WAIT_S = 30.0
_TLS_WAIT_S = 30.0
_SERVER_FAULT = 500
LONGEST_BAN_S = 3 * 86_400.0
"""The longest known ban is Binance's three days. A longer one is a date sent as a number, or nonsense."""
UNBELIEVED_WAIT_S = 3_600.0
"""Used instead of an implausible wait: one request an hour is no burden."""
_TOO_LARGE_WAIT_S = 60.0
_INSTEAD = "Choose another exchange, or replay a file."
_CERTAIN = frozenset({418, 429, 451})
"""Statuses that are clearer than any text."""
_DEEPEST_CAUSE = 5
_INTERVAL_WORDS = ("interval", "granularity", "timeframe")
_SENTENCE_KEYS = ("msg", "message", "error")
"""JSON keys of exchanges' error messages."""


@dataclass(slots=True)
class HttpResponse:
    """The newest HTTP response: ccxt's exceptions have neither its status nor the demanded wait, and its parsed lists
    do not show whether there was one."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""

    @property
    def retry_after_s(self) -> float | None:
        """The wait of the Retry-After header in seconds, if plausible."""
        demanded_s = self._demanded_s
        return UNBELIEVED_WAIT_S if demanded_s is not None and demanded_s > LONGEST_BAN_S else demanded_s

    @property
    def ignored_wait_notice(self) -> str:
        """A sentence about an implausible wait that is ignored; else empty."""
        demanded_s = self._demanded_s
        if demanded_s is None or demanded_s <= LONGEST_BAN_S:
            return ""
        return f"It demands a wait of {in_words(demanded_s)}, which is ignored; the next attempt is in an hour."

    @property
    def _demanded_s(self) -> float | None:
        """A number, or a date relative to the response's own; else the end of a ban in the message."""
        headers = {name.lower(): value.strip() for name, value in self.headers.items()}
        asked = headers.get("retry-after", "")
        if asked.isascii() and asked.isdigit():  # a superscript two is a digit, too
            return float(asked)
        until, answered = _moment(asked), _moment(headers.get("date", ""))
        if until is None or answered is None:
            return self._until_s
        return max(0.0, (until - answered).total_seconds())

    @property
    def _until_s(self) -> float | None:
        """Seconds to the moment that the message names."""
        import ccxt  # noqa: PLC0415 - loaded already, by the exchange itself

        end_ms = until_ms(self.body)
        left_s = 0.0 if end_ms is None else (end_ms - ccxt.Exchange.milliseconds()) / 1000.0
        return left_s if left_s > 0.0 else None


CURRENT_ANSWER = ContextVar[HttpResponse]("current answer")
"""The answer to the task's request, as a market may send two at a time. Unset: the answer of the exchange's object."""


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@dataclass(eq=False, repr=False)
class VenueError(Exception):
    """A request to an exchange failed. The message is a sentence for the user.

    is_final: waiting does not help. wait_s: the least time to wait. is_demanded: the exchange demands that wait for all
    requests. is_brief: it may be over in a moment. is_of_venue: another venue may work. is_planned: an intended
    disconnect, which needs no wait. is_absent: the exchange does not have these candles: there are only the stored
    ones. is_too_old: the exchange does not list candles of that age. is_silence: the connection was open, and nothing
    came. is_of_socket: the socket has to be replaced, for all markets that share it.
    """

    sentence: str
    _: KW_ONLY
    is_final: bool = False
    wait_s: float = 0.0
    is_demanded: bool = False
    is_brief: bool = False
    is_of_venue: bool = False
    is_planned: bool = False
    is_absent: bool = False
    is_too_old: bool = False
    is_silence: bool = False
    is_of_socket: bool = False

    def __post_init__(self) -> None:
        super().__init__(self.sentence)


class NotCandlesError(VenueError):
    """An answer in an unknown form, which may hold a refusal in words."""


def explain(error: Exception, name: str, answer: HttpResponse, is_stream: bool = False, venue: str = "") -> VenueError:
    """The VenueError for an exception of ccxt, the network or the exchange called `name`. venue: its id."""
    if isinstance(error, NotCandlesError):
        return _by_words(error, name, answer, venue) or error
    if isinstance(error, VenueError):
        return error
    import aiohttp  # noqa: PLC0415 - comes with ccxt

    for cause in _causes(error):
        if isinstance(cause, aiohttp.ClientHttpProxyError):
            return VenueError(
                f"The proxy between this computer and {name} refused the connection ({cause.status}). "
                "Check this computer's proxy settings, or replay a file."
            )
    refusal = _handshake(error) or answer
    return (
        _by_status(refusal.status, name, refusal, _CERTAIN)
        or (_by_words(error, name, answer, venue) if is_stream or answer.status is not None else None)
        or _by_status(refusal.status, name, refusal)
        or _by_cause(error, name)
        or (_of_stream(error, name) if is_stream else None)
        or _by_class(error, name, has_answered=answer.status is not None)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and its inner ones: ccxt and aiohttp wrap exceptions as causes and as first arguments."""
    waiting, seen = [error], 0
    while waiting and seen < _DEEPEST_CAUSE:
        current = waiting.pop(0)
        seen += 1
        yield current
        inner = [current.__cause__, *current.args[:1], getattr(current, "os_error", None)]
        waiting += [each for each in inner if isinstance(each, BaseException)]


def _handshake(error: Exception) -> HttpResponse | None:
    """ccxt wraps the refusal of a WebSocket in a NetworkError around the exception itself."""
    inner = error.args[0] if error.args else None
    status = getattr(inner, "status", None)
    return HttpResponse(status, getattr(inner, "headers", None) or {}) if isinstance(status, int) else None


def message_text(error: Exception, answer: HttpResponse) -> str:
    return f"{error} {answer.body}"


def _by_words(error: Exception, name: str, answer: HttpResponse, venue: str) -> VenueError | None:
    match refusal_of(venue, message_text(error, answer)):
        case Refusal.RATE:
            wait_s = answer.retry_after_s or _SLOW_DOWN_WAIT_S
            return VenueError(f"{name} demands fewer requests.", wait_s=wait_s, is_demanded=True)
        case Refusal.LOCATION:
            return VenueError(f"{name} does not serve this location. {_INSTEAD}", is_final=True, is_of_venue=True)
        case Refusal.AGE:
            sentence = f"{name} does not list candles of that age ({_venue_message(error)}). Choose a later start."
            return VenueError(sentence, is_final=True, is_too_old=True)
        case Refusal.MAINTENANCE:
            return VenueError(f"{name} is down for maintenance.", wait_s=_MAINTENANCE_WAIT_S, is_of_venue=True)
    return None


def _by_status(
    status: int | None, name: str, answer: HttpResponse, only: frozenset[int] | None = None
) -> VenueError | None:
    if only is not None and status not in only:
        return None
    trouble = _of_status(status, name, answer)
    if trouble is not None and trouble.wait_s and answer.ignored_wait_notice:
        return replace(trouble, sentence=f"{trouble} {answer.ignored_wait_notice}")
    return trouble


def _of_status(status: int | None, name: str, answer: HttpResponse) -> VenueError | None:
    demanded_s = answer.retry_after_s
    match status:
        case 451:
            return VenueError(f"{name} does not serve this location (451). {_INSTEAD}", is_final=True, is_of_venue=True)
        case 403:
            return VenueError(
                f"{name} refuses this computer (403): its firewall, or another one in between. {_INSTEAD}",
                wait_s=demanded_s or _REFUSED_WAIT_S,
                is_demanded=bool(demanded_s),
                is_of_venue=True,
            )
        case 418:
            return VenueError(
                f"{name} has banned this address for some time (418) after too many requests. Close other programs "
                "that use it.",
                wait_s=demanded_s or _BAN_WAIT_S,
                is_demanded=True,
                is_of_venue=True,
            )
        case 429:
            return VenueError(
                f"{name} demands fewer requests (429).", wait_s=demanded_s or _SLOW_DOWN_WAIT_S, is_demanded=True
            )
        case 503:
            return VenueError(
                f"{name} is down for maintenance or overloaded (503).",
                wait_s=demanded_s or 0.0,
                is_demanded=bool(demanded_s),
                is_of_venue=True,
            )
    if status is not None and status >= _SERVER_FAULT:
        return VenueError(
            f"{name} reports a server error ({status}).",
            is_brief=True,
            wait_s=demanded_s or 0.0,
            is_demanded=bool(demanded_s),
        )
    return None


def _by_cause(error: Exception, name: str) -> VenueError | None:
    """Faults on the way, by the error of the network's libraries: no name, no trust, no route."""
    from core.market.feeds.bounded_answers import LARGEST_BYTES, AnswerTooLargeError  # noqa: PLC0415 - as aiohttp

    causes = list(_causes(error))
    if any(isinstance(each, AnswerTooLargeError) for each in causes):
        return VenueError(
            f"{name} answered with more than {LARGEST_BYTES / 1e6:.0f} MB, so its answer was cut off.",
            wait_s=_TOO_LARGE_WAIT_S,
            is_of_venue=True,
        )
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return VenueError(
            f"{name} cannot be verified: its certificate was rejected. Check this computer's date, and whether a "
            "firewall or a virus scanner intercepts encrypted connections.",
            wait_s=_TLS_WAIT_S,
        )
    if any(isinstance(each, ssl.SSLError) for each in causes):
        return VenueError(
            f"The encrypted connection to {name} could not be set up. A firewall or proxy may be the reason.",
            is_brief=True,
        )
    if any(isinstance(each, socket.gaierror) for each in causes):
        return VenueError(
            f"{name} cannot be reached: its address was not found (DNS), so there is no network, or the address "
            f"is blocked.",
            is_brief=True,
        )
    return None


def _of_stream(error: Exception, name: str) -> VenueError | None:
    """The error of a broken stream; one that could not be opened wraps the network's exception."""
    import ccxt  # noqa: PLC0415 - as below

    is_inner = bool(error.args) and isinstance(error.args[0], Exception)
    if isinstance(error, ccxt.NetworkError) and not is_inner:
        return VenueError(f"The connection to {name} was cut.", is_brief=True)
    return None


def refuses_interval(error: Exception, names: tuple[str, ...] = ()) -> bool:
    """Whether an exchange answered that it has no candles of the requested interval. names: the interval's names."""
    import ccxt  # noqa: PLC0415 - as below

    if not isinstance(error, ccxt.BadRequest | ccxt.NotSupported):
        return False
    words = str(error).casefold()  # ccxt has no class for this refusal, only the exchange's own words
    return any(each in words for each in _INTERVAL_WORDS) or names_interval(_venue_message(error), names)


def _venue_message(error: Exception) -> str:
    """The exchange's own message, from the JSON that ccxt appends to the exchange's id."""
    text = str(error)
    try:
        answer = json.loads(text[text.index("{") :])
    except ValueError:
        return plain(text)
    words = next((answer[key] for key in _SENTENCE_KEYS if isinstance(answer.get(key), str) and answer[key]), text)
    return plain(words.rstrip(". ") or text)


def _by_class(error: Exception, name: str, has_answered: bool) -> VenueError:
    """has_answered: a response came with an error that its status does not show, as Kraken's do."""
    import ccxt  # noqa: PLC0415 - 0.7 s and more; loaded already if there is an error

    message = _venue_message(error)
    if isinstance(error, ccxt.BadSymbol):
        return VenueError(f"{name} does not have this market ({message}).", is_final=True, is_absent=True)
    if isinstance(error, ccxt.OnMaintenance):
        return VenueError(f"{name} is down for maintenance.", wait_s=_MAINTENANCE_WAIT_S, is_of_venue=True)
    if isinstance(error, ccxt.ExchangeNotAvailable) and has_answered:
        return VenueError(
            f"{name} reports that it is down for maintenance or overloaded.", is_brief=True, is_of_venue=True
        )
    if isinstance(error, ccxt.RequestTimeout | TimeoutError):
        return VenueError(f"{name} did not answer in time.", is_brief=True)
    if isinstance(error, ccxt.RestrictedLocation):
        return VenueError(f"{name} does not serve this location. {_INSTEAD}", is_final=True, is_of_venue=True)
    if isinstance(error, ccxt.AuthenticationError):
        return VenueError(
            f"{name} requires an API key for this, and Ghostcandle uses none. {_INSTEAD}",
            is_final=True,
            is_of_venue=True,
        )
    if isinstance(error, ccxt.DDoSProtection | ccxt.RateLimitExceeded):
        return VenueError(f"{name} demands fewer requests.", wait_s=_SLOW_DOWN_WAIT_S, is_demanded=True)
    if isinstance(error, ccxt.NetworkError | OSError):
        return VenueError(f"{name} cannot be reached: no network, or its address is blocked.", is_brief=True)
    if isinstance(error, ccxt.NotSupported | ccxt.BadRequest | ccxt.ArgumentsRequired):
        return VenueError(f"{name} refused the request: {message}. {_INSTEAD}", is_final=True, is_of_venue=True)
    return VenueError(f"{name} sent an unreadable response ({type(error).__name__}: {message}).", is_brief=True)
