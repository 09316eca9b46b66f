"""Forecasts the next candles of all markets of a close: the model, its challengers, and the reference model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.domain.candle import Candle
from core.domain.events import ForecastMode
from core.domain.regimes import RegimeProbabilities
from core.forecast.arrays import Places
from core.forecast.experts import Quantiles
from core.forecast.ghosts import ghosts_of
from core.training.engine.engine import TrainingEngine
from core.training.online.forecaster import Forecaster
from core.training.online.guarded_challenger import GuardedChallenger
from core.training.online.issued_forecast import IssuedForecast
from core.training.online.market_session import MarketSession
from core.training.online.reference_model import ReferenceModel
from core.training.recovery.forecasting import ForecastGuard
from core.training.recovery.ladder import Recovered

Closed = tuple[MarketSession, Candle, ForecastMode]
"""A candle of this close, with its market."""
_NOTHING_FAILED = Recovered((), must_pause=False)


class CloseForecasts:
    """Makes and commits the forecasts after the newest candles."""

    def __init__(
        self,
        forecaster: Forecaster,
        engine: TrainingEngine,
        guard: ForecastGuard,
        challengers: Sequence[GuardedChallenger],
        reference_model: ReferenceModel,
    ) -> None:
        self._forecaster = forecaster
        self._engine = engine
        self._guard = guard
        self._challengers = challengers
        self._reference_model = reference_model

    def make(
        self, closed: Sequence[Closed], step: int, checkpoint_id: str | None, resumed_from: str | None
    ) -> tuple[list[IssuedForecast], Recovered]:
        """Forecast every market; where the record already has the forecast of a candle, that one stays. step,
        checkpoint_id: of the weights; resumed_from: the checkpoint that was restored. Also returns what the model's
        failures led to."""
        recorded = [market.recorded(resumed_from) for market, _, _ in closed]
        missing = [each for each, known in zip(closed, recorded, strict=True) if known is None]
        new, recovered = self._issue(missing, step, checkpoint_id) if missing else ([], _NOTHING_FAILED)
        issued = iter(new)
        forecasts = [next(issued) if known is None else known for known in recorded]
        places = np.array([market.place for market, _, _ in closed])
        now = zip(forecasts, closed, strict=True)
        committed = [forecast.relative_to(float(np.log(candle.close))) for forecast, (_, candle, _) in now]
        self._forecaster.commit(places, committed)
        self._forecast_with_reference_model(closed)
        return forecasts, recovered

    def _issue(
        self, closed: Sequence[Closed], step: int, checkpoint_id: str | None
    ) -> tuple[list[IssuedForecast], Recovered]:
        markets, candles, _ = zip(*closed, strict=True)
        places = np.array([market.place for market in markets])
        quantiles, next_regimes, recovered = self._finite_forecasts(places, step)
        shown = np.stack([each.shown for each in quantiles])
        closes = np.array([candle.close for candle in candles])
        opened = [candle.open_time_ms for candle in candles]
        drawn = ghosts_of(shown, closes, opened, self._forecaster.panel.interval)
        made = zip(closed, quantiles, drawn, next_regimes, strict=True)
        return [
            market.issue(natural, ghosts, candle, mode, step, checkpoint_id, next_regime)
            for (market, candle, mode), natural, ghosts, next_regime in made
        ], recovered

    def _finite_forecasts(
        self, places: Places, step: int
    ) -> tuple[Sequence[Quantiles], Sequence[RegimeProbabilities | None], Recovered]:
        """A finite forecast of each market, even if the model fails; and the next candle's regime, if it does not."""
        if self._challengers:
            read = self._forecaster.market_inputs(places)
            self._forecaster.challenge(places, [challenger.forecast(read) for challenger in self._challengers])
        inputs = self._forecaster.inputs(places)

        def forecast() -> list[Quantiles]:
            return self._forecaster.with_corrections(places, self._engine.corrections(*inputs))

        made, recovered = self._guard.forecast(forecast, step)
        if made is None:
            return self._forecaster.without_model(places), [None] * len(places), recovered
        now = self._forecaster.panel.regimes(places, self._forecaster.panel.newest(places))
        return made, self._engine.next_regimes(now), recovered

    def _forecast_with_reference_model(self, closed: Sequence[Closed]) -> None:
        if not self._reference_model.is_in_force:
            return
        places = np.array([market.place for market, _, _ in closed])
        corrections = self._reference_model.corrections(*self._forecaster.inputs(places))
        if corrections is None:
            return
        for (market, candle, _), own in zip(closed, self._forecaster.of_model(places, corrections), strict=True):
            market.reference_forecasts.append(candle.open_time_ms, own)
