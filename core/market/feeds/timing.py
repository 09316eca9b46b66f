"""The timing of the exchange feed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTimes:
    """Times in seconds."""

    request_s: float = 10.0
    first_look_s: float = 0.3
    """Time of the first request after a candle's close, if the venue's stream does not mark closed candles."""
    grace_s: float = 2.0
    """This long after its close a candle is final, even if no later candle or message confirms it."""
    patience_s: float = 5.0
    """The longest wait for a candle that has closed but is not available yet."""
    retry_s: float = 0.25
    silence_s: float = 20.0
    """After this long without a message, the market is checked by request."""
    doubt_s: float = 3.0
    """The stream has this long to follow after a request has shown new trades."""
    vitals_s: float = 1.0
    """Time between two reports of the connection's state."""
    check_s: float = 10.0
    """This long after its close a candle is first compared with the exchange's own list."""
    check_again_candles: int = 5
    check_again_s: float = 60.0
    """The second comparison comes after `check_again_candles`, but not earlier than this."""
    check_every_s: float = 10.0
    """Time between two requests for comparison."""
    confirm_s: float = 2.0
    """A difference counts if it is still there after this time."""
    check_pause_s: float = 30.0
    """Time without comparisons after a request that failed."""
    sync_s: float = 600.0
    """Time between two syncs with the exchange's clock."""
    slept_s: float = 5.0
    """If the wall clock gains more than this on the monotonic one, the computer slept or its clock was set."""
    steady_s: float = 30.0
    """A connection that lasts this long resets the backoff."""
    renew_s: float = 23.0 * _HOUR_S
    """A connection's lifetime: exchanges close it after a day."""
    renew_jitter_s: float = 0.5 * _HOUR_S


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event; False if it has not happened by then."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    if is_cancelled():  # in the moment of the event, `wait_for` of Python 3.11 keeps that to itself
        raise asyncio.CancelledError
    return True


def is_cancelled() -> bool:
    """Whether the current task itself was cancelled, not only an awaited one."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
