"""Past forecasts by target candle: rows of NumPy tables, read in blocks, cached with a limit, updated by events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.domain.candle_series import CandleSeries
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import QUANTILE_LEVELS, ForecastMode, ForecastScored, Ghost
from core.forecast.ghosts import GhostColumns, ghost_columns
from core.storage.record_reader import RecordReader
from core.storage.records import PastRows

PAST = np.dtype(
    [
        ("is_known", "?"),
        ("origin_ms", "i8"),
        ("made_at_ms", "i8"),
        ("step", "i8"),
        ("checkpoint", "i4"),
        ("mode", "i1"),
        ("open", "f8"),
        ("high", "f8"),
        ("low", "f8"),
        ("close", "f8"),
        ("low_90", "f8"),
        ("low_50", "f8"),
        ("high_50", "f8"),
        ("high_90", "f8"),
        ("inside_50", "?"),
        ("inside_90", "?"),
        ("after_gap", "?"),
        ("hit", "i1"),
    ]
)
"""step: -1 if unknown. checkpoint: see `Names`. hit: 1, 0, or -1 if not counted."""

Past = NDArray[np.void]
"""An array of dtype `PAST`."""

MODES = tuple(ForecastMode)
_BAND = {
    name: QUANTILE_LEVELS.index(level)
    for name, level in (("low_90", 0.05), ("low_50", 0.25), ("high_50", 0.75), ("high_90", 0.95))
}
_PRICES = ("open", "high", "low", "close", *_BAND)
IS_RETROSPECTIVE = np.array([mode not in (ForecastMode.LIVE, ForecastMode.SIMULATED) for mode in MODES])
"""For each mode: catch-up, replay and recovery forecasts are made after the market moved on."""

Names = dict[str | None, int]
"""Checkpoint ids as numbers, to fit a table; None is 0."""
_BLOCK = 256
"""Targets per block, by time: reading one takes about 1.5 ms. Late candles shift indices, not times."""
_MOST_BLOCKS = 512
"""Blocks in the cache, and so in one view: 131,072 candles, 16 MB."""

_Key = tuple[int, int | None]
"""Horizon and block number since the epoch; number None: the range of the scores of that horizon."""


@dataclass(frozen=True, slots=True)
class PastForecast:
    """A forecast for a closed candle, and its outcome."""

    horizon: int
    origin_ms: int
    """The opening time of the candle it was made from."""
    mode: ForecastMode
    made_at_ms: int | None
    """None if only the score is known."""
    step: int | None
    checkpoint_id: str | None
    close: float
    actual_close: float
    inside_50: bool
    inside_90: bool
    direction_hit: bool | None
    after_gap: bool

    @property
    def error(self) -> float:
        """The relative error of the forecast close."""
        return self.actual_close / self.close - 1.0


def from_rows(rows: PastRows, names: Names) -> Past:
    if not len(rows):  # the number of quantile levels is unknown without rows
        return np.zeros(0, PAST)
    drawn = ghost_columns(rows.quantiles, rows.before, rows.origin_close)
    table = _table(len(rows), rows, drawn, drawn.close_quantiles)
    table["made_at_ms"], table["step"], table["hit"] = rows.made_at_ms, rows.step, rows.direction_hit
    table["mode"] = [MODES.index(mode) for mode in rows.mode]
    table["checkpoint"] = [_number(each, names) for each in rows.checkpoint_id]
    return table


def from_event(scored: ForecastScored, names: Names) -> Past:
    ghost = scored.ghost
    if len(ghost.close_quantiles) != len(QUANTILE_LEVELS):
        return np.zeros(1, PAST)
    row = _table(1, scored, ghost, np.array([ghost.close_quantiles]))
    row["made_at_ms"], row["step"] = scored.made_at_ms or 0, -1 if scored.step is None else scored.step
    row["hit"] = -1 if scored.direction_hit is None else scored.direction_hit
    row["mode"], row["checkpoint"] = MODES.index(scored.mode), _number(scored.checkpoint_id, names)
    return row


def _table(
    count: int, facts: PastRows | ForecastScored, drawn: GhostColumns | Ghost, quantiles: NDArray[np.float64]
) -> Past:
    """The columns both sources share. Values that cannot be drawn (not finite) count as unknown."""
    table = np.zeros(count, PAST)
    for name in ("open", "high", "low", "close"):
        table[name] = getattr(drawn, name)
    for name, level in _BAND.items():
        table[name] = quantiles[:, level]
    for name in ("inside_50", "inside_90", "after_gap"):
        table[name] = getattr(facts, name)
    table["origin_ms"] = facts.origin_open_time_ms
    table["is_known"] = np.logical_and.reduce([np.isfinite(table[name]) for name in _PRICES])
    return table


def _number(name: str | None, names: Names) -> int:
    return names.setdefault(name, len(names))


def to_forecast(row: Past, horizon: int, actual_close: float, names: Names) -> PastForecast:
    """A table row (a single record) with names and units for display."""
    found = {name: row[name].item() for name in PAST.names or ()}
    is_made_known = found["step"] >= 0
    return PastForecast(
        horizon=horizon,
        mode=MODES[found["mode"]],
        made_at_ms=found["made_at_ms"] if is_made_known else None,
        step=found["step"] if is_made_known else None,
        checkpoint_id=list(names)[found["checkpoint"]],
        actual_close=actual_close,
        direction_hit=None if found["hit"] < 0 else bool(found["hit"]),
        **{name: found[name] for name in ("origin_ms", "close", "inside_50", "inside_90", "after_gap")},
    )


@dataclass(frozen=True, eq=False)
class PastView:
    """The past forecasts of the visible candles, ascending."""

    index: NDArray[np.float64]
    """Candle indices on the x axis."""
    past: Past
    is_too_wide: bool = False
    """The view is wider than the limit: nothing is shown rather than a part."""
    is_complete: bool = True
    """False while blocks are being read."""

    def __len__(self) -> int:
        return len(self.index)

    @property
    def is_retrospective(self) -> NDArray[np.bool_]:
        """Whether each was made in catch-up, replay or recovery."""
        return np.asarray(IS_RETROSPECTIVE[self.past["mode"]], dtype=np.bool_)


def _nothing(*, is_too_wide: bool = False, is_complete: bool = True) -> PastView:
    return PastView(np.empty(0), np.zeros(0, PAST), is_too_wide, is_complete)


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
        """The checkpoint of the run's model nearest to a step: the one with this id if it is kept."""
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
        time_ms, horizon = scored.target_open_time_ms, scored.horizon
        key, slot = self._place(horizon, time_ms)
        if self._reader is None or horizon in self._spans:
            low, high = self._spans.get(horizon) or (time_ms, time_ms)
            self._spans[horizon] = (min(low, time_ms), max(high, time_ms))
        if self._reader is None and key not in self._blocks:
            self._cache(key, np.zeros(self._block, PAST))
        block = self._blocks.get(key)
        if block is not None and (scored.version > 1 or not block["is_known"][slot]):
            block[slot] = from_event(scored, self._names)[0]
            self.version += horizon == self.horizon

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
        return to_forecast(block[slot], self.horizon, float(series.close[index]), self._names)

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
            self._cache(key, self._read(self._reader, horizon, number))
        self.version += 1
        return self.is_waiting

    def _make_view(self, series: CandleSeries, first: int, stop: int) -> PastView:
        span = self._span() if self.is_of(series) and first < stop else None
        if span is None:
            return _nothing(is_complete=(self.horizon, None) not in self._wanted)
        times = series.open_time_ms[first:stop]
        begin, end = (int(place) for place in np.searchsorted(times, (span[0], span[1] + 1)))
        times = times[begin:end]
        numbers = times // self._block_ms
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        self._wanted = {key: None for key in self._wanted if key[1] is None}  # drop the blocks of the previous view
        if len(starts) > self._most_blocks:
            return _nothing(is_too_wide=True)
        found, missing = self._gather(times, [(self.horizon, int(number)) for number in numbers[starts]], starts)
        self._want(*missing[::-1])
        here = np.flatnonzero(found["is_known"])
        return PastView((first + begin + here).astype(np.float64), found[here], is_complete=not missing)

    def _gather(
        self, times: NDArray[np.int64], keys: Sequence[_Key], starts: NDArray[np.int64]
    ) -> tuple[Past, list[_Key]]:
        """A row for each time, and the keys of missing blocks. starts: index of each block's first time."""
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

    def _want(self, *keys: _Key) -> None:
        if self._reader is not None and keys:
            self._wanted |= dict.fromkeys(keys)
            self.on_wanted()

    def _read(self, reader: RecordReader, horizon: int, number: int) -> Past:
        first_ms = number * self._block_ms
        rows = reader.past_forecasts(horizon, first_ms, first_ms + self._block_ms, self._block)
        block = np.zeros(self._block, PAST)
        slots = (rows.target_open_time_ms - first_ms) // (self._block_ms // self._block)
        block[slots] = from_rows(rows, self._names)
        return block

    def _cache(self, key: _Key, block: Past) -> None:
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
