"""Decides which forecasts are a run's own, by the candles that its weights had learned before."""

from __future__ import annotations

from core.domain.candle import Interval
from core.domain.events import ForecastMode

_LATE_SHARE = 0.05
_LATE_MS = 2000


def live_within_ms(interval: Interval) -> float:
    """A forecast is live if it is committed within this time of its first target's open."""
    return max(_LATE_MS, _LATE_SHARE * interval.duration_ms)


class Provenance:
    """Owns the time up to which imported weights had learned."""

    def __init__(self, interval: Interval) -> None:
        self._interval = interval
        self.seen_until_ms: int | None = None
        """Imported weights learned from candles up to here; None: no imported weights."""
        self.counts_seen = False
        """Whether forecasts of earlier candles count anyway: according to the user they are of another market."""

    def note_new_weights(self, learned_until_ms: int) -> None:
        """The model has new weights, which learned from candles up to this time."""
        self.seen_until_ms = max(learned_until_ms, self.seen_until_ms or learned_until_ms)

    def learned_until_ms(self, position_ms: int | None) -> int | None:
        """The close of the newest candle that the weights may have learned from, here or elsewhere, or None.
        position_ms: the newest candle that the run has taken."""
        known = [each for each in (self.newest_close_ms(position_ms), self.seen_until_ms) if each is not None]
        return max(known, default=None)

    def newest_close_ms(self, position_ms: int | None) -> int | None:
        return None if position_ms is None else self._interval.close_time_ms(position_ms)

    def is_seen(self, target_opens_ms: int | None) -> bool:
        """Whether the weights may have learned from a candle with this open time."""
        if self.counts_seen or self.seen_until_ms is None or target_opens_ms is None:
            return False
        return target_opens_ms < self.seen_until_ms

    def mode_of(self, mode: ForecastMode, made_at_ms: int, target_opens_ms: int) -> ForecastMode:
        """SEEN if the model may know the target; CATCH_UP for a live forecast committed so late that part of its target
        could have been known; else `mode`."""
        if self.is_seen(target_opens_ms):
            return ForecastMode.SEEN
        is_late = made_at_ms - target_opens_ms > live_within_ms(self._interval)
        return ForecastMode.CATCH_UP if mode is ForecastMode.LIVE and is_late else mode
