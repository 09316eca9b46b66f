"""Ghosts while the trainer starts or is far behind: the simple rules' forecast of the newest stored candle.

The trainer learns from stored candles in order and forecasts from its position, so for minutes no forecast reaches the
chart's edge. These do. They are only displayed: not committed, stored, scored or learned from, so the record is the
same with and without them. No Qt, no torch.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Sequence

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import FirstForecast, ForecastMade, ForecastMode
from core.forecast.baseline_forecast import SimpleRules
from core.forecast.ghosts import ghosts
from core.storage.candles import CandleStore
from core.training.online.trainer_spec import SessionSpec

_CANDLES = 400
"""Window of the rules: a third of a second's work, and far more than their averages need to settle."""
_FEWEST_CANDLES = 30
_FEWEST_BEHIND = 20
"""The trainer takes fewer candles faster than a user would notice."""
_EVERY_S = 1.0
"""The rules run in the window's process: during catch-up, one market on the chart and one other a second are enough."""
_log = logging.getLogger("ghostcandle.training")


class FirstForecasts:
    """Called in the driver's loop; forecasts if the trainer's newest forecast is far from the newest stored candle: of
    the shown market at once and with each candle, of the run's others one a second, each in its turn."""

    def __init__(self, spec: SessionSpec, store: CandleStore, clock: Clock, market: Market) -> None:
        """market: the one that is shown."""
        self._market, self._horizons = market, spec.settings.model.horizons
        self._store, self._clock = store, clock
        self._turns = deque(spec.markets)
        self._rules: dict[Market, SimpleRules] = {}
        self._looked_s: float | None = None
        self._looked_at_others_s = -math.inf
        self._committed_ms: int | None = None
        self._shown_ms: dict[Market, int] = {}

    def show(self, market: Market) -> None:
        if market != self._market:
            self._market, self._looked_s = market, None
            self._shown_ms.pop(market, None)

    def committed(self, forecast: ForecastMade) -> None:
        """The trainer has committed this forecast."""
        self._committed_ms = forecast.origin_open_time_ms

    def trainer_is_ready(self, recorded_until_ms: int | None) -> None:
        """The window now drops another run's forecasts; the record of this one reaches up to here."""
        self._committed_ms, self._looked_s = recorded_until_ms, None
        self._shown_ms.clear()

    def look(self, *, is_behind: bool) -> FirstForecast | None:
        """A forecast of a market's newest stored candle, if the trainer is far from it and it was not shown before.
        is_behind: catch-up is reported, down to fewer candles. Raises StorageError."""
        market = self._next(self._clock.monotonic_s())
        newest_ms = None if market is None else self._store.latest_open_time_ms(market)
        if market is None or newest_ms is None or newest_ms == self._shown_ms.get(market):
            return None
        reach_ms, committed_ms = _FEWEST_BEHIND * market.interval.duration_ms, self._committed_ms
        if not is_behind and committed_ms is not None and newest_ms - committed_ms < reach_ms:
            self._rules.clear()  # nearly a megabyte a market, and needed only far behind
            return None
        try:
            return self._forecast(market, self._store.newest(market, _CANDLES))
        except (ArithmeticError, ValueError):  # a mere stopgap must not end training
            _log.exception("The simple rules could not forecast the newest candle.")
            self._rules.pop(market, None)
            return None

    def _next(self, now_s: float) -> Market | None:
        """Whose turn it is; None while all were looked at."""
        if self._looked_s is None or now_s - self._looked_s >= _EVERY_S:
            self._looked_s = now_s
            return self._market
        if now_s - self._looked_at_others_s < _EVERY_S:
            return None
        self._looked_at_others_s = now_s
        self._turns.rotate(-1)
        return self._turns[-1] if self._turns[-1] != self._market else None

    def _forecast(self, market: Market, candles: Sequence[Candle]) -> FirstForecast | None:
        if len(candles) < _FEWEST_CANDLES:
            return None
        origin = candles[-1]
        self._shown_ms[market] = origin.open_time_ms
        rules = self._updated_rules(market, candles)
        interval, closed_ms = market.interval, market.interval.close_time_ms(origin.open_time_ms)
        return FirstForecast(
            ForecastMade(
                run_id="",
                origin_open_time_ms=origin.open_time_ms,
                inputs_until_ms=closed_ms,
                made_at_ms=self._clock.now_ms(),
                mode=ForecastMode.CATCH_UP,
                step=0,
                checkpoint_id=None,
                origin_close=origin.close,
                ghosts=ghosts(rules.forecast(), origin.close, origin.open_time_ms, interval),
                is_by_simple_rules=True,
            ),
            market,
        )

    def _updated_rules(self, market: Market, candles: Sequence[Candle]) -> SimpleRules:
        """The rules after these candles: continued from before if possible, else new ones."""
        rules = self._rules.get(market)
        if rules is None or rules.position_ms is None or rules.position_ms < candles[0].open_time_ms:
            rules = SimpleRules(market.interval, self._horizons)
        position_ms = rules.position_ms
        for candle in candles:
            if position_ms is None or candle.open_time_ms > position_ms:
                rules.observe(candle)
        self._rules[market] = rules
        return rules
