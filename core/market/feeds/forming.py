"""The open candle: from its trades if all have arrived, else from the candle stream.

Volume only grows while a candle is open, so of two versions of a candle the one with more volume is newer.
"""

from __future__ import annotations

from core.domain.candle import Candle
from core.domain.candle_faults import problem_of
from core.market.aggregate import Trade, TradeAggregator, TradeFate
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.venue import FUTURE, Kline, Refused

_KEPT = 4
_LARGEST_JUMP = 10.0
_TOLERANCE = 1e-9
_IN_QUOTE = 2
"""Candles in a row whose streamed volume must be in the quote currency before no streamed volume is believed."""
_FAR_FROM_ONE = 3.0
"""The least factor between a price and 1 that distinguishes the currencies."""
_LAGGING = 0.8
"""Share of the listed volume that a candle's streamed volume must reach: its last version may lack the last trades."""


class FormingCandles:
    """The newest candles of one connection."""

    def __init__(self, clock: ServerClock, *, has_consecutive_ids: bool) -> None:
        self._clock = clock
        self._trades = TradeAggregator(clock.interval, clock.phase_ms, has_consecutive_ids=has_consecutive_ids)
        self._seen: dict[int, Candle] = {}
        self._price: float | None = None
        self.newest_ms: int | None = None
        """The opening time of the newest candle of the candle stream."""
        self.lost_trades = 0
        self._in_quote = 0

    @property
    def late_trades(self) -> int:
        return self._trades.fates[TradeFate.LATE]

    def rejection_reason(self, candle: Candle) -> str | None:
        """Why a streamed candle is implausible, or None."""
        problem = problem_of(candle, self._clock.interval, self._clock.phase_ms)
        if problem is not None:
            return problem.value
        if self._clock.is_ahead(candle.open_time_ms):
            return FUTURE
        if self._in_quote >= _IN_QUOTE:
            return "a volume in the quote currency"
        return "price jumped tenfold" if self._is_wild(candle.close) else None

    def apply_kline(self, kline: Kline) -> None:
        candle = kline.candle
        known = self._seen.get(candle.open_time_ms)
        if known is None or candle.volume >= known.volume:
            self._seen[candle.open_time_ms] = candle
        self._price = candle.close
        self.newest_ms = max(candle.open_time_ms, self.newest_ms or candle.open_time_ms)
        for time_ms in sorted(self._seen)[:-_KEPT]:
            del self._seen[time_ms]

    def apply_trades(self, trades: list[Trade]) -> list[Refused]:
        """Take trades. Returns the rejected ones: invalid, from the future, or lost."""
        refused = [each for each in map(self._apply_trade, trades) if each is not None]
        for loss in self._trades.pop_losses():
            self.lost_trades += loss.count
            refused.append(Refused("trades lost", f"{loss.count} trades from id {loss.first_id} are missing"))
        return refused

    def _apply_trade(self, trade: Trade) -> Refused | None:
        if self._clock.is_ahead(trade.time_ms):
            return Refused("a trade from the future", str(trade))
        if self._is_wild(trade.price):
            return Refused("a trade whose price jumped tenfold", str(trade))
        fate = self._trades.add(trade)
        return Refused(fate.value, str(trade)) if fate in (TradeFate.INVALID, TradeFate.ID_JUMP) else None

    def _is_wild(self, price: float) -> bool:
        """Whether a price is far from the last one. After a real move of that size, `settled` sets the new price."""
        if self._price is None or not price > 0.0:  # an invalid price is reported elsewhere
            return False
        return not 1.0 / _LARGEST_JUMP < price / self._price < _LARGEST_JUMP

    def is_final(self, kline: Kline) -> bool:
        """Whether a closing message is up to date: less volume than was seen before is an older version."""
        return kline.is_closed and kline.candle.volume >= self.volume(kline.candle.open_time_ms) * (1.0 - _TOLERANCE)

    def settled(self, candle: Candle) -> None:
        """Take a closed or requested candle: drop its trades, and use it as the reference for jumps."""
        if self._in_quote < _IN_QUOTE:
            self._in_quote = self._in_quote + 1 if self._is_in_quote(candle) else 0
        self._price = candle.close
        self._trades.close(candle.open_time_ms)

    def _is_in_quote(self, listed: Candle) -> bool:
        """Whether the streamed volume is the listed one times its price."""
        seen = self._seen.get(listed.open_time_ms)
        is_far = listed.low > _FAR_FROM_ONE or listed.high < 1.0 / _FAR_FROM_ONE
        if seen is None or not is_far or not listed.volume > 0.0:
            return False
        return listed.low * _LAGGING <= seen.volume / listed.volume <= listed.high * (1.0 + _TOLERANCE)

    def shown(self, open_time_ms: int) -> Candle | None:
        return self._seen.get(open_time_ms)

    def volume(self, open_time_ms: int) -> float:
        views = (self._seen.get(open_time_ms), self._trades.candle(open_time_ms))
        return max((view.volume for view in views if view is not None), default=0.0)

    def newest(self, after_ms: int) -> Candle | None:
        """The current open candle, if it opened after `after_ms`."""
        complete = [time_ms for time_ms in self._trades.open_times() if self._trades.is_complete(time_ms)]
        times = [time_ms for time_ms in (*complete[-1:], *self._seen) if time_ms > after_ms]
        return self._best(max(times)) if times else None

    def _best(self, open_time_ms: int) -> Candle | None:
        seen = self._seen.get(open_time_ms)
        if not self._trades.is_complete(open_time_ms):
            return seen
        traded = self._trades.candle(open_time_ms)
        if seen is None or traded is None:
            return traded or seen
        return traded if traded.volume >= seen.volume else seen
