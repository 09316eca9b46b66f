"""Past forecasts by the candles they were for: read in blocks, kept in a bounded cache, updated by events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.events import ForecastMade, ForecastScored
from core.market.series import CandleSeries
from core.storage.records import PastRows
from desktop.chart.data import past
from desktop.chart.data.past import PAST, Names, Past, PastForecast

_BLOCK = 256
"""Targets in a block, by time: reading one takes about 1.5 ms. Candles that come late shift indices, not times."""
_MOST_BLOCKS = 512
"""In the cache, and so in one view: 131,072 candles, 16 MB."""
_MAKERS_KEPT = 256
"""Newest forecasts that scores are matched with; more than the longest horizon."""

_BlockKey = tuple[int, int]
"""Horizon, number of the block since the epoch."""


class PastReader(Protocol):
    """Where blocks come from. All methods raise StorageError."""

    def past_forecasts(self, horizon: int, first_ms: int, stop_ms: int, most: int) -> PastRows:
        """The scored forecasts whose targets open in first_ms..stop_ms - 1."""
        ...

    def scored_span(self, horizon: int) -> tuple[int, int] | None:
        """First and last target that was scored."""
        ...

    def kept_checkpoints(self) -> Sequence[tuple[int, str]]:
        """Step and id of each that is kept, ascending."""
        ...


@dataclass(frozen=True, eq=False)
class PastView:
    """The past forecasts of the candles in view that have one, ascending."""

    index: NDArray[np.float64]
    """Of the candles on the x axis."""
    past: Past
    error: NDArray[np.float64]
    """By how many percent the close missed the forecast's."""
    is_too_wide: bool = False
    """More is in view than is ever read: nothing is shown rather than a part."""
    is_complete: bool = True
    """False while blocks are being read."""

    def __len__(self) -> int:
        return len(self.index)

    @property
    def is_later(self) -> NDArray[np.bool_]:
        """Made in catch-up, replay or recovery."""
        return past.are_later(self.past)


def _nothing(*, is_too_wide: bool = False, is_complete: bool = True) -> PastView:
    return PastView(np.empty(0), np.zeros(0, PAST), np.empty(0), is_too_wide, is_complete)


class PastForecasts:
    """Belongs to one run at a time. Painting and the mouse only ask what is here; what is missing is noted, and
    `load_next` reads it, called by whoever has the time. Without a reader, it knows what events told it."""

    def __init__(self, block: int = _BLOCK, most_blocks: int = _MOST_BLOCKS) -> None:
        self._block, self._most_blocks = block, most_blocks
        self.on_wanted: Callable[[], None] = lambda: None
        """Called when something has to be read that was not before."""
        self.version = 0
        """Grows with every change of what would be shown."""
        self._horizon = 1
        self._interval_ms: int | None = None
        self._reader: PastReader | None = None
        self._names = Names()
        self._makers: OrderedDict[int, ForecastMade] = OrderedDict()
        self._kept: Sequence[tuple[int, str]] | None = None
        """Checkpoints, by step; None: not read yet, or not any more."""
        self._wants_kept = False
        self.forget()

    def forget(self) -> None:
        """Let go of all that can be read again."""
        self._blocks: OrderedDict[_BlockKey, Past] = OrderedDict()
        self._stale: set[_BlockKey] = set()
        self._spans: dict[int, tuple[int, int] | None] = {}
        self._wanted: list[_BlockKey] = []
        self._wants_span = False
        self._view: PastView = _nothing()
        self._view_key: tuple[object, ...] = ()
        self.version += 1

    def begin(self, reader: PastReader | None, interval_ms: int | None) -> None:
        """Another run, or none."""
        self._reader, self._interval_ms = reader, interval_ms
        self._names = Names()
        self._makers.clear()
        self.forget_kept()
        self.forget()

    def forget_kept(self) -> None:
        """Checkpoints were saved or deleted: which are kept is read again when somebody asks."""
        self._kept = None

    @property
    def horizon(self) -> int:
        """How many candles before its target a forecast was made, of those that are shown."""
        return self._horizon

    @property
    def interval_ms(self) -> int | None:
        """Of the run's candles; None while there is no run."""
        return self._interval_ms

    @property
    def most_candles(self) -> int:
        """Of a view; of a wider one nothing is shown."""
        return self._block * self._most_blocks

    @property
    def is_waiting(self) -> bool:
        """Whether `load_next` has something to do."""
        return self._reader is not None and (self._wants_span or self._wants_kept or bool(self._wanted))

    def set_horizon(self, horizon: int) -> None:
        """Show the forecasts made so many candles before their target, 1 or more."""
        if horizon != self._horizon:
            self._horizon = horizon
            self._wanted = []
            self.version += 1

    def remember(self, made: ForecastMade) -> None:
        """A forecast was made: its scores, when they come, name neither checkpoint nor step."""
        self._makers[made.origin_open_time_ms] = made
        self._makers.move_to_end(made.origin_open_time_ms)
        if len(self._makers) > _MAKERS_KEPT:
            self._makers.popitem(last=False)

    def add(self, scored: ForecastScored) -> None:
        """A target has closed, or was corrected. What is known already stays, unless this is a later version of it."""
        if self._interval_ms is None:
            self._interval_ms = (scored.target_open_time_ms - scored.origin_open_time_ms) // scored.horizon
        key, slot = self._place(scored.horizon, scored.target_open_time_ms)
        self._stretch_span(scored)
        if self._reader is None and key not in self._blocks:
            self._keep(key, np.zeros(self._block, PAST))
        block = self._blocks.get(key)
        if block is None or (block["is_known"][slot] and scored.version == 1):
            return
        made = self._makers.get(scored.origin_open_time_ms)
        row = past.from_event(scored, made, self._names)
        if row is None:
            return
        if made is None and block["is_known"][slot]:
            past.take_maker(row, block[slot])
        elif made is None and self._reader is not None:
            self._stale.add(key)
        block[slot] = row[0]
        self.version += scored.horizon == self._horizon

    def view(self, series: CandleSeries | None, first: int, stop: int) -> PastView:
        """The past forecasts of the closed candles first..stop - 1. Reads nothing: see `load_next`."""
        if series is None:
            return _nothing(is_complete=False)
        key = (self.version, self._horizon, id(series), series.version, first, stop)
        if key != self._view_key:
            self._view, self._view_key = self._make_view(series, first, stop), key
        return self._view

    def at(self, series: CandleSeries, index: int) -> PastForecast | None:
        """What was forecast for one closed candle; None where that is not known, or not yet. Reads nothing."""
        if not self.is_of(series) or not 0 <= index < len(series):
            return None
        time_ms = int(series.open_time_ms[index])
        if not self._has_span(time_ms, time_ms):
            return None
        key, slot = self._place(self._horizon, time_ms)
        block = self._blocks.get(key)
        if block is None:
            if key not in self._wanted:
                self._want([*self._wanted, key])
            return None
        row = block[slot]
        if not row["is_known"]:
            return None
        forecast = past.to_forecast(row, self._horizon, float(series.close[index]), self._names)
        return replace(forecast, kept=self._nearest_kept(forecast))

    def is_of(self, series: CandleSeries) -> bool:
        """Whether forecasts are for candles of this length."""
        return self._interval_ms == series.interval.duration_ms

    def load_next(self) -> bool:
        """Read one block, or how far scores reach. True where more is to be read. Raises StorageError."""
        if self._reader is None:
            return False
        if self._wants_span:
            self._spans[self._horizon] = self._reader.scored_span(self._horizon)
            self._wants_span = False
        elif self._wants_kept:
            self._kept = self._reader.kept_checkpoints()
            self._wants_kept = False
        elif self._wanted:
            key = self._wanted.pop(0)
            self._keep(key, self._read(self._reader, key))
            self._stale.discard(key)
        else:
            return False
        self.version += 1
        return self.is_waiting

    def _make_view(self, series: CandleSeries, first: int, stop: int) -> PastView:
        if not self.is_of(series) or first >= stop:
            return _nothing()
        times = series.open_time_ms[first:stop]
        if not self._has_span(int(times[0]), int(times[-1])):
            return _nothing(is_complete=not self._wants_span)
        span = self._spans[self._horizon]
        assert span is not None
        begin, end = np.searchsorted(times, span[0]), np.searchsorted(times, span[1], side="right")
        times, first = times[begin:end], first + int(begin)
        numbers = times // self._block_ms
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        if len(starts) > self._most_blocks:
            self._want([])
            return _nothing(is_too_wide=True)
        return self._gather(series, first, times, numbers, starts)

    def _gather(
        self,
        series: CandleSeries,
        first: int,
        times: NDArray[np.int64],
        numbers: NDArray[np.int64],
        starts: NDArray[np.int64],
    ) -> PastView:
        """Times and block numbers of the candles from `first` on; starts: where each block begins among them."""
        found, missing = np.zeros(len(times), PAST), []
        slots = times % self._block_ms // (self._block_ms // self._block)
        for begin, end in zip(starts, [*starts[1:], len(times)], strict=True):
            key = (self._horizon, int(numbers[begin]))
            block = self._blocks.get(key)
            if block is None or key in self._stale:
                missing.append(key)
            if block is not None:
                self._blocks.move_to_end(key)
                found[begin:end] = block[slots[begin:end]]
        self._want(missing[::-1])
        here = np.flatnonzero(found["is_known"])
        known = found[here]
        error = (series.close[first + here] / known["close"] - 1.0) * 100.0
        return PastView((first + here).astype(np.float64), known, error, is_complete=not missing)

    def _nearest_kept(self, forecast: PastForecast) -> tuple[int, str] | None:
        """Step and id: its own checkpoint where that is kept, else the one of the nearest step. None: none is, or that
        is not known yet."""
        if self._kept is None and self._reader is not None and not self._wants_kept:
            self._wants_kept = True
            self.on_wanted()
        if not self._kept or forecast.step is None:
            return None
        step = forecast.step
        own = [each for each in self._kept if each[1] == forecast.checkpoint_id]
        return own[0] if own else min(self._kept, key=lambda each: abs(each[0] - step))

    def _has_span(self, first_ms: int, last_ms: int) -> bool:
        """Whether scores reach into these times; asks for how far they reach where that is not known."""
        if self._horizon not in self._spans:
            if self._reader is not None and not self._wants_span:
                self._wants_span = True
                self._wants_kept = self._kept is None
                self.on_wanted()
            return False
        span = self._spans[self._horizon]
        return span is not None and span[0] <= last_ms and first_ms <= span[1]

    def _stretch_span(self, scored: ForecastScored) -> None:
        time_ms, horizon = scored.target_open_time_ms, scored.horizon
        if self._reader is not None and horizon not in self._spans:
            return
        low, high = self._spans.get(horizon) or (time_ms, time_ms)
        self._spans[horizon] = (min(low, time_ms), max(high, time_ms))

    def _want(self, keys: list[_BlockKey]) -> None:
        self._wanted = keys if self._reader is not None else []
        if self._wanted:
            self.on_wanted()

    def _read(self, reader: PastReader, key: _BlockKey) -> Past:
        horizon, number = key
        first_ms = number * self._block_ms
        rows = reader.past_forecasts(horizon, first_ms, first_ms + self._block_ms, self._block)
        block = np.zeros(self._block, PAST)
        slots = (rows.target_open_time_ms - first_ms) // (self._block_ms // self._block)
        block[slots] = past.from_rows(rows, self._names)
        return block

    def _keep(self, key: _BlockKey, block: Past) -> None:
        self._blocks[key] = block
        self._blocks.move_to_end(key)
        if len(self._blocks) > self._most_blocks:
            dropped, _ = self._blocks.popitem(last=False)
            self._stale.discard(dropped)

    def _place(self, horizon: int, time_ms: int) -> tuple[_BlockKey, int]:
        slot = time_ms % self._block_ms // (self._block_ms // self._block)
        return (horizon, time_ms // self._block_ms), slot

    @property
    def _block_ms(self) -> int:
        assert self._interval_ms is not None, "there is a run"
        return self._block * self._interval_ms
