"""What the chart knows: the series, the forming candle, the forecast, and what was forecast before."""

from __future__ import annotations

import numpy as np

from core.events import ForecastMade, Ghost
from core.market.candle import Candle, Interval
from core.market.series import CandleSeries
from desktop import formatting
from desktop.chart.data.ghosts import PlacedGhost, is_drawable, joined
from desktop.chart.data.holes import KnownHoles
from desktop.chart.data.past import PastForecast
from desktop.chart.data.past_forecasts import PastForecasts
from desktop.chart.data.regimes import RegimeTrack

_DECIMALS_FROM = 200


class ChartModel:
    """The data behind the picture. Everything is asked for by candle index; index `count` is the forming candle's."""

    def __init__(self) -> None:
        self.title = ""
        self.note = ""
        self.forming: Candle | None = None
        self._series: CandleSeries | None = None
        self._forecast: ForecastMade | None = None
        self.holes: KnownHoles | None = None
        """What the exchange is known not to have; None where the candles come from none."""
        self.past = PastForecasts()
        self.regimes = RegimeTrack()
        self._decimals = 2
        self._decimals_version = -1
        self._placed: tuple[PlacedGhost, ...] = ()
        self._placed_key: tuple[object, ...] = ()

    @property
    def series(self) -> CandleSeries | None:
        return self._series

    @property
    def forecast(self) -> ForecastMade | None:
        return self._forecast

    @property
    def count(self) -> int:
        """Closed candles."""
        return 0 if self._series is None else len(self._series)

    @property
    def version(self) -> int:
        return -1 if self._series is None else self._series.version

    @property
    def is_empty(self) -> bool:
        return self.count == 0 and self.forming is None

    @property
    def newest(self) -> Candle | None:
        """The forming candle, else the newest closed one."""
        if self.forming is not None:
            return self.forming
        return self._series[-1] if self._series is not None and self.count else None

    def set_series(self, series: CandleSeries | None, title: str) -> None:
        """Another market: what belonged to the former one is let go."""
        self._series, self.title = series, title
        self.forming, self._forecast = None, None
        self.past.forget()
        self.regimes.forget()
        self._decimals, self._decimals_version = 2, -1

    def replace_series(self, series: CandleSeries) -> None:
        """The same market, with other candles of it."""
        self._series = series
        self.drop_stale_forming()

    def set_forming(self, candle: Candle | None) -> None:
        """The candle as it stands now. One that is no newer than the closed ones is let go, one without numbers
        is not taken."""
        if candle is not None and not is_drawable(candle):
            return
        self.forming = candle
        self.drop_stale_forming()

    def drop_stale_forming(self) -> None:
        """A candle that has closed is not forming any more."""
        if self.forming is None or self._series is None or self.count == 0:
            return
        if self.forming.open_time_ms <= int(self._series.open_time_ms[-1]):
            self.forming = None

    def set_forecast(self, forecast: ForecastMade | None) -> None:
        self._forecast = forecast

    def past_forecast(self, index: int) -> PastForecast | None:
        """What was forecast for this closed candle, at the horizon that is shown; None where nothing is known."""
        return None if self._series is None else self.past.at(self._series, index)

    @property
    def forecast_age(self) -> int:
        """Candles that have closed since the forecast was made; 0 where it has seen the newest, or there is none."""
        if self._forecast is None or self._series is None:
            return 0
        return self.count - self._series.insertion_index(self._forecast.origin_open_time_ms + 1)

    @property
    def other_interval(self) -> Interval | None:
        """The interval that forecasts are for, where it is not that of the candles: then no past forecast is shown, and
        ghosts only where they can be joined."""
        own_ms = self.past.interval_ms
        if own_ms is None and self._forecast is not None and self._forecast.ghosts:
            own_ms = self._forecast.ghosts[0].open_time_ms - self._forecast.origin_open_time_ms
        if own_ms is None or self._series is None or own_ms == self._series.interval.duration_ms:
            return None
        return Interval(own_ms)

    def candle(self, index: int) -> Candle | None:
        """The closed or forming candle at an index."""
        if self._series is not None and 0 <= index < self.count:
            return self._series[index]
        return self.forming if index == self.count else None

    def decimals(self) -> int:
        """Decimals of prices, as the market's newest prices show them; they only grow, so that labels stay still."""
        if self._decimals_version != self.version and self._series is not None:
            newest = slice(max(0, self.count - _DECIMALS_FROM), self.count)
            prices = np.concatenate((self._series.open[newest], self._series.close[newest]))
            found = formatting.decimals_of_prices(prices)
            self._decimals = found if self._decimals_version < 0 else max(found, self._decimals)
            self._decimals_version = self.version
        if self.count == 0 and self.forming is not None:
            return formatting.decimals_of_prices([self.forming.open, self.forming.close])
        return self._decimals

    def time_at(self, index: int) -> int | None:
        """The opening time at an index. Beyond the newest candle time goes on by the interval."""
        if self._series is None or index < 0:
            return None
        if index < self.count:
            return int(self._series.open_time_ms[index])
        step = self._series.interval.duration_ms
        if self.forming is not None:
            return self.forming.open_time_ms + (index - self.count) * step
        return None if self.count == 0 else int(self._series.open_time_ms[-1]) + (index - self.count + 1) * step

    def index_from(self, time_ms: int) -> int | None:
        """The first index whose candle opens at or after a time, beyond the newest candle too."""
        if self._series is None:
            return None
        found = self._series.insertion_index(time_ms)
        if found < self.count:
            return found
        next_time = self.time_at(self.count)
        if next_time is None:
            return None
        return self.count + max(0, -((next_time - time_ms) // self._series.interval.duration_ms))

    def index_around(self, time_ms: int) -> int | None:
        """The index of the candle that a time lies in; in a gap that of the next."""
        return None if self._series is None else self.index_from(self._series.interval.open_time_ms(time_ms))

    def index_of(self, time_ms: int) -> int | None:
        """The index of the candle that opens, or will open, at exactly this time; None in a gap."""
        index = self.index_from(time_ms)
        return index if index is not None and self.time_at(index) == time_ms else None

    def missing_before(self, index: int) -> int:
        """How many candles are missing between this one and the one before it."""
        time, before = self.time_at(index), self.time_at(index - 1)
        if time is None or before is None or self._series is None:
            return 0
        return max(0, (time - before) // self._series.interval.duration_ms - 1)

    def absent_before(self, index: int) -> int:
        """How many of those the exchange is known not to have; 0 where it was not asked."""
        time, before = self.time_at(index), self.time_at(index - 1)
        if self.holes is None or time is None or before is None or self._series is None:
            return 0
        step = self._series.interval.duration_ms
        return int(self.holes.within_ms(before + step, time)) // step

    def ghosts(self) -> tuple[PlacedGhost, ...]:
        """The forecast's candles that have not closed yet, where they will stand; found anew only when one
        closed. At a coarser interval they are joined, at a finer one there are none."""
        key = (self._forecast, self._series, self.version, self._forming_shown())
        if key != self._placed_key:
            self._placed, self._placed_key = self._place_ghosts(), key
        return self._placed

    def _forming_shown(self) -> object:
        """What the places of ghosts depend on: its time, and its prices where ghosts are joined with it."""
        if self.forming is None:
            return None
        return self.forming.open_time_ms if self.other_interval is None else self.forming

    def _place_ghosts(self) -> tuple[PlacedGhost, ...]:
        placed = (
            (self.index_of(ghost.open_time_ms), ahead, ghost)
            for ahead, ghost in enumerate(self._ghosts_shown(), start=1)
        )
        return tuple(
            PlacedGhost(index, ahead, ghost)
            for index, ahead, ghost in placed
            if index is not None and index >= self.count and is_drawable(ghost)
        )

    def _ghosts_shown(self) -> tuple[Ghost, ...]:
        own, series = self.other_interval, self._series
        if self._forecast is None or series is None or own is None:
            return () if self._forecast is None else self._forecast.ghosts
        if series.interval.duration_ms % own.duration_ms:
            return ()
        return joined(self._forecast.ghosts, own.duration_ms, series.interval, self.forming)
