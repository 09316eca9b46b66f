"""Ghosts while the trainer starts or is far behind: the simple rules' forecast of the newest stored candle.

The trainer learns from stored candles in order and forecasts from its position, so for minutes no forecast reaches the
chart's edge. These do. They are only displayed: not committed, stored, scored or learned from, so the record is the
same with and without them. No Qt, no torch.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import FirstForecast, ForecastMade, ForecastMode
from core.forecast.ghosts import ghosts
from core.forecast.simple_rules import SimpleRules
from core.storage.candles import CandleStore
from core.training.online.trainer_spec import SessionSpec

_CANDLES = 400
"""Window of the rules: a third of a second's work, and far more than their averages need to settle."""
_FEWEST_CANDLES = 30
_FEWEST_BEHIND = 20
"""The trainer takes fewer candles faster than a user would notice."""
_EVERY_S = 1.0
"""The rules run in the window's process: during catch-up, once a second is enough."""
_log = logging.getLogger("ghostcandle.training")


class FirstForecasts:
    """Called in the driver's loop; forecasts if the trainer's newest forecast is far from the newest stored candle."""

    def __init__(self, spec: SessionSpec, store: CandleStore, clock: Clock, market: Market) -> None:
        """market: the one that is shown."""
        self._market, self._horizons = market, spec.settings.model.horizons
        self._store, self._clock = store, clock
        self._rules: SimpleRules | None = None
        self._looked_s: float | None = None
        self._committed_ms: int | None = None
        self._shown_ms: int | None = None

    def show(self, market: Market) -> None:
        """Another market is shown."""
        if market != self._market:
            self._market, self._rules, self._shown_ms, self._looked_s = market, None, None, None

    def committed(self, forecast: ForecastMade) -> None:
        """The trainer has committed this forecast."""
        self._committed_ms = forecast.origin_open_time_ms

    def trainer_is_ready(self, recorded_until_ms: int | None) -> None:
        """The window now drops another run's forecasts; the record of this one reaches up to here."""
        self._committed_ms, self._shown_ms, self._looked_s = recorded_until_ms, None, None

    def look(self, *, is_behind: bool) -> FirstForecast | None:
        """A forecast of the newest stored candle, if the trainer is far from it and it was not shown before. is_behind:
        catch-up is reported, down to fewer candles. Raises StorageError."""
        now_s = self._clock.monotonic_s()
        if self._looked_s is not None and now_s - self._looked_s < _EVERY_S:
            return None
        self._looked_s = now_s
        newest_ms = self._store.latest_open_time_ms(self._market)
        if newest_ms is None or newest_ms == self._shown_ms or not (is_behind or self._is_far(newest_ms)):
            return None
        try:
            return self._forecast(self._store.newest(self._market, _CANDLES))
        except (ArithmeticError, ValueError):  # a mere stopgap must not end training
            _log.exception("The simple rules could not forecast the newest candle.")
            self._rules = None
            return None

    def _is_far(self, newest_ms: int) -> bool:
        reach_ms = _FEWEST_BEHIND * self._market.interval.duration_ms
        return self._committed_ms is None or newest_ms - self._committed_ms >= reach_ms

    def _forecast(self, candles: Sequence[Candle]) -> FirstForecast | None:
        if len(candles) < _FEWEST_CANDLES:
            return None
        origin = candles[-1]
        self._shown_ms = origin.open_time_ms
        rules = self._updated_rules(candles)
        interval, closed_ms = self._market.interval, self._market.interval.close_time_ms(origin.open_time_ms)
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
            self._market,
        )

    def _updated_rules(self, candles: Sequence[Candle]) -> SimpleRules:
        """The rules after these candles: continued from before if possible, else new ones."""
        rules = self._rules
        if rules is None or rules.position_ms is None or rules.position_ms < candles[0].open_time_ms:
            rules = SimpleRules(self._market.interval, self._horizons)
        position_ms = rules.position_ms
        for candle in candles:
            if position_ms is None or candle.open_time_ms > position_ms:
                rules.observe(candle)
        self._rules = rules
        return rules
