"""Notices that a feed is live and has nothing to pass on: a market without trades, or data without a valid candle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.domain.candle import Market
from core.domain.counts import in_words
from core.market.feeds.venue import Refused, Updates

_INTERVALS = 3


class StallWatch:
    """Over all connections of a feed: a candle may be longer than a connection."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._longest_s = _INTERVALS * market.interval.duration_ms / 1000.0
        self._mark: object = None
        self._reported_mark: object = None
        self._since_s = self._due_s = 0.0
        self._rows = 0
        self._refused = Counter[str]()
        self.is_reported = False
        """Whether the last status was that no candle comes."""

    @property
    def is_over(self) -> bool:
        """Whether a candle has come since the last report."""
        return self._reported_mark != self._mark

    def count(self, updates: Updates) -> None:
        """Count the stream's rows, accepted or not."""
        self._rows += len(updates.klines) + len(updates.trades)

    def count_refused(self, refused: Sequence[Refused]) -> None:
        self._refused.update(each.reason for each in refused)

    def is_due(self, now_s: float, mark: object) -> bool:
        """Whether to report, the first time after three intervals and then after twice the time. mark: changes with
        every candle that is passed on, closed or forming."""
        if mark != self._mark:
            self._mark, self._since_s, self._due_s = mark, now_s, now_s + self._longest_s
            self._rows = 0
            self._refused.clear()
        if now_s < self._due_s:
            return False
        self._due_s = 2.0 * now_s - self._since_s
        self._reported_mark = mark
        return True

    def sentence(self, now_s: float, name: str) -> str:
        """What has not come, and what has. name: the exchange's."""
        lacking = f"No candle of {self._market.symbol} {self._market.interval} for {in_words(now_s - self._since_s)}"
        if not (self._rows or self._refused):
            return f"{lacking}: {name} reports no trades."
        refused = ", ".join(f"{count:,} times {reason}" for reason, count in self._refused.most_common())
        return f"{lacking}, though {name} sends data. Refused: {refused or 'nothing'}."
