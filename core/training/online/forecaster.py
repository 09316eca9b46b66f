"""Makes forecast quantiles from the past: the model's, the baselines' and their combination. Learns from each
outcome."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import nn

from core.domain.events import ExpertShares
from core.domain.quantities import QUANTITY_NAMES, FloatArray, Quantity, within_bounds
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.combination import Combination, prior
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, Quantiles
from core.forecast.history import History
from core.forecast.score import close_hits, pinball
from core.training.engine.engine import TrainingEngine


class Forecaster:
    """Owns everything that makes a forecast from the past, except the model, which the engine owns.

    For each candle: `observe`, then `forecast` or `without_model`, then `commit`.
    """

    def __init__(self, history: History, engine: TrainingEngine, context: int) -> None:
        self._history = history
        self._engine = engine
        self._context = context
        self._baselines = BaselineForecast(history)
        self._combined = Combination(prior(with_model=True), history.horizons)
        self._pending: deque[tuple[int, FloatArray]] = deque(maxlen=history.horizons)
        """By origin's opening time, newest last: without the model, then each expert; [1 + E, H, Q, L], natural."""

    @property
    def model_weight(self) -> float:
        """The model's share in the shown close one step ahead."""
        return float(self._combined.weights.shares[MODEL, 0, Quantity.CLOSE])

    @property
    def shares(self) -> ExpertShares:
        """The current weights of the experts."""
        shares = np.moveaxis(self._combined.weights.shares, 0, -1)
        by_horizon = tuple(tuple(tuple(each) for each in quantities) for quantities in shares.tolist())
        return ExpertShares(EXPERTS, QUANTITY_NAMES, by_horizon)

    def observe(self) -> None:
        """Take the history's newest candle. Once a candle, before any forecast."""
        self._baselines.observe()

    def forecast(self) -> Quantiles:
        """Forecast the candles after the newest one."""
        return forecast_together([self])[0]

    def inputs(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """What the model reads to forecast the candles after the newest: features [1, T, F], is_real [1, T]."""
        return self._history.windows(np.array([len(self._history) - 1], dtype=np.int64), self._context)

    def with_corrections(self, corrections: FloatArray) -> Quantiles:
        """The forecast with the model's corrections [H, Q, L] of the forecast without it."""
        return self._combine(self._corrected(corrections))

    def of_model(self, corrections: FloatArray) -> FloatArray:
        """The model's own forecast, from its corrections [H, Q, L]: [H, Q, L], natural units."""
        return self._natural(self._corrected(corrections))

    def beside(self, engine: TrainingEngine, learned: Arrays) -> Forecaster:
        """A forecaster with another model and its learned state. It shares this one's past, and can only forecast."""
        other = copy.copy(self)
        other._engine = engine
        other._combined = Combination(prior(with_model=True), self._history.horizons)
        other.restore(learned)
        return other

    def without_model(self) -> Quantiles:
        """The forecast if the model gives none: the baselines' forecast takes its place."""
        return self._combine(self._baselines.now.combined)

    def commit(self, quantiles: Quantiles) -> None:
        """Remember all forecasts until their targets have closed. quantiles: as issued, or as recorded."""
        now = self._baselines.now
        forecasts = self._natural(np.concatenate([now.combined[None], now.experts]))
        forecasts[1 + MODEL] = quantiles.experts[MODEL]
        origin = self._history.last_open_time_ms
        assert origin is not None
        self._pending.append((origin, forecasts))

    def _corrected(self, corrections: FloatArray) -> FloatArray:
        """Normalised quantiles [H, Q, L]."""
        return np.sort(self._baselines.now.combined + corrections, axis=-1)

    def _combine(self, model: FloatArray) -> Quantiles:
        """model: normalised quantiles [H, Q, L]."""
        experts = self._baselines.now.experts.copy()
        experts[MODEL] = model
        natural = self._natural(np.stack([self._combined.predict(experts), model, experts[REFERENCE]]))
        return Quantiles(natural[0], natural[1:])

    def _natural(self, normalised: FloatArray) -> FloatArray:
        """Convert [..., H, Q, L] from units of the newest candle to natural units."""
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        factor, offset = (units[0][..., None] for units in self._history.units(newest))
        return within_bounds(offset + factor * normalised)

    def losses(self, origins: NDArray[np.int64], outcomes: FloatArray) -> list[FloatArray | None]:
        """Losses of all forecasts made at the rows `origins` [n], the k-th of horizon k, of outcomes [n, Q] in natural
        units: [1 + E, Q] each; None where none is remembered."""
        forecasts = self._forecasts_at(origins)
        known = [row for row, made in enumerate(forecasts) if made is not None]
        losses: list[FloatArray | None] = [None] * len(forecasts)
        if known:
            together = np.stack([made[:, row] for row, made in enumerate(forecasts) if made is not None])
            for row, loss in zip(known, pinball(outcomes[known][:, None], together), strict=True):
                losses[row] = loss
        return losses

    def hits(self, origin: int, close: float) -> FloatArray | None:
        """How each expert's forecast of the next close, made at the row `origin`, did (`close_hits`): [E, 2, 2]; None
        where none is remembered."""
        (made,) = self._forecasts_at(np.array([origin], dtype=np.int64))
        return None if made is None else close_hits(made[1:, 0, Quantity.CLOSE], close)

    def learn(
        self,
        origins: NDArray[np.int64],
        shown: FloatArray,
        outcomes: FloatArray,
        is_learned: NDArray[np.bool_],
        trusts_model: NDArray[np.bool_],
    ) -> None:
        """Take the outcomes [n, Q] of the forecasts made at the rows `origins` [n], the k-th of horizon k. shown
        [n, Q, L], as outcomes in natural units.

        is_learned: False, [n], for an outcome to leave out. trusts_model: False, [n], if the model may have learned
        from this outcome before: then the model gains no weight, and the calibration learns from the forecast without
        the model.
        """
        forecasts = self._forecasts_at(origins)
        rows = np.array([row for row in np.flatnonzero(is_learned) if forecasts[row] is not None], dtype=np.int64)
        if not rows.size:
            return
        now = np.stack([forecasts[row][:, row] for row in rows], axis=1)
        factor, offset = (each[rows, rows] for each in self._history.units(origins))
        without, *experts = (now - offset[..., None]) / factor[..., None]
        normalised = (shown[rows] - offset[..., None]) / factor[..., None]
        is_doubted = ~trusts_model[rows]
        experts[MODEL][is_doubted] = normalised[is_doubted] = without[is_doubted]
        self._combined.learn(rows + 1, np.stack(experts), normalised, (outcomes[rows] - offset) / factor)

    def _forecasts_at(self, origins: NDArray[np.int64]) -> list[FloatArray | None]:
        remembered = dict(self._pending)
        return [remembered.get(opened_ms) for opened_ms in self._history.open_time_ms[origins].tolist()]

    def state(self) -> Arrays:
        """The learned state: weights and calibration."""
        return named({"combined": self._combined.state()})

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned, at any candle."""
        self._combined.restore(part_of(state, "combined"))

    def past(self) -> Arrays:
        """State that belongs to the history: the baselines, and the forecasts of candles that have not closed."""
        times = np.array([time_ms for time_ms, _ in self._pending], dtype=np.int64)
        forecasts = [forecasts for _, forecasts in self._pending]
        kept: Arrays = {"origins": times, "said": np.stack(forecasts) if forecasts else np.empty(0)}
        return kept | named({"baselines": self._baselines.state()})

    def restore_past(self, state: Arrays) -> None:
        """Continue from what `past` returned, with the matching history."""
        self._baselines.restore(part_of(state, "baselines"))
        self._pending.clear()
        origins = (int(time) for time in state["origins"])
        self._pending.extend(zip(origins, state["said"].astype(np.float64), strict=True))


def forecast_together(forecasters: Sequence[Forecaster]) -> tuple[Quantiles, ...]:
    """Forecast the candles after the newest of each market, with one pass of the model."""
    corrections = corrections_together(forecasters)
    return tuple(each.with_corrections(own) for each, own in zip(forecasters, corrections, strict=True))


def corrections_together(forecasters: Sequence[Forecaster], model: nn.Module | None = None) -> FloatArray:
    """The model's corrections of each market's forecast without it: [markets, H, Q, L].

    forecasters: of one engine, at least one. model: another of the same shape; None: the one that is trained.
    """
    features, is_real = zip(*(each.inputs() for each in forecasters), strict=True)
    return forecasters[0]._engine.corrections(np.concatenate(features), np.concatenate(is_real), model)
