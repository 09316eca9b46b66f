"""What went wrong at an exchange, in words a user understands, and whether waiting helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_BAN_WAIT_S = 120.0
_SLOW_DOWN_WAIT_S = 30.0
_REFUSED_WAIT_S = 60.0
_MAINTENANCE_WAIT_S = 30.0
_SERVER_FAULT = 500
_INSTEAD = "Choose another venue, or replay a file."


@dataclass(slots=True)
class Answer:
    """What came back last over HTTP: ccxt's exceptions name neither the status nor the wait that was asked for."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def retry_after_s(self) -> float | None:
        """The seconds that the header Retry-After asks for. Its other form, a date, is not read."""
        for name, value in self.headers.items():
            if name.lower() == "retry-after" and value.strip().isdigit():
                return float(value)
        return None


class VenueError(Exception):
    """An exchange does not do what it was asked for. The message is a sentence for the user.

    is_final: waiting does not help. wait_s: the least time to wait. is_brief: it may be over in a moment.
    """

    def __init__(self, sentence: str, *, is_final: bool = False, wait_s: float = 0.0, is_brief: bool = False) -> None:
        super().__init__(sentence)
        self.is_final = is_final
        self.wait_s = wait_s
        self.is_brief = is_brief


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
    status = _handshake_status(error) or answer.status
    by_status = _by_status(status, name, answer)
    return by_status or (_of_stream(error, name) if is_stream else None) or _by_class(error, name)


def _handshake_status(error: Exception) -> int | None:
    """ccxt wraps the refusal of a WebSocket in a NetworkError around the exception itself."""
    inner = error.args[0] if error.args else None
    status = getattr(inner, "status", None)
    return status if isinstance(status, int) else None


def _proxy_status(error: Exception) -> int | None:
    """What a proxy between here and the exchange answered, where it was one that refused."""
    import aiohttp  # noqa: PLC0415 - comes with ccxt

    for inner in (error.__cause__, *error.args[:1]):
        if isinstance(inner, aiohttp.ClientHttpProxyError):
            return inner.status
    return None


def _by_status(status: int | None, name: str, answer: Answer) -> VenueError | None:
    asked_s = answer.retry_after_s
    match status:
        case 451:
            return VenueError(f"{name} does not serve this location (451). {_INSTEAD}", is_final=True)
        case 403:
            return VenueError(
                f"{name} refuses this computer (403): its firewall, or one on the way. {_INSTEAD}",
                wait_s=asked_s or _REFUSED_WAIT_S,
            )
        case 418:
            return VenueError(
                f"{name} has shut this address out for a while (418), after too many requests.",
                wait_s=asked_s or _BAN_WAIT_S,
            )
        case 429:
            return VenueError(f"{name} asks for fewer requests (429).", wait_s=asked_s or _SLOW_DOWN_WAIT_S)
        case 503:
            return VenueError(f"{name} is down for maintenance or overloaded (503).", wait_s=asked_s or 0.0)
    if status is not None and status >= _SERVER_FAULT:
        return VenueError(f"{name} has a fault of its own ({status}).", is_brief=True, wait_s=asked_s or 0.0)
    return None


def _of_stream(error: Exception, name: str) -> VenueError | None:
    """A stream that stood and broke; one that could not be opened has the network's exception inside."""
    import ccxt  # noqa: PLC0415 - as below

    is_inner = bool(error.args) and isinstance(error.args[0], Exception)
    if isinstance(error, ccxt.NetworkError) and not is_inner:
        return VenueError(f"The connection to {name} was cut.", is_brief=True)
    return None


def _by_class(error: Exception, name: str) -> VenueError:
    import ccxt  # noqa: PLC0415 - 0.7 s and more; whoever has an error to explain has loaded it

    if isinstance(error, ccxt.BadSymbol):
        return VenueError(f"{name} does not have the market asked for ({error}).", is_final=True)
    if isinstance(error, ccxt.OnMaintenance):
        return VenueError(f"{name} is down for maintenance.", wait_s=_MAINTENANCE_WAIT_S)
    if isinstance(error, ccxt.RequestTimeout | TimeoutError):
        return VenueError(f"{name} did not answer in time.", is_brief=True)
    if isinstance(error, ccxt.RestrictedLocation):
        return VenueError(f"{name} does not serve this location. {_INSTEAD}", is_final=True)
    if isinstance(error, ccxt.AuthenticationError):
        return VenueError(f"{name} wants a key for this, and none is ever used here. {_INSTEAD}", is_final=True)
    if isinstance(error, ccxt.DDoSProtection | ccxt.RateLimitExceeded):
        return VenueError(f"{name} asks for fewer requests.", wait_s=_SLOW_DOWN_WAIT_S)
    if isinstance(error, ccxt.NetworkError | OSError):
        return VenueError(f"{name} cannot be reached: no network, or its address is blocked.", is_brief=True)
    if isinstance(error, ccxt.NotSupported | ccxt.BadRequest):
        return VenueError(f"{name} refused the request: {error}. {_INSTEAD}", is_final=True)
    return VenueError(f"{name} sent what cannot be read ({type(error).__name__}: {error}).", is_brief=True)
