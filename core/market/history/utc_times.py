"""Times on the command line."""

from __future__ import annotations

from datetime import UTC, datetime

from core.domain.candle import Interval
from core.domain.dates import utc_text
from core.market.history.errors import HistoryError


def parse_moment(text: str) -> int:
    """``2024-01-31`` or ``2024-01-31T12:00+02:00`` as UTC milliseconds; UTC without a zone.

    Raises HistoryError.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise HistoryError(f"'{text}' is not a date; write 2024-01-31, or 2024-01-31T12:00+02:00") from error


def moment_text(time_ms: int) -> str:
    """UTC, to the minute."""
    return utc_text(time_ms, "%Y-%m-%d %H:%M")


def first_on_grid(time_ms: int, interval: Interval, phase_ms: int = 0) -> int:
    """The first opening time at or after a time."""
    return time_ms + (phase_ms - time_ms) % interval.duration_ms
