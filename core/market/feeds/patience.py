"""How patient the exchange feed is."""

from __future__ import annotations

from dataclasses import dataclass

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTimes:
    """In seconds, where the name does not say otherwise."""

    request_s: float = 10.0
    first_look_s: float = 0.3
    """After a candle's close, where the venue's stream never says that one is over."""
    grace_s: float = 2.0
    """After a candle's close it is final, even where no later candle and no message proves it."""
    patience_s: float = 5.0
    """Spent on a candle that has closed, but is not there yet."""
    retry_s: float = 0.25
    silence_s: float = 20.0
    """Without a message the market is looked at by request."""
    doubt_s: float = 3.0
    """The stream has this long to follow a market that is seen to move."""
    vitals_s: float = 1.0
    """Between two looks at the connection's own state."""
    check_s: float = 10.0
    """After its close a candle that was passed on is compared with the exchange's own list, for the first time."""
    check_again_candles: int = 5
    check_again_s: float = 60.0
    """The second time: after so many candles, and no earlier than this."""
    check_every_s: float = 10.0
    """Between two such requests."""
    confirm_s: float = 2.0
    """A difference is believed when it is still there after this time."""
    check_pause_s: float = 30.0
    """After a request that failed."""
    sync_s: float = 600.0
    """Between two looks at the exchange's clock."""
    slept_s: float = 5.0
    """The wall clock runs ahead of the monotonic one by more than this: the computer slept, or its clock was set."""
    steady_s: float = 30.0
    """A connection that has stood so long makes earlier troubles forgotten."""
    renew_s: float = 23.0 * _HOUR_S
    """A connection's life: exchanges cut it after a day."""
    renew_jitter_s: float = 0.5 * _HOUR_S
