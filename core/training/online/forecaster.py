"""From the past to quantiles: the model's, the baselines', and their combination; and what each outcome teaches it."""

from __future__ import annotations

import copy
from collections import deque

import numpy as np
from torch import nn

from core.domain.events import ExpertShares
from core.domain.quantities import QUANTITY_NAMES, FloatArray, Quantity, within_bounds
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.combination import Combination, prior
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, Quantiles
from core.forecast.history import History
from core.forecast.score import pinball
from core.training.engine.engine import TrainingEngine


class Forecaster:
    """Owns what turns the past into a forecast, apart from the model, which the engine owns.

    For each candle: `observe`, then `forecast` or `without_model`, then `commit`.
    """

    def __init__(self, history: History, engine: TrainingEngine, context: int) -> None:
        self._history = history
        self._engine = engine
        self._context = context
        self._baselines = BaselineForecast(history)
        self._combined = Combination(prior(with_model=True), history.horizons)
        self._said: deque[tuple[int, FloatArray]] = deque(maxlen=history.horizons)
        """At the newest origins, by opening time: without the model, then each expert; [1 + E, H, Q, L], natural."""

    @property
    def model_weight(self) -> float:
        """The model's share in the shown close one step ahead."""
        return float(self._combined.weights.shares[MODEL, 0, Quantity.CLOSE])

    @property
    def shares(self) -> ExpertShares:
        """How the forecast is mixed now."""
        shares = np.moveaxis(self._combined.weights.shares, 0, -1)
        by_horizon = tuple(tuple(tuple(each) for each in quantities) for quantities in shares.tolist())
        return ExpertShares(EXPERTS, QUANTITY_NAMES, by_horizon)

    def observe(self) -> None:
        """Take the history's newest candle. Once a candle, before anything is asked."""
        self._baselines.observe()

    def forecast(self) -> Quantiles:
        """Forecast the candles after the newest one."""
        return self._combine(self._of_model())

    def of_other(self, model: nn.Module) -> FloatArray:
        """What another model of the same shape says of the candles after the newest one: [H, Q, L], natural units."""
        return self._natural(self._of_model(model))

    def beside(self, engine: TrainingEngine, learned: Arrays) -> Forecaster:
        """One with another model and what that had learned. It shares the past with this one, and only forecasts."""
        other = copy.copy(self)
        other._engine = engine
        other._combined = Combination(prior(with_model=True), self._history.horizons)
        other.restore(learned)
        return other

    def without_model(self) -> Quantiles:
        """The forecast where the model gives none: what is forecast without it stands in its place."""
        return self._combine(self._baselines.now.combined)

    def commit(self, quantiles: Quantiles) -> None:
        """Remember everyone's forecast until its targets have closed. quantiles: as issued, or as recorded."""
        now = self._baselines.now
        said = self._natural(np.concatenate([now.combined[None], now.experts]))
        said[1 + MODEL] = quantiles.experts[MODEL]
        origin = self._history.last_open_time_ms
        assert origin is not None
        self._said.append((origin, said))

    def _of_model(self, model: nn.Module | None = None) -> FloatArray:
        """Normalised quantiles [H, Q, L]; model: None for the one that is trained."""
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        features, is_real = self._history.windows(newest, self._context)
        corrections = self._engine.corrections(features, is_real, model)[0]
        return np.sort(self._baselines.now.combined + corrections, axis=-1)

    def _combine(self, model: FloatArray) -> Quantiles:
        """model: normalised quantiles [H, Q, L]."""
        experts = self._baselines.now.experts.copy()
        experts[MODEL] = model
        natural = self._natural(np.stack([self._combined.predict(experts), model, experts[REFERENCE]]))
        return Quantiles(natural[0], natural[1:])

    def _natural(self, normalised: FloatArray) -> FloatArray:
        """[..., H, Q, L] in units of the newest candle to natural ones."""
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        factor, offset = (units[0][..., None] for units in self._history.units(newest))
        return within_bounds(offset + factor * normalised)

    def losses(self, origin: int, horizon: int, outcome: FloatArray) -> FloatArray | None:
        """Of everyone's forecast made at row `origin`, natural units [1 + E, Q]; None where none is remembered."""
        said = self._said_at(origin)
        return None if said is None else pinball(outcome[None], said[:, horizon - 1])

    def learn(
        self, origin: int, horizon: int, shown: FloatArray, outcome: FloatArray, trusts_model: bool = True
    ) -> None:
        """Take the outcome of the forecast made at row `origin`. shown [Q, L] and outcome [Q] in natural units.

        trusts_model: False where the model may have learned from this outcome before: then the model earns no weight
        with it, and the calibration learns from the forecast without the model.
        """
        said = self._said_at(origin)
        if said is None:
            return
        factor, offset = (units[0, horizon - 1] for units in self._history.units(np.array([origin], dtype=np.int64)))
        now = said[:, horizon - 1]
        spared, *experts = (now - offset[:, None]) / factor[:, None]
        normalised, came = (shown - offset[:, None]) / factor[:, None], (outcome - offset) / factor
        if not trusts_model:
            experts[MODEL] = normalised = spared
        self._combined.learn(horizon, np.stack(experts), normalised, came)

    def _said_at(self, origin: int) -> FloatArray | None:
        opened_ms = int(self._history.open_time_ms[origin])
        return next((said for time_ms, said in self._said if time_ms == opened_ms), None)

    def state(self) -> Arrays:
        """What was learned: weights and calibration."""
        return named({"combined": self._combined.state()})

    def restore(self, state: Arrays) -> None:
        """Go on from what `state` returned, at whatever candle."""
        self._combined.restore(part_of(state, "combined"))

    def past(self) -> Arrays:
        """What belongs to the history's state: the baselines, and what was said of candles that have not closed."""
        times = np.array([time_ms for time_ms, _ in self._said], dtype=np.int64)
        said = [said for _, said in self._said]
        kept: Arrays = {"origins": times, "said": np.stack(said) if said else np.empty(0)}
        return kept | named({"baselines": self._baselines.state()})

    def restore_past(self, state: Arrays) -> None:
        """Go on from what `past` returned, with the history that belongs to it."""
        self._baselines.restore(part_of(state, "baselines"))
        self._said.clear()
        self._said.extend(zip((int(time) for time in state["origins"]), state["said"].astype(np.float64), strict=True))
