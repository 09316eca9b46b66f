"""A past moment of a market: what had closed by then, and what was forecast of what came after."""

from __future__ import annotations

from dataclasses import dataclass

from core.events import ForecastMade
from core.market.series import CandleSeries


@dataclass(frozen=True, slots=True)
class Moment:
    """What the chart shows instead of now."""

    time_ms: int
    """When the newest candle that is shown had closed."""
    forecast: ForecastMade | None = None
    """As it was stored with that candle."""
    note: str = ""
    """Why there is none, or what else has to be known of it."""

    def count_in(self, series: CandleSeries) -> int:
        """How many of these candles had closed."""
        return series.insertion_index(self.time_ms - series.interval.duration_ms + 1)
