"""The chart's data: series, forming candle, forecast and past forecasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries, PastSeries
from core.domain.events import ForecastMade, Ghost
from core.market.known_holes import KnownHoles
from desktop.chart.data.ghosts import CentralPath, Futures, PlacedGhost, PriceChance, is_drawable, joined
from desktop.chart.data.insides import Insides, KnownInside
from desktop.chart.data.past_forecasts import PastForecast, PastForecasts
from desktop.chart.data.regimes import RegimeTrack
from desktop.ui import formatting

_DECIMALS_FROM = 200
_VOLUME_FROM = 200
_GHOST_MARGIN = 2.0
_FORECAST_DUE_MS = 5_000
"""How long after a candle's end by the clock its closing message and the next forecast may take."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A past moment to show: the candles closed by then and the forecast made then."""

    time_ms: int
    """Close time of the newest candle shown."""
    forecast: ForecastMade | None = None
    """The forecast stored with that candle."""
    note: str = ""
    """Why there is no forecast, or a remark on it."""


class ChartModel:
    """The data behind the chart, by candle index; index `count` is the forming candle's.

    While a past moment is shown, every query answers for that moment; new data is kept for the return to now.
    """

    def __init__(self) -> None:
        self.title = ""
        self.whole = CandleSeries(Interval(60_000))
        """The closed candles of now, whatever moment is shown."""
        self.moment: Moment | None = None
        """The past moment that is shown; None: now."""
        self.open_at: Callable[[int], Candle | None] = lambda _time_ms: None
        """The candle open at the past moment, merged from the finer candles that had closed by then, if there are any.
        It is not part of the series."""
        self._then = PastSeries(self.whole)
        self._note = ""
        self._forming: Candle | None = None
        self._forecast: ForecastMade | None = None
        self.market_time_ms: int | None = None
        """The exchange's time now; None if the candles come from no exchange."""
        self.usual_age = 0
        """Up to this age a forecast is shown as current: in a replay, candles come ahead of the model."""
        self.holes: KnownHoles | None = None
        """Candles the exchange is known to lack; None if the candles come from no exchange."""
        self.past = PastForecasts()
        self.regimes = RegimeTrack()
        self.insides = Insides()
        self.futures = Futures()
        self._decimals = 2
        self._decimals_version = -1
        self._volume_key: tuple[object, ...] = ()
        self._has_volume = True
        self._placed: tuple[PlacedGhost, ...] = ()
        self._placed_key: tuple[object, ...] = ()

    @property
    def series(self) -> CandleSeries:
        """The closed candles that are shown; empty before there is a market."""
        return self.whole if self.moment is None else self._then

    @property
    def forming(self) -> Candle | None:
        """The open candle; None in the past."""
        return self._forming if self.moment is None else None

    @property
    def forecast(self) -> ForecastMade | None:
        return self._forecast if self.moment is None else self.moment.forecast

    @property
    def note(self) -> str:
        """A remark on the forecast for the user."""
        return self._note if self.moment is None else self.moment.note

    @property
    def count(self) -> int:
        """Number of closed candles."""
        return len(self.series)

    @property
    def version(self) -> int:
        return self.series.version

    @property
    def is_empty(self) -> bool:
        return self.count == 0 and self.forming is None

    @property
    def newest(self) -> Candle | None:
        """The forming candle, otherwise the newest closed one."""
        if self.forming is not None:
            return self.forming
        return self.series[-1] if self.count else None

    @property
    def newest_index(self) -> int:
        """The index of `newest`; -1 if there is none."""
        return self.count if self.forming is not None else self.count - 1

    def show_moment(self, moment: Moment | None) -> None:
        """Show the candles closed by then and the forecast made then, and nothing later; None: now."""
        self.moment = moment
        self._decimals, self._decimals_version = 2, -1  # later prices may have more decimals
        self.follow()

    def follow(self) -> None:
        """Take over a change to the series by its owner. Candles after the shown moment stay hidden, and a candle that
        has closed is no longer the forming one."""
        if self._forming is not None and self.whole.insertion_index(self._forming.open_time_ms) < len(self.whole):
            self._forming = None
        if self.moment is not None:
            opened_ms = self.moment.time_ms - self.whole.interval.duration_ms
            self._then.show(self.whole, self.whole.insertion_index(opened_ms + 1))

    def set_series(self, series: CandleSeries, title: str, *, is_same_market: bool = False) -> None:
        """Show another market and drop the data of the previous one, or the same market at another interval."""
        self.whole, self.title, self._forming = series, title, None
        self._decimals, self._decimals_version = 2, -1
        if not is_same_market:
            self._forecast, self.moment = None, None
            self.past.forget()
            self.regimes.forget()
        self.follow()

    def replace_series(self, series: CandleSeries) -> None:
        self.whole = series
        self.follow()

    def set_forming(self, candle: Candle | None) -> None:
        """Set the forming candle. It is ignored if it is no newer than the closed ones or not finite."""
        if candle is None or is_drawable(candle):
            self._forming = candle
            self.follow()

    def set_note(self, note: str) -> bool:
        """Set the remark on the current forecast. Returns whether it changed."""
        is_new, self._note = note != self._note, note
        return is_new

    def set_forecast(self, forecast: ForecastMade | None) -> None:
        self._forecast = forecast

    def room_ahead(self, margin: float) -> float:
        """Margin in candles for the forecast; `margin` if there is no forecast."""
        made = self.forecast
        return margin if made is None or not made.ghosts else len(made.ghosts) + _GHOST_MARGIN

    def past_forecast(self, index: int) -> PastForecast | None:
        """The forecast made for this closed candle at the shown horizon; None if unknown."""
        return self.past.at(self.series, index)

    def inside(self, index: int) -> KnownInside | None:
        """What is known of the inside of this closed candle; None if nothing is."""
        return self.insides.at(self.series, index)

    def chances_of(self, price: float) -> tuple[PriceChance, ...]:
        """The forecast's chances of a price; empty if there are none, not yet, or no longer."""
        if self.other_interval is not None or self.is_forecast_over:
            return ()
        return self.futures.at(price, self.forecast, self.series)

    @property
    def forecast_age(self) -> int:
        """Intervals ended since the forecast's newest candle, also those for which the market has no candle; 0 for the
        newest possible forecast, or without one."""
        made = self.forecast
        if made is None:
            return 0
        own = self.other_interval or self.series.interval
        return max(0, (self._reached_ms - made.origin_open_time_ms) // own.duration_ms - 1)

    @property
    def is_forecast_old(self) -> bool:
        """Whether the forecast is older than candles arrive ahead of it, so that it is shown as one of the past."""
        return self.forecast_age > self.usual_age

    @property
    def is_forecast_over(self) -> bool:
        """Whether all candles that it forecasts have ended."""
        return self.forecast is not None and 0 < len(self.forecast.ghosts) <= self.forecast_age

    @property
    def _reached_ms(self) -> int:
        """The latest time that is known to have passed in the market."""
        times = [0]
        if self.count:
            times.append(self.series.interval.close_time_ms(int(self.series.open_time_ms[-1])))
        if self.forming is not None:
            times.append(self.forming.open_time_ms)
        if self.moment is None and self.market_time_ms is not None:
            times.append(self.market_time_ms - _FORECAST_DUE_MS)
        return max(times)

    @property
    def other_interval(self) -> Interval | None:
        """The forecasts' interval if it differs from the candles'. Then past forecasts are hidden, and ghosts are shown
        only if they can be merged."""
        own_ms = self.past.interval_ms
        if own_ms is None and self.forecast is not None and self.forecast.ghosts:
            own_ms = self.forecast.ghosts[0].open_time_ms - self.forecast.origin_open_time_ms
        if own_ms is None or own_ms == self.series.interval.duration_ms:
            return None
        return Interval(own_ms)

    def candle(self, index: int) -> Candle | None:
        """The closed or forming candle at an index."""
        if 0 <= index < self.count:
            return self.series[index]
        return self.forming if index == self.count else None

    def has_volume(self) -> bool:
        """Whether any candle has volume. A file without a volume column has 0 everywhere: unknown."""
        if self.forming is not None and self.forming.volume > 0.0:
            return True
        key = (self.series, self.version)  # the series itself, not its id(), which may be reused
        if key != self._volume_key:
            self._volume_key = key
            newest, volume = self.series.volume[-_VOLUME_FROM:], self.series.volume  # nearly always enough, and fast
            self._has_volume = self.count == 0 or bool((newest > 0.0).any()) or bool((volume > 0.0).any())
        return self._has_volume

    def decimals(self) -> int:
        """Decimals of prices, from the market's newest prices; they only increase, so that labels do not jump."""
        if self._decimals_version != self.version:
            newest = slice(max(0, self.count - _DECIMALS_FROM), self.count)
            prices = np.concatenate((self.series.open[newest], self.series.close[newest]))
            found = formatting.decimals_of_prices(prices)
            self._decimals = found if self._decimals_version < 0 else max(found, self._decimals)
            self._decimals_version = self.version
        if self.count == 0 and self.forming is not None:
            return formatting.decimals_of_prices([self.forming.open, self.forming.close])
        return self._decimals

    def time_at(self, index: int) -> int | None:
        """The opening time at an index. Beyond the newest candle, times continue by the interval."""
        if 0 <= index < self.count:
            return int(self.series.open_time_ms[index])
        newest = self.newest
        if index < 0 or newest is None:
            return None
        return newest.open_time_ms + (index - self.newest_index) * self.series.interval.duration_ms

    def index_from(self, time_ms: int) -> int | None:
        """The first index whose candle opens at or after a time, including beyond the newest candle."""
        found = self.series.insertion_index(time_ms)
        if found < self.count:
            return found
        next_time = self.time_at(self.count)
        if next_time is None:
            return None
        return self.count + max(0, -((next_time - time_ms) // self.series.interval.duration_ms))

    def index_around(self, time_ms: int) -> int | None:
        """The index of the candle that contains a time; in a gap, of the next candle."""
        return self.index_from(self.series.interval.open_time_ms(time_ms))

    def index_of(self, time_ms: int) -> int | None:
        """The index of the candle that opens, or will open, at exactly this time; None in a gap."""
        index = self.index_from(time_ms)
        return index if index is not None and self.time_at(index) == time_ms else None

    def missing_before(self, index: int) -> int:
        time, before = self.time_at(index), self.time_at(index - 1)
        if time is None or before is None:
            return 0
        return max(0, (time - before) // self.series.interval.duration_ms - 1)

    def absent_before(self, index: int) -> int:
        """Number of candles before this one that the exchange is known to lack; 0 if it was not asked."""
        time, before = self.time_at(index), self.time_at(index - 1)
        if self.holes is None or time is None or before is None:
            return 0
        step = self.series.interval.duration_ms
        return int(self.holes.within_ms(before + step, time)) // step

    def ghosts(self) -> tuple[PlacedGhost, ...]:
        """The forecast's candles that have not closed yet, with their indices; recomputed only when a candle closes.
        Merged at a coarser interval, empty at a finer one."""
        forming: object = self.forming
        if self.forming is not None and self.other_interval is None:
            forming = self.forming.open_time_ms  # its prices matter only if ghosts are merged with it
        key = (self.forecast, self.series, self.version, forming)
        if key != self._placed_key:
            self._placed, self._placed_key = self.placed(self._ghosts_shown()), key
        return self._placed

    def central_path(self) -> CentralPath | None:
        """The forecast along its most central sample path; None if it has no paths, or not yet."""
        found = None if self.other_interval is not None else self.futures.of(self.forecast, self.series)
        return None if found is None else found.central

    def drawn_path(self, *, along_path: bool) -> CentralPath | None:
        """The path that the bodies of the ghosts follow: the most central one if the forecast has a trend to show, or
        if wanted in any case. None: they are the medians."""
        central = self.central_path()
        return central if central is not None and (along_path or central.has_trend) else None

    def drawn_ghosts(self, *, along_path: bool) -> tuple[PlacedGhost, ...]:
        """The ghosts as they are painted. Figures are still taken from `ghosts`, which are scored."""
        central = self.drawn_path(along_path=along_path)
        if central is None:
            return self.ghosts()
        return tuple(replace(placed, ghost=central.ghosts[placed.ahead - 1]) for placed in self.ghosts())

    def ghost(self, index: int) -> PlacedGhost | None:
        return next((placed for placed in self.ghosts() if placed.index == index), None)

    def close_at(self, index: int) -> float | None:
        """The close of the candle at an index, otherwise of the ghost."""
        candle = self.candle(index)
        if candle is not None:
            return candle.close
        placed = self.ghost(index)
        return None if placed is None else placed.ghost.close

    def placed(self, ghosts: Sequence[Ghost]) -> tuple[PlacedGhost, ...]:
        """Positions of the ghosts that have not closed yet."""
        places = ((self.index_of(ghost.open_time_ms), ahead, ghost) for ahead, ghost in enumerate(ghosts, start=1))
        return tuple(
            PlacedGhost(index, ahead, ghost)
            for index, ahead, ghost in places
            if index is not None and index >= self.count and is_drawable(ghost)
        )

    def _ghosts_shown(self) -> tuple[Ghost, ...]:
        own, shown = self.other_interval, self.series.interval
        if self.forecast is None or own is None:
            return () if self.forecast is None else self.forecast.ghosts
        if shown.duration_ms % own.duration_ms:
            return ()
        begun = self.forming if self.moment is None else self.open_at(self.moment.time_ms)
        return joined(self.forecast.ghosts, own.duration_ms, shown, begun)
