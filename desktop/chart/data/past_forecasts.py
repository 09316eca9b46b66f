"""Past forecasts by target candle: read in blocks, cached with a limit, updated by events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.domain.candle_series import CandleSeries
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import ForecastScored
from core.storage.record_reader import RecordReader
from desktop.chart.data import past
from desktop.chart.data.past import PAST, Names, Past, PastForecast

_BLOCK = 256
"""Targets per block, by time: reading one takes about 1.5 ms. Late candles shift indices, not times."""
_MOST_BLOCKS = 512
"""Blocks in the cache, and so in one view: 131,072 candles, 16 MB."""

_Key = tuple[int, int | None]
"""Horizon and block number since the epoch; number None: the range of the scores of that horizon."""


@dataclass(frozen=True, eq=False)
class PastView:
    """The past forecasts of the visible candles, ascending."""

    index: NDArray[np.float64]
    """Candle indices on the x axis."""
    past: Past
    error: NDArray[np.float64]
    """Error of the forecast close in percent."""
    is_too_wide: bool = False
    """The view is wider than the limit: nothing is shown rather than a part."""
    is_complete: bool = True
    """False while blocks are being read."""

    def __len__(self) -> int:
        return len(self.index)

    @property
    def is_later(self) -> NDArray[np.bool_]:
        """Whether each was made in catch-up, replay or recovery."""
        return np.asarray(past.IS_LATER[self.past["mode"]], dtype=np.bool_)


def _nothing(*, is_too_wide: bool = False, is_complete: bool = True) -> PastView:
    return PastView(np.empty(0), np.zeros(0, PAST), np.empty(0), is_too_wide, is_complete)


class PastForecasts:
    """Past forecasts of one run. Painting and mouse handling use only what is cached; missing blocks are queued, and
    `load_next` reads them from idle time. Without a reader, only events fill it."""

    def __init__(self, block: int = _BLOCK, most_blocks: int = _MOST_BLOCKS) -> None:
        self._block, self._most_blocks = block, most_blocks
        self.most_candles = block * most_blocks
        """The widest view, in candles; wider ones show nothing."""
        self.on_wanted: Callable[[], None] = lambda: None
        """Called when something has to be read."""
        self.version = 0
        """Increases with every visible change."""
        self.horizon = 1
        """The shown horizon: how many candles before its target a forecast was made. See `set_horizon`."""
        self.nearest_checkpoint: Callable[[int, str | None], CheckpointInfo | None] = lambda _step, _id: None
        """Of the run's model, to a step: the one of this id if it is kept."""
        self.begin(None, None)

    def begin(self, reader: RecordReader | None, interval_ms: int | None) -> None:
        """Start with another run, or none."""
        self._reader, self.interval_ms = reader, interval_ms
        self._names: Names = {None: 0}
        self.forget()

    def forget(self) -> None:
        """Drop everything that can be read again."""
        self._blocks: OrderedDict[_Key, Past] = OrderedDict()
        self._spans: dict[int, tuple[int, int] | None] = {}
        """First and last scored target, by horizon."""
        self._wanted: dict[_Key, None] = {}
        self._view: PastView = _nothing()
        self._view_key: tuple[object, ...] = ()
        self.version += 1

    @property
    def is_waiting(self) -> bool:
        """Whether `load_next` has work."""
        return bool(self._wanted)

    def set_horizon(self, horizon: int) -> None:
        """Show the forecasts made this many candles before their target, 1 or more."""
        if horizon != self.horizon:
            self.horizon = horizon
            self._wanted.clear()
            self.version += 1

    def add(self, scored: ForecastScored) -> None:
        """Add a forecast whose target has closed or was corrected. Only a later version replaces a known one."""
        if self.interval_ms is None:
            self.interval_ms = (scored.target_open_time_ms - scored.origin_open_time_ms) // scored.horizon
        key, slot = self._place(scored.horizon, scored.target_open_time_ms)
        self._stretch_span(scored)
        if self._reader is None and key not in self._blocks:
            self._keep(key, np.zeros(self._block, PAST))
        block = self._blocks.get(key)
        if block is not None and (scored.version > 1 or not block["is_known"][slot]):
            block[slot] = past.from_event(scored, self._names)[0]
            self.version += scored.horizon == self.horizon

    def view(self, series: CandleSeries, first: int, stop: int) -> PastView:
        """The past forecasts of the closed candles first..stop - 1. Reads nothing: see `load_next`."""
        key = (self.version, self.horizon, series, series.version, first, stop)
        if key != self._view_key:
            self._view, self._view_key = self._make_view(series, first, stop), key
        return self._view

    def at(self, series: CandleSeries, index: int) -> PastForecast | None:
        """The forecast for one closed candle; None if unknown, or not read yet. Reads nothing."""
        span = self._span() if self.is_of(series) and 0 <= index < len(series) else None
        if span is None or not span[0] <= series.open_time_ms[index] <= span[1]:
            return None
        key, slot = self._place(self.horizon, int(series.open_time_ms[index]))
        block = self._blocks.get(key)
        if block is None:
            self._want(key)
        if block is None or not block["is_known"][slot]:
            return None
        return past.to_forecast(block[slot], self.horizon, float(series.close[index]), self._names)

    def nearest_kept(self, forecast: PastForecast) -> CheckpointInfo | None:
        """The checkpoint saved nearest to this forecast, its own if it is kept."""
        return None if forecast.step is None else self.nearest_checkpoint(forecast.step, forecast.checkpoint_id)

    def is_of(self, series: CandleSeries) -> bool:
        """Whether forecasts are for candles of this length."""
        return self.interval_ms == series.interval.duration_ms

    def load_next(self) -> bool:
        """Read one block or one range. True if more is queued. Raises StorageError."""
        if self._reader is None or not self._wanted:
            return False
        key = next(iter(self._wanted))
        del self._wanted[key]
        horizon, number = key
        if number is None:
            self._spans[horizon] = self._reader.scored_span(horizon)
        else:
            self._keep(key, self._read(self._reader, horizon, number))
        self.version += 1
        return self.is_waiting

    def _make_view(self, series: CandleSeries, first: int, stop: int) -> PastView:
        span = self._span() if self.is_of(series) and first < stop else None
        if span is None:
            return _nothing(is_complete=(self.horizon, None) not in self._wanted)
        times = series.open_time_ms[first:stop]
        begin, end = (int(place) for place in np.searchsorted(times, (span[0], span[1] + 1)))
        times, close = times[begin:end], series.close[first + begin : first + end]
        numbers = times // self._block_ms
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        self._wanted = {key: None for key in self._wanted if key[1] is None}  # drop the blocks of the previous view
        if len(starts) > self._most_blocks:
            return _nothing(is_too_wide=True)
        found, missing = self._gather(times, [(self.horizon, int(number)) for number in numbers[starts]], starts)
        self._want(*missing[::-1])
        here = np.flatnonzero(found["is_known"])
        known = found[here]
        error = (close[here] / known["close"] - 1.0) * 100.0
        return PastView((first + begin + here).astype(np.float64), known, error, is_complete=not missing)

    def _gather(
        self, times: NDArray[np.int64], keys: Sequence[_Key], starts: NDArray[np.int64]
    ) -> tuple[Past, list[_Key]]:
        """A row for each time, and the keys of missing blocks. starts: where each block begins among the times."""
        found, missing = np.zeros(len(times), PAST), []
        slots = times % self._block_ms // (self._block_ms // self._block)
        for key, (begin, end) in zip(keys, pairwise([*starts, len(times)]), strict=True):
            block = self._blocks.get(key)
            if block is None:
                missing.append(key)
            else:
                self._blocks.move_to_end(key)
                found[begin:end] = block[slots[begin:end]]
        return found, missing

    def _span(self) -> tuple[int, int] | None:
        """The range of scored targets at the shown horizon; queued for reading if unknown."""
        if self.horizon not in self._spans:
            self._want((self.horizon, None))
        return self._spans.get(self.horizon)

    def _stretch_span(self, scored: ForecastScored) -> None:
        time_ms, horizon = scored.target_open_time_ms, scored.horizon
        if self._reader is None or horizon in self._spans:
            low, high = self._spans.get(horizon) or (time_ms, time_ms)
            self._spans[horizon] = (min(low, time_ms), max(high, time_ms))

    def _want(self, *keys: _Key) -> None:
        if self._reader is not None and keys:
            self._wanted |= dict.fromkeys(keys)
            self.on_wanted()

    def _read(self, reader: RecordReader, horizon: int, number: int) -> Past:
        first_ms = number * self._block_ms
        rows = reader.past_forecasts(horizon, first_ms, first_ms + self._block_ms, self._block)
        block = np.zeros(self._block, PAST)
        slots = (rows.target_open_time_ms - first_ms) // (self._block_ms // self._block)
        block[slots] = past.from_rows(rows, self._names)
        return block

    def _keep(self, key: _Key, block: Past) -> None:
        self._blocks[key] = block
        self._blocks.move_to_end(key)
        if len(self._blocks) > self._most_blocks:
            self._blocks.popitem(last=False)

    def _place(self, horizon: int, time_ms: int) -> tuple[_Key, int]:
        slot = time_ms % self._block_ms // (self._block_ms // self._block)
        return (horizon, time_ms // self._block_ms), slot

    @property
    def _block_ms(self) -> int:
        assert self.interval_ms is not None, "there is a run"
        return self._block * self.interval_ms
