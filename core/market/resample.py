"""Candles of a coarser interval, built from finer ones and kept up to date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries, Change, FloatArray, TimeArray

_BEFORE_ALL = -(2**63)


@dataclass(frozen=True, slots=True)
class _Buckets:
    """Coarse candles as columns: opening times, shape (n,); open, high, low, close, volume, shape (5, n)."""

    open_time_ms: TimeArray
    values: FloatArray


class ResampledSeries:
    """The candles of `source` joined to candles of a coarser interval, on the UTC grid of `Interval`.

    A coarse candle is built from the fine ones that exist; without any it is missing as well. The newest bucket becomes
    a closed candle in `series` when its last fine candle has closed, or when a later one, closed or forming, is known;
    until then it is part of `forming`. A closed candle stays closed, and is updated by late fine candles.

    Call `sync` after the source has changed: its cost grows with the changed buckets only. At the source's own interval
    `series` is the source itself, and the forming candle is returned as given.
    """

    def __init__(self, source: CandleSeries, interval: Interval) -> None:
        """Raises ValueError if `interval` is not a whole multiple of the source's."""
        if interval.duration_ms % source.interval.duration_ms:
            raise ValueError(f"candles of {source.interval} cannot be joined to candles of {interval}")
        self._source = source
        self._interval = interval
        self.series = source if interval == source.interval else CandleSeries(interval)
        """The closed coarse candles as of the last `sync`; always the same object, read only."""
        self._seen_version = 0
        self._pending: Candle | None = None
        self._over_before_ms = _BEFORE_ALL
        self.sync()

    def sync(self) -> None:
        if self.series is self._source:
            return
        changes = self._source.changes_since(self._seen_version)
        if changes == [] or len(self._source) == 0:
            return
        oldest_ms, newest_ms = (int(self._source.open_time_ms[place]) for place in (0, -1))
        changes = [(oldest_ms, newest_ms)] if changes is None else changes
        self._seen_version = self._source.version
        # All buckets before this are over; that of the newest fine candle too, if that candle is its last one.
        over_ms = self._interval.open_time_ms(newest_ms + self._source.interval.duration_ms)
        self._over_before_ms = max(self._over_before_ms, over_ms)
        if self._pending is not None:
            changes.append((self._pending.open_time_ms, self._pending.open_time_ms))
        for first_ms, stop_ms in self._spans(changes):
            self._update(self._joined(first_ms, stop_ms))

    def forming(self, fine_forming: Candle | None) -> Candle | None:
        """The open coarse candle, from its closed fine candles and the forming one; None without either.

        Call `sync` first. A forming candle in a later bucket closes the newest bucket. One that is not newer than the
        closed candles, or has a number that is not finite, is ignored.
        """
        if self.series is self._source:
            return fine_forming
        if fine_forming is None or not self._is_ahead(fine_forming):
            return self._pending
        bucket_ms = self._interval.open_time_ms(fine_forming.open_time_ms)
        self._over_before_ms = max(self._over_before_ms, bucket_ms)
        pending = self._pending
        if pending is not None and pending.open_time_ms < bucket_ms:
            self.series.add(pending)
            self._pending = pending = None
        return _joined_pair(bucket_ms, pending, fine_forming)

    def open_at(self, time_ms: int) -> Candle | None:
        """The coarse candle that was open at a past time, from the fine ones that had closed by then; None if there are
        none, and at the source's own interval."""
        if self.series is self._source:
            return None
        first_ms, stop_ms = self._interval.open_time_ms(time_ms), time_ms - self._source.interval.duration_ms + 1
        if self._source.insertion_index(first_ms) >= self._source.insertion_index(stop_ms):
            return None
        return _candle(self._joined(first_ms, stop_ms), 0)

    def _is_ahead(self, candle: Candle) -> bool:
        numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        times = self._source.open_time_ms
        is_newest = times.size == 0 or candle.open_time_ms > int(times[-1])
        is_open = self._interval.open_time_ms(candle.open_time_ms) >= self._over_before_ms
        return is_newest and is_open and all(map(isfinite, numbers))

    def _spans(self, changes: list[Change]) -> Iterator[Change]:
        """The changed buckets as merged half-open spans, ascending."""
        duration_ms, first_ms, stop_ms = self._interval.duration_ms, None, _BEFORE_ALL
        for first, last in sorted(changes):
            first, stop = self._interval.open_time_ms(first), self._interval.open_time_ms(last) + duration_ms
            if first_ms is not None and first > stop_ms:
                yield first_ms, stop_ms
                first_ms = None
            first_ms = first if first_ms is None else first_ms
            stop_ms = max(stop_ms, stop)
        if first_ms is not None:
            yield first_ms, stop_ms

    def _joined(self, first_ms: int, stop_ms: int) -> _Buckets:
        source = self._source
        view = slice(source.insertion_index(first_ms), source.insertion_index(stop_ms))
        times, values = source.open_time_ms[view], source.values[:, view]
        buckets = times - times % self._interval.duration_ms
        starts = np.concatenate(([0], np.flatnonzero(np.diff(buckets)) + 1))
        lasts = np.append(starts[1:], times.size) - 1
        opened, high, low, close, volume = values
        joined = (
            opened[starts],
            np.maximum.reduceat(high, starts),
            np.minimum.reduceat(low, starts),
            close[lasts],
            np.add.reduceat(volume, starts),
        )
        return _Buckets(buckets[starts], np.stack(joined))

    def _update(self, buckets: _Buckets) -> None:
        closed = int(np.searchsorted(buckets.open_time_ms, self._over_before_ms))
        self.series.extend_columns(buckets.open_time_ms[:closed], buckets.values[:, :closed])
        if closed < buckets.open_time_ms.size:
            self._pending = _candle(buckets, closed)
        elif self._pending is not None and self._pending.open_time_ms < self._over_before_ms:
            self._pending = None  # it is among these: `sync` includes its bucket


def _candle(buckets: _Buckets, place: int) -> Candle:
    numbers = (float(number) for number in buckets.values[:, place])
    return Candle(int(buckets.open_time_ms[place]), *numbers)


def _joined_pair(bucket_ms: int, closed: Candle | None, forming: Candle) -> Candle:
    if closed is None:
        return Candle(bucket_ms, forming.open, forming.high, forming.low, forming.close, forming.volume)
    return Candle(
        bucket_ms,
        closed.open,
        max(closed.high, forming.high),
        min(closed.low, forming.low),
        forming.close,
        closed.volume + forming.volume,
    )
