"""What the chart knows: the series, the forming candle, the forecast, and what was forecast before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade, Ghost
from core.market.known_holes import KnownHoles
from core.market.past_series import PastSeries
from desktop.chart.data.ghosts import PlacedGhost, is_drawable, joined
from desktop.chart.data.past import PastForecast
from desktop.chart.data.past_forecasts import PastForecasts
from desktop.chart.data.regimes import RegimeTrack
from desktop.ui import formatting

_DECIMALS_FROM = 200
_VOLUME_FROM = 200
_GHOST_MARGIN = 2.0
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Moment:
    """What the chart shows of a past moment instead of now: what had closed, and what was forecast of what came."""

    time_ms: int
    """When the newest candle that is shown had closed."""
    forecast: ForecastMade | None = None
    """As it was stored with that candle."""
    note: str = ""
    """Why there is none, or what else has to be known of it."""


class ChartModel:
    """The data behind the picture. Everything is asked for by candle index; index `count` is the forming candle's.

    While a past moment is shown, all that is asked for is of then; what comes meanwhile is kept for the way back.
    """

    def __init__(self) -> None:
        self.title = ""
        self.whole = CandleSeries(Interval(_MINUTE_MS))
        """The closed candles of now, whatever moment is shown."""
        self.moment: Moment | None = None
        """The past one that is shown; None: now."""
        self.open_at: Callable[[int], Candle | None] = lambda _time_ms: None
        """The candle that was open at a past moment, of the finer ones that had closed by then, where there are such:
        what is joined of them only is not among the candles."""
        self._then = PastSeries(self.whole)
        self._note = ""
        self._forming: Candle | None = None
        self._forecast: ForecastMade | None = None
        self.holes: KnownHoles | None = None
        """What the exchange is known not to have; None where the candles come from none."""
        self.past = PastForecasts()
        self.regimes = RegimeTrack()
        self._decimals = 2
        self._decimals_version = -1
        self._volume_key: tuple[object, ...] = ()
        self._has_volume = True
        self._placed: tuple[PlacedGhost, ...] = ()
        self._placed_key: tuple[object, ...] = ()

    @property
    def series(self) -> CandleSeries:
        """The closed candles that are shown; none before there is a market."""
        return self.whole if self.moment is None else self._then

    @property
    def forming(self) -> Candle | None:
        """The candle that is still open; there is none in the past."""
        return self._forming if self.moment is None else None

    @property
    def forecast(self) -> ForecastMade | None:
        return self._forecast if self.moment is None else self.moment.forecast

    @property
    def note(self) -> str:
        """What a user has to know of the forecast."""
        return self._note if self.moment is None else self.moment.note

    @property
    def count(self) -> int:
        """Closed candles."""
        return len(self.series)

    @property
    def version(self) -> int:
        return self.series.version

    @property
    def is_empty(self) -> bool:
        return self.count == 0 and self.forming is None

    @property
    def newest(self) -> Candle | None:
        """The forming candle, else the newest closed one."""
        if self.forming is not None:
            return self.forming
        return self.series[-1] if self.count else None

    @property
    def newest_index(self) -> int:
        """That of the same candle; -1 where there is none."""
        return self.count if self.forming is not None else self.count - 1

    def show_moment(self, moment: Moment | None) -> None:
        """Show the candles that had closed by then and the forecast of then, and nothing later; None: all there is."""
        self.moment = moment
        self._decimals, self._decimals_version = 2, -1  # later prices may have had more
        self.follow()

    def follow(self) -> None:
        """The series was changed by its owner: nothing of it that came later than the moment comes into view, and a
        candle that has closed is not forming any more."""
        if self._forming is not None and self.whole.insertion_index(self._forming.open_time_ms) < len(self.whole):
            self._forming = None
        if self.moment is not None:
            opened_ms = self.moment.time_ms - self.whole.interval.duration_ms
            self._then.show(self.whole, self.whole.insertion_index(opened_ms + 1))

    def set_series(self, series: CandleSeries, title: str, *, is_same_market: bool = False) -> None:
        """Another market: what belonged to the former one is let go. Or the same at another interval."""
        self.whole, self.title, self._forming = series, title, None
        self._decimals, self._decimals_version = 2, -1
        if not is_same_market:
            self._forecast, self.moment = None, None
            self.past.forget()
            self.regimes.forget()
        self.follow()

    def replace_series(self, series: CandleSeries) -> None:
        """The same market, with other candles of it."""
        self.whole = series
        self.follow()

    def set_forming(self, candle: Candle | None) -> None:
        """The candle as it stands now. One that is no newer than the closed ones is let go, one without numbers
        is not taken."""
        if candle is None or is_drawable(candle):
            self._forming = candle
            self.follow()

    def set_note(self, note: str) -> bool:
        """Of the forecast of now. Whether that is another than before."""
        is_new, self._note = note != self._note, note
        return is_new

    def set_forecast(self, forecast: ForecastMade | None) -> None:
        self._forecast = forecast

    def room_ahead(self, margin: float) -> float:
        """Candles of room that the forecast needs; `margin` where there is none."""
        made = self.forecast
        return margin if made is None or not made.ghosts else len(made.ghosts) + _GHOST_MARGIN

    def past_forecast(self, index: int) -> PastForecast | None:
        """What was forecast for this closed candle, at the horizon that is shown; None where nothing is known."""
        return self.past.at(self.series, index)

    @property
    def forecast_oddity(self) -> str:
        """Why the forecast is dimmed, though it is not old; empty where it is not."""
        made = self.forecast
        return "" if made is None or made.conditions is None else made.conditions.oddity

    @property
    def forecast_age(self) -> int:
        """Candles that have closed since the forecast was made; 0 where it has seen the newest, or there is none."""
        if self.forecast is None:
            return 0
        return self.count - self.series.insertion_index(self.forecast.origin_open_time_ms + 1)

    @property
    def other_interval(self) -> Interval | None:
        """The interval that forecasts are for, where it is not that of the candles: then no past forecast is shown, and
        ghosts only where they can be joined."""
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
        """Whether anything was traded in any candle. A file without a column for it has 0 in each: not known."""
        if self.forming is not None and self.forming.volume > 0.0:
            return True
        key = (self.series, self.version)  # the series itself: another may come to lie at its address
        if key != self._volume_key:
            self._volume_key = key
            newest, volume = self.series.volume[-_VOLUME_FROM:], self.series.volume  # nearly always there, and at once
            self._has_volume = self.count == 0 or bool((newest > 0.0).any()) or bool((volume > 0.0).any())
        return self._has_volume

    def decimals(self) -> int:
        """Decimals of prices, as the market's newest prices show them; they only grow, so that labels stay still."""
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
        """The opening time at an index. Beyond the newest candle time goes on by the interval."""
        if 0 <= index < self.count:
            return int(self.series.open_time_ms[index])
        newest = self.newest
        if index < 0 or newest is None:
            return None
        return newest.open_time_ms + (index - self.newest_index) * self.series.interval.duration_ms

    def index_from(self, time_ms: int) -> int | None:
        """The first index whose candle opens at or after a time, beyond the newest candle too."""
        found = self.series.insertion_index(time_ms)
        if found < self.count:
            return found
        next_time = self.time_at(self.count)
        if next_time is None:
            return None
        return self.count + max(0, -((next_time - time_ms) // self.series.interval.duration_ms))

    def index_around(self, time_ms: int) -> int | None:
        """The index of the candle that a time lies in; in a gap that of the next."""
        return self.index_from(self.series.interval.open_time_ms(time_ms))

    def index_of(self, time_ms: int) -> int | None:
        """The index of the candle that opens, or will open, at exactly this time; None in a gap."""
        index = self.index_from(time_ms)
        return index if index is not None and self.time_at(index) == time_ms else None

    def missing_before(self, index: int) -> int:
        """How many candles are missing between this one and the one before it."""
        time, before = self.time_at(index), self.time_at(index - 1)
        if time is None or before is None:
            return 0
        return max(0, (time - before) // self.series.interval.duration_ms - 1)

    def absent_before(self, index: int) -> int:
        """How many of those the exchange is known not to have; 0 where it was not asked."""
        time, before = self.time_at(index), self.time_at(index - 1)
        if self.holes is None or time is None or before is None:
            return 0
        step = self.series.interval.duration_ms
        return int(self.holes.within_ms(before + step, time)) // step

    def ghosts(self) -> tuple[PlacedGhost, ...]:
        """The forecast's candles that have not closed yet, where they will stand; found anew only when one
        closed. At a coarser interval they are joined, at a finer one there are none."""
        key = (self.forecast, self.series, self.version, self._forming_shown())
        if key != self._placed_key:
            self._placed, self._placed_key = self.placed(self._ghosts_shown()), key
        return self._placed

    def ghost(self, index: int) -> PlacedGhost | None:
        """The ghost at an index."""
        return next((placed for placed in self.ghosts() if placed.index == index), None)

    def close_at(self, index: int) -> float | None:
        """Of the candle at an index, else of the ghost."""
        candle = self.candle(index)
        if candle is not None:
            return candle.close
        placed = self.ghost(index)
        return None if placed is None else placed.ghost.close

    def _forming_shown(self) -> object:
        """What the places of ghosts depend on: its time, and its prices where ghosts are joined with it."""
        if self.forming is None:
            return None
        return self.forming.open_time_ms if self.other_interval is None else self.forming

    def placed(self, ghosts: Sequence[Ghost]) -> tuple[PlacedGhost, ...]:
        """Where those of them stand that have not closed yet."""
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
