"""Candles from trades: pure, without a clock, and independent of the order of arrival."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.candle import Candle, Interval
from core.domain.candle_faults import LATEST_MS

_RECENT = 50_000
_LARGEST_GAP = 10_000
"""A larger jump is a broken message, unless a second one confirms it."""
_GIVEN_UP_AFTER_MS = 2_000
_MOST_GAPS = 1_000


@dataclass(frozen=True, slots=True)
class Trade:
    """One trade. `trade_id` is None if the source has none: duplicates of such a trade go unnoticed."""

    trade_id: int | str | None
    time_ms: int
    price: float
    amount: float


class TradeFate(StrEnum):
    """How a trade was handled."""

    TAKEN = "taken"
    DUPLICATE = "a trade that came twice"
    LATE = "a trade of a candle that had closed"
    INVALID = "a trade without a price, an amount or a time"
    ID_JUMP = "a trade id far from the one before"


@dataclass(slots=True)
class _Bucket:
    """The trades of one candle. `first` and `last` are (time, rank, price): rank orders trades of the same time."""

    first: tuple[int, int, float]
    last: tuple[int, int, float]
    high: float
    low: float
    volume_parts: list[float] = field(default_factory=list)


class TradeAggregator:
    """Candles of one interval from trades. A candle is kept until `close` is called for it."""

    def __init__(self, interval: Interval, phase_ms: int = 0, *, has_consecutive_ids: bool = False) -> None:
        """phase_ms: how far opening times lie off the epoch's grid. has_consecutive_ids: ids increase by one, so that a
        jump means lost trades."""
        self._interval = interval
        self._phase_ms = phase_ms
        self._ids: RecentIds | ConsecutiveIds = ConsecutiveIds() if has_consecutive_ids else RecentIds()
        self._buckets: dict[int, _Bucket] = {}
        self._torn: set[int] = set()
        self._earliest_ms: int | None = None
        self._closed_ms: int | None = None
        self._arrivals = 0
        self.fates: Counter[TradeFate] = Counter()

    def add(self, trade: Trade) -> TradeFate:
        """Add a trade, if it is new, valid, and of a candle that is still open."""
        fate = self._fate(trade)
        self.fates[fate] += 1
        if fate is TradeFate.TAKEN:
            self._add_to_bucket(trade)
        return fate

    def candle(self, open_time_ms: int) -> Candle | None:
        """The candle of the trades so far; None if it has none."""
        bucket = self._buckets.get(open_time_ms)
        if bucket is None:
            return None
        volume = math.fsum(bucket.volume_parts)
        return Candle(open_time_ms, bucket.first[2], bucket.high, bucket.low, bucket.last[2], volume)

    def open_times(self) -> list[int]:
        return sorted(self._buckets)

    def is_complete(self, open_time_ms: int) -> bool:
        """Whether all trades of this candle so far have arrived: there were trades before it opened, and none is
        lost."""
        is_witnessed = self._earliest_ms is not None and self._earliest_ms < open_time_ms
        until_ms = self._interval.close_time_ms(open_time_ms)
        return is_witnessed and open_time_ms not in self._torn and not self._ids.is_torn(open_time_ms, until_ms)

    def close(self, open_time_ms: int) -> None:
        """Drop this candle and all before it; further trades of theirs count as late."""
        self._closed_ms = max(open_time_ms, self._closed_ms if self._closed_ms is not None else open_time_ms)
        for passed_ms in [each for each in self._buckets if each <= self._closed_ms]:
            del self._buckets[passed_ms]
        self._torn = {each for each in self._torn if each > self._closed_ms}

    def pop_losses(self) -> list[LostTrades]:
        """Trades declared lost since the last call; the candles that they belong to are not whole."""
        losses = self._ids.pop_losses()
        for loss in losses:
            first_ms, last_ms = self._open_ms(loss.after_ms), self._open_ms(loss.before_ms)
            self._torn.update((first_ms, last_ms))
        return losses

    def _fate(self, trade: Trade) -> TradeFate:
        numbers = (trade.price, trade.amount)
        if not (all(map(math.isfinite, numbers)) and min(numbers) > 0.0 and 0 < trade.time_ms < LATEST_MS):
            return TradeFate.INVALID
        is_late = self._closed_ms is not None and self._open_ms(trade.time_ms) <= self._closed_ms
        is_new = self._ids.register(trade.trade_id, trade.time_ms)
        if is_new is None:
            return TradeFate.ID_JUMP
        if not is_new:
            return TradeFate.DUPLICATE
        return TradeFate.LATE if is_late else TradeFate.TAKEN

    def _add_to_bucket(self, trade: Trade) -> None:
        open_ms = self._open_ms(trade.time_ms)
        self._earliest_ms = open_ms if self._earliest_ms is None else min(open_ms, self._earliest_ms)
        self._arrivals += 1
        rank = trade.trade_id if isinstance(trade.trade_id, int) else self._arrivals
        mark = (trade.time_ms, rank, trade.price)
        bucket = self._buckets.get(open_ms)
        if bucket is None:
            self._buckets[open_ms] = _Bucket(mark, mark, trade.price, trade.price, [trade.amount])
            return
        bucket.first, bucket.last = min(bucket.first, mark), max(bucket.last, mark)
        bucket.high, bucket.low = max(bucket.high, trade.price), min(bucket.low, trade.price)
        _add_exactly(bucket.volume_parts, trade.amount)

    def _open_ms(self, time_ms: int) -> int:
        return self._interval.open_time_ms(time_ms - self._phase_ms) + self._phase_ms


def _add_exactly(parts: list[float], number: float) -> None:
    """Shewchuk's partial sums: `math.fsum` of the parts is the exact sum, rounded once, in any order."""
    kept = 0
    for part in parts:
        larger, smaller = (part, number) if abs(number) < abs(part) else (number, part)
        total = larger + smaller
        rest = smaller - (total - larger)
        if rest:
            parts[kept] = rest
            kept += 1
        number = total
    parts[kept:] = [number]


@dataclass(frozen=True, slots=True)
class LostTrades:
    """`count` missing trades, between trades of these two times."""

    first_id: int
    count: int
    after_ms: int
    before_ms: int


class RecentIds:
    """Remembers arbitrary ids, the last 50,000 of them. Losses cannot be detected."""

    def __init__(self) -> None:
        self._known: OrderedDict[int | str, None] = OrderedDict()

    def register(self, trade_id: int | str | None, time_ms: int) -> bool | None:
        """True: new. False: a duplicate. None: implausible."""
        if trade_id is None:
            return True
        if trade_id in self._known:
            return False
        self._known[trade_id] = None
        if len(self._known) > _RECENT:
            self._known.popitem(last=False)
        return True

    def is_torn(self, from_ms: int, until_ms: int) -> bool:
        """Whether a trade within this time is still missing."""
        return False

    def pop_losses(self) -> list[LostTrades]:
        """The trades declared lost since the last call."""
        return []


@dataclass(slots=True)
class _Gap:
    """Skipped ids, between trades of these times."""

    missing: set[int]
    after_ms: int
    before_ms: int


class ConsecutiveIds:
    """Ids that increase by one, stored as the next expected id and the gaps before it."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._newest_ms = 0
        self._suspect: int | None = None
        self._gaps: list[_Gap] = []
        self._losses: list[LostTrades] = []

    def register(self, trade_id: int | str | None, time_ms: int) -> bool | None:
        if not isinstance(trade_id, int):
            return None
        expected = trade_id if self._next is None else self._next
        if trade_id < expected:
            return self._fill(trade_id)
        if trade_id - expected > _LARGEST_GAP:
            return self._check_jump(trade_id, time_ms)
        if trade_id > expected:
            self._gaps.append(_Gap(set(range(expected, trade_id)), self._newest_ms, time_ms))
        self._advance(trade_id, time_ms)
        return True

    def is_torn(self, from_ms: int, until_ms: int) -> bool:
        return any(gap.after_ms < until_ms and gap.before_ms >= from_ms for gap in self._gaps)

    def pop_losses(self) -> list[LostTrades]:
        losses, self._losses = self._losses, []
        return losses

    def _advance(self, trade_id: int, time_ms: int) -> None:
        self._next, self._suspect = trade_id + 1, None
        self._newest_ms = max(self._newest_ms, time_ms)
        if self._gaps:
            self._give_up()

    def _fill(self, trade_id: int) -> bool:
        """Take the id out of its gap. Whether it was missing."""
        for gap in self._gaps:
            if trade_id in gap.missing:
                gap.missing.remove(trade_id)
                self._gaps = [each for each in self._gaps if each.missing]
                return True
        return False

    def _check_jump(self, trade_id: int, time_ms: int) -> bool | None:
        if self._suspect is None or not 0 < trade_id - self._suspect <= _LARGEST_GAP:
            self._suspect = trade_id
            return None
        assert self._next is not None, "the first id is never checked"
        self._losses.append(LostTrades(self._next, trade_id - self._next, self._newest_ms, time_ms))
        self._advance(trade_id, time_ms)
        return True

    def _give_up(self) -> None:
        old = [gap for gap in self._gaps if self._newest_ms - gap.before_ms >= _GIVEN_UP_AFTER_MS]
        old += [gap for gap in self._gaps[:-_MOST_GAPS] if gap not in old]
        for gap in old:
            self._losses.append(LostTrades(min(gap.missing), len(gap.missing), gap.after_ms, gap.before_ms))
            self._gaps.remove(gap)
