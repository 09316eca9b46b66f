"""The stored candles that the trainer has not taken yet, of all markets of a run, by opening time.

Which candles are taken together depends on the stored candles alone, and not on their order of arrival: a close waits
until each market has a candle of this time or a later one, or will have none. The clock matters for live candles alone:
they are waited for until a deadline, and not at all once their market has missed several closes, since its connection
is down. A candle that comes after its deadline is a close by itself. After an outage of all markets, the candles that
they missed are taken together, unless one market needs much longer than the others to fetch its own. No Qt, no torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Set

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import ForecastMode, TrainerReady
from core.storage.candles import CandleStore
from core.training.commands import MarketCandle, ObserveClose
from core.training.hosting.inbox import Inbox
from core.training.online.forecast_mode import live_within_ms
from core.training.online.trainer_spec import SessionSpec

_CLOSED_MEANWHILE = 100
"""Candles that may close while the trainer of a new run starts; none is skipped."""
_FORECASTING_MS, _FORECASTING_A_MARKET_MS = 750, 12
"""The part of a live forecast's time limit that is reserved for forecasting the markets that are in time. A close of
ten takes some 100 ms, one of 200 about 1,200."""
_MOST_MISSED = 3
"""A live market without a candle for as many closes in a row is not waited for until it has caught up."""
_FETCHING_S = 20.0
"""Candles that one market missed wait this long, once in an outage, for the others to fetch theirs: learned alone, they
would pull the model towards that market."""


class CloseQueue:
    """Used from the driver's thread only. All methods raise StorageError."""

    def __init__(self, spec: SessionSpec, store: CandleStore, inbox: Inbox, clock: Clock) -> None:
        self._spec, self._markets = spec, spec.markets
        self._store, self._inbox, self._clock = store, inbox, clock
        self._sent_until_ms: dict[Market, int | None] = dict.fromkeys(spec.markets)
        self._recorded_until_ms: dict[Market, int | None] = {}
        self._awaited_since_s: dict[Market, float] = {}
        """When missed candles of others began to wait for each market without a connection, until it has candles
        again."""

    def trainer_is_ready(self, event: TrainerReady) -> None:
        """Continue with the candles after the positions of a trainer that has started."""
        for each in event.markets:
            market = each.member.market
            self._sent_until_ms[market] = each.position_ms or self._first_start_ms(market)
            self._recorded_until_ms[market] = each.recorded_until_ms

    @property
    def is_over(self) -> bool:
        """Whether all candles are taken, and no more will come."""
        return len(self._inbox.ended) == len(self._markets) and next(self._closes(1), None) is None

    def left(self) -> int:
        """How many stored candles are not taken yet."""
        positions = self._sent_until_ms.items()
        return sum(self._store.count(market, after_ms=after_ms) for market, after_ms in positions)

    def pop(self, most: int) -> Iterator[ObserveClose]:
        """The next closes that are complete; each is taken once it is returned."""
        for close in self._closes(most):
            for market, candle in close:
                self._sent_until_ms[market] = candle.open_time_ms
                self._awaited_since_s.pop(market, None)
            yield ObserveClose(
                tuple(MarketCandle(candle, self._mode(market, candle), market) for market, candle in close)
            )

    def _closes(self, most: int) -> Iterator[list[tuple[Market, Candle]]]:
        inbox = self._inbox
        ended, caught_up = inbox.ended, inbox.are_caught_up  # first: of these all is stored by then
        reconnecting, positions = inbox.are_reconnecting, dict(self._sent_until_ms)
        pages = {
            market: deque(self._store.load(market, after_ms=after_ms, limit=most))
            for market, after_ms in positions.items()
        }
        for _ in range(most):
            opened_ms = min((page[0].open_time_ms for page in pages.values() if page), default=None)
            if opened_ms is None:
                return
            missing = {market for market, page in pages.items() if not page} - ended
            if any(self._is_awaited(market, opened_ms, positions[market], caught_up) for market in missing):
                return
            makes_step = all((position or 0) < opened_ms for position in positions.values())
            if makes_step and self._was_missed(opened_ms) and self._are_awaited(missing & reconnecting):
                return
            present = [market for market, page in pages.items() if page and page[0].open_time_ms == opened_ms]
            close = [(market, pages[market].popleft()) for market in present]
            for market in present:
                positions[market] = opened_ms
            yield close

    def _is_awaited(
        self, market: Market, opened_ms: int, position_ms: int | None, caught_up: frozenset[Market]
    ) -> bool:
        """Whether a candle of this time may still come in time. market: has no later candle stored."""
        if position_ms is not None and position_ms >= opened_ms:
            return False
        if self._spec.own_mode is not ForecastMode.LIVE or market not in caught_up:
            return True
        interval = market.interval
        if position_ms is None or opened_ms - position_ms > _MOST_MISSED * interval.duration_ms:
            return False
        forecasting_ms = max(_FORECASTING_MS, _FORECASTING_A_MARKET_MS * len(self._markets))
        wait_ms = live_within_ms(interval) - forecasting_ms
        return self._clock.now_ms() < interval.close_time_ms(opened_ms) + wait_ms

    def _was_missed(self, opened_ms: int) -> bool:
        """Whether it is too late for a live forecast, of this candle and of all later ones that are stored."""
        interval = self._markets[0].interval
        late_ms = interval.close_time_ms(opened_ms) + interval.duration_ms + live_within_ms(interval)
        return self._clock.now_ms() > late_ms and not self._inbox.has_live_since(opened_ms)

    def _are_awaited(self, markets: Set[Market]) -> bool:
        """Whether missed candles wait for these markets, which have no connection yet. One wait is for all of them."""
        now_s = self._clock.monotonic_s()
        since_s = [self._awaited_since_s.setdefault(market, now_s) for market in markets]
        return any(now_s < each + _FETCHING_S for each in since_s)

    def _first_start_ms(self, market: Market) -> int | None:
        """The time after which a new run starts: at the newest candles if all are stored already; None: at the
        first."""
        are_stored = self._spec.own_mode is ForecastMode.LIVE or self._spec.settings.market.feed == "stored"
        if not are_stored:
            return None
        wanted = self._spec.settings.market.catch_up_candles + _CLOSED_MEANWHILE
        newest = self._store.newest(market, wanted)
        return newest[0].open_time_ms - 1 if newest else None

    def _mode(self, market: Market, candle: Candle) -> ForecastMode:
        came_live = self._inbox.pop_live(market, candle.open_time_ms)
        if self._spec.own_mode is not ForecastMode.LIVE:
            return self._spec.own_mode
        recorded_until_ms = self._recorded_until_ms.get(market)
        if recorded_until_ms is not None and candle.open_time_ms <= recorded_until_ms:
            return ForecastMode.RECOVERY
        return ForecastMode.LIVE if came_live else ForecastMode.CATCH_UP
