"""The timing of the exchange feed, and the wait before the next attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTimes:
    """Times in seconds."""

    request_s: float = 10.0
    first_look_s: float = 0.3
    """After a candle's close, if the venue's stream does not mark closed candles."""
    grace_s: float = 2.0
    """This long after its close a candle is final, even if no later candle or message confirms it."""
    patience_s: float = 5.0
    """The longest wait for a candle that has closed but is not available yet."""
    retry_s: float = 0.25
    silence_s: float = 20.0
    """Without a message for this long the market is checked by request."""
    doubt_s: float = 3.0
    """The stream has this long to follow after a request has shown new trades."""
    vitals_s: float = 1.0
    """Between two reports of the connection's state."""
    check_s: float = 10.0
    """This long after its close a candle is first compared with the exchange's own list."""
    check_again_candles: int = 5
    check_again_s: float = 60.0
    """The second comparison: after so many candles, but not earlier than this."""
    check_every_s: float = 10.0
    """Between two requests for comparison."""
    confirm_s: float = 2.0
    """A difference counts if it is still there after this time."""
    check_pause_s: float = 30.0
    """After a request that failed."""
    sync_s: float = 600.0
    """Between two syncs with the exchange's clock."""
    slept_s: float = 5.0
    """If the wall clock gains more than this on the monotonic one, the computer slept or its clock was set."""
    steady_s: float = 30.0
    """A connection that lasts this long resets the backoff."""
    renew_s: float = 23.0 * _HOUR_S
    """A connection's lifetime: exchanges close it after a day."""
    renew_jitter_s: float = 0.5 * _HOUR_S


@dataclass(slots=True)
class Backoff:
    """Doubles with each attempt, up to a limit, with jitter, so that many clients do not return at once."""

    first_s: float = 0.5
    longest_s: float = 60.0
    random: Random = field(default_factory=Random)
    _attempts: int = 0

    def next_s(self, at_least_s: float = 0.0) -> float:
        """Seconds to wait now: half to all of the doubled time, and never less than `at_least_s`."""
        doubled_s = min(self.longest_s, self.first_s * 2.0 ** min(self._attempts, 32))
        self._attempts += 1
        return max(at_least_s, doubled_s * self.random.uniform(0.5, 1.0))

    def reset(self) -> None:
        """Start again from the shortest wait."""
        self._attempts = 0
