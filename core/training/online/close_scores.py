"""Scores the forecasts of all markets of a close, and lets expert weights and calibration learn from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle
from core.domain.events import ForecastMode
from core.domain.quantities import LEVELS, FloatArray, Quantity
from core.forecast.experts import EXPERTS, MODEL
from core.forecast.outcomes import Outcomes
from core.forecast.score import close_hits, pinball
from core.training.online.forecaster import Forecaster
from core.training.online.issued_forecast import IssuedForecast, Outcome, Target, score
from core.training.online.market_session import MarketSession

_COMPARED = [Quantity.CLOSE, Quantity.RANGE]


@dataclass(frozen=True, slots=True, eq=False)
class CloseScores:
    """Of n markets, in their order."""

    outcomes: list[list[Outcome]]
    """The outcomes of each market, with horizon 1 first."""
    losses_in_units: FloatArray
    """Losses of the model, of the forecast without it, and of each challenger, of close and range at each horizon:
    [n, 2 + C, H, 2]; NaN where there is none."""


def score_close(
    forecaster: Forecaster,
    markets: Sequence[MarketSession],
    candles: Sequence[Candle],
    now_ms: int,
    work_on: Callable[[MarketSession | None], None],
) -> CloseScores:
    """Score every forecast that these candles, the newest of their markets, are a target of, and learn from them.

    work_on: called before the work on one market alone, and with None before that on all of them.
    """
    places = np.array([market.place for market in markets])
    newest = forecaster.observe(places)
    made, is_remembered = forecaster.forecasts_due(places)
    losses = pinball(newest.natural[:, :, None], made)
    hits = close_hits(made[:, 0, 1:, Quantity.CLOSE], newest.natural[:, 0, Quantity.CLOSE, None])
    due, outcomes = _Due(markets, newest), []
    targets = []
    for (row, horizon), forecast in due.forecasts.items():
        at = row, horizon - 1
        natural = newest.natural[at].copy()  # relative to the origin's close at the time of the forecast
        natural[Quantity.CLOSE] += due.moved[at]
        known = is_remembered[at]
        frozen = markets[row].reference_forecasts
        target = Target(
            forecast,
            horizon,
            candles[row],
            natural,
            after_gap=not newest.is_known[at],
            run_id=markets[row].run_id,
            all_losses=losses[at] if known else None,
            hits=hits[row] if known and horizon == 1 else None,
            reference_model=frozen.losses(forecast.origin_open_time_ms, horizon, newest.natural[at]),
        )
        targets.append(target)
    found = iter(score(targets, now_ms))
    for row, market in enumerate(markets):
        work_on(market)
        outcomes.append([next(found) for _ in market.due])
        market.apply_one_step(outcomes[-1][0] if outcomes[-1] else None, newest.factor[row, 0])
    work_on(None)
    is_learned = due.exists & newest.is_known & is_remembered
    forecaster.learn(places, made, due.shown, newest, is_learned, due.is_own)
    is_compared = is_remembered & due.is_own & newest.is_known
    return CloseScores(outcomes, _in_units(losses, newest.factor, is_compared, forecaster.challengers))


class _Due:
    """The forecasts made for the newest candles."""

    def __init__(self, markets: Sequence[MarketSession], newest: Outcomes) -> None:
        self.forecasts: dict[tuple[int, int], IssuedForecast] = {}
        """By row and horizon."""
        self.exists, self.is_own = (np.zeros(newest.is_known.shape, dtype=np.bool_) for _ in range(2))
        """[n, H]; is_own: the model cannot have learned from the outcome."""
        self.moved = np.zeros(newest.is_known.shape)
        """What a correction of the origin's close since the forecast adds to returns: [n, H]."""
        self.shown = np.repeat(newest.natural[..., None], len(LEVELS), axis=-1)
        """[n, H, Q, L], relative to the origin's present close; the outcome where there is no forecast."""
        for row, market in enumerate(markets):
            forecasts = market.due
            closes = market.history.column("log_close")[-2 : -2 - len(forecasts) : -1].tolist()
            for horizon, (forecast, close) in enumerate(zip(forecasts, closes, strict=True), start=1):
                at = row, horizon - 1
                self.forecasts[row, horizon] = forecast
                self.exists[at], self.is_own[at] = True, forecast.mode is not ForecastMode.SEEN
                self.moved[at] = forecast.moved_since(close)
                self.shown[at] = forecast.quantiles.shown[horizon - 1]
        self.shown[:, :, Quantity.CLOSE] -= self.moved[..., None]


def _in_units(losses: FloatArray, factor: FloatArray, is_compared: NDArray[np.bool_], challengers: int) -> FloatArray:
    """`CloseScores.losses_in_units`, from all losses [n, H, rows, Q] and the units of their origins [n, H, Q]."""
    rows = [1 + MODEL, 0, *range(1 + len(EXPERTS), 1 + len(EXPERTS) + challengers)]
    compared = losses[:, :, rows][..., _COMPARED] / factor[:, :, None, _COMPARED]
    return np.moveaxis(np.where(is_compared[..., None, None], compared, np.nan), 2, 1)


def mean_of_known(arrays: Sequence[FloatArray]) -> FloatArray:
    """The mean of equal shapes without NaN; NaN where all are."""
    stacked = np.stack(arrays)
    known = ~np.isnan(stacked)
    count = known.sum(axis=0)
    total: FloatArray = np.where(known, stacked, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
