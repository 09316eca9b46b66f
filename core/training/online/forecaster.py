"""Makes forecast quantiles from the past: the model's, the baselines' and their combination. Learns from each
outcome."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import nn

from core.domain.events import ExpertForecasts, ExpertShares
from core.domain.quantities import QUANTITY_NAMES, FloatArray, Quantity, within_bounds
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.combination import Combination, prior
from core.forecast.experts import EXPERTS, FORECASTS, MODEL, NO_CHALLENGERS, REFERENCE, STORED, ExpertList, Quantiles
from core.forecast.history import History
from core.forecast.score import close_hits, pinball
from core.training.engine.engine import TrainingEngine
from core.training.online.challenger import MarketInputs
from core.training.online.forecast_events import drawn_experts


class Forecaster:
    """Owns everything that makes a forecast from the past, except the model, which the engine owns.

    For each candle: `observe`, then `challenge` if the run has challengers, then `forecast` or `without_model`, then
    `commit`.

    With challengers there are two combinations: the one that is shown has all experts, the other one none of the
    challengers. That one, with all that is learned from it, is the same as in a run without them.
    """

    def __init__(
        self, history: History, engine: TrainingEngine, context: int, experts: ExpertList = NO_CHALLENGERS
    ) -> None:
        self._history = history
        self._engine = engine
        self._context = context
        self._experts = experts
        self._baselines = BaselineForecast(history)
        self._combined = Combination(prior(with_model=True), history.horizons)
        self._with_challengers = self._new_challenged() if experts.challengers else None
        self._challengers: Sequence[FloatArray] = ()
        """What each challenger forecasts after the newest candle: normalised, [H, Q, L]."""
        self._pending: deque[tuple[int, FloatArray]] = deque(maxlen=history.horizons)
        """By origin's opening time, newest last, in the order of `ExpertList.loss_rows`: [.., H, Q, L], natural."""

    def _new_challenged(self) -> Combination:
        return Combination(prior(True, self._experts), self._history.horizons)

    @property
    def _shown(self) -> Combination:
        return self._with_challengers or self._combined

    @property
    def challengers(self) -> int:
        """How many there are."""
        return len(self._experts.challengers)

    @property
    def model_weight(self) -> float:
        """The model's share in the shown close one step ahead."""
        return float(self._shown.weights.shares[MODEL, 0, Quantity.CLOSE])

    @property
    def shares(self) -> ExpertShares:
        """The current weights of the experts."""
        shares = np.moveaxis(self._shown.weights.shares, 0, -1)
        by_horizon = tuple(tuple(tuple(each) for each in quantities) for quantities in shares.tolist())
        return ExpertShares(self._experts.names, QUANTITY_NAMES, by_horizon)

    def observe(self) -> None:
        """Take the history's newest candle. Once a candle, before any forecast."""
        self._baselines.observe()

    def forecast(self) -> Quantiles:
        """Forecast the candles after the newest one."""
        return forecast_together([self])[0]

    def inputs(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """What the model reads to forecast the candles after the newest: features [1, T, F], is_real [1, T]."""
        return self._history.windows(np.array([len(self._history) - 1], dtype=np.int64), self._context)

    def market_inputs(self, market: int) -> MarketInputs:
        """What challengers read to forecast the candles after the newest. market: its place among those of the run."""
        (features,), (is_real,) = self.inputs()
        newest, without = self._history.last_open_time_ms, self._baselines.now.combined.copy()
        assert newest is not None
        return MarketInputs(market, newest, features, is_real, without, *self._units())

    def challenge(self, forecasts: Sequence[FloatArray | None]) -> None:
        """Take what each challenger forecasts after the newest candle: normalised, [H, Q, L]. None: the forecast
        without any model takes its place."""
        without = self._baselines.now.combined
        self._challengers = [without if forecast is None else forecast for forecast in forecasts]

    def with_corrections(self, corrections: FloatArray) -> Quantiles:
        """The forecast with the model's corrections [H, Q, L] of the forecast without it."""
        return self._combine(self._corrected(corrections))

    def of_model(self, corrections: FloatArray) -> FloatArray:
        """The model's own forecast, from its corrections [H, Q, L]: [H, Q, L], natural units."""
        return self._natural(self._corrected(corrections))

    def beside(self, engine: TrainingEngine, learned: Arrays) -> Forecaster:
        """A forecaster with another model and its learned state, and no challengers. It shares this one's past, and can
        only forecast."""
        other = copy.copy(self)
        other._engine = engine
        other._with_challengers = None
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
        forecasts = np.concatenate([forecasts, quantiles.experts[len(STORED) :]])
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
        made = [self._combined.predict(experts), model, experts[REFERENCE]]
        if self._with_challengers is not None:
            shown = self._with_challengers.predict(np.concatenate([experts, self._challengers]))
            made = [shown, *made[1:], *self._challengers, made[0]]
        natural = self._natural(np.stack(made))
        return Quantiles(natural[0], natural[1:])

    def _units(self) -> tuple[FloatArray, FloatArray]:
        """Factor and offset of the newest candle: [H, Q]."""
        factor, offset = self._history.units(np.array([len(self._history) - 1], dtype=np.int64))
        return factor[0], offset[0]

    def _natural(self, normalised: FloatArray) -> FloatArray:
        """Convert [..., H, Q, L] from units of the newest candle to natural units."""
        factor, offset = (units[..., None] for units in self._units())
        return within_bounds(offset + factor * normalised)

    def losses(self, origins: NDArray[np.int64], outcomes: FloatArray) -> list[FloatArray | None]:
        """Losses of all forecasts made at the rows `origins` [n], the k-th of horizon k, of outcomes [n, Q] in natural
        units: [.., Q] each, in the order of `ExpertList.loss_rows`; None where none is remembered."""
        forecasts = self._forecasts_at(origins)
        known = [row for row, made in enumerate(forecasts) if made is not None]
        losses: list[FloatArray | None] = [None] * len(forecasts)
        if known:
            together = np.stack([made[:, row] for row, made in enumerate(forecasts) if made is not None])
            for row, loss in zip(known, pinball(outcomes[known][:, None], together), strict=True):
                losses[row] = loss
        return losses

    def hits(self, origin: int, close: float) -> FloatArray | None:
        """How each expert's forecast of the next close, made at the row `origin`, did (`close_hits`): [.., 2, 2],
        in the order of `ExpertList.loss_rows` from the second on; None where none is remembered."""
        (made,) = self._forecasts_at(np.array([origin], dtype=np.int64))
        return None if made is None else close_hits(made[1:, 0, Quantity.CLOSE], close)

    def drawn_experts(self) -> ExpertForecasts:
        """What each expert that forecasts the close does, as committed after the newest candle."""
        names = self._experts.loss_rows[1:]
        able = [place for place, name in enumerate(names) if name not in EXPERTS or FORECASTS[place, Quantity.CLOSE]]
        return drawn_experts([names[place] for place in able], self._pending[-1][1][1:][able])

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
        from this outcome before: then neither it nor a challenger gains weight, and the calibration learns from the
        forecast without any model. A challenger whose forecast is the one without any model gave none.
        """
        forecasts = self._forecasts_at(origins)
        rows = np.array([row for row in np.flatnonzero(is_learned) if forecasts[row] is not None], dtype=np.int64)
        if not rows.size:
            return
        now = np.stack([forecasts[row][:, row] for row in rows], axis=1)
        factor, offset = (each[rows, rows] for each in self._history.units(origins))
        made = (now - offset[..., None]) / factor[..., None]
        normalised = (shown[rows] - offset[..., None]) / factor[..., None]
        is_doubted = ~trusts_model[rows]
        without, experts, further = made[0], made[1 : 1 + len(EXPERTS)], made[1 + len(EXPERTS) :]
        for doubted in (experts[MODEL], normalised, *further):
            doubted[is_doubted] = without[is_doubted]
        own = normalised if self._with_challengers is None else further[-1]
        normalised_outcomes = (outcomes[rows] - offset) / factor
        self._combined.learn(rows + 1, experts, own, normalised_outcomes)
        if self._with_challengers is not None:
            is_absent = (made[1:-1] == without).all(axis=-1)
            is_absent[: len(EXPERTS)] = False
            self._with_challengers.learn(rows + 1, made[1:-1], normalised, normalised_outcomes, is_absent)

    def _forecasts_at(self, origins: NDArray[np.int64]) -> list[FloatArray | None]:
        remembered = dict(self._pending)
        return [remembered.get(opened_ms) for opened_ms in self._history.open_time_ms[origins].tolist()]

    def state(self) -> Arrays:
        """The learned state: weights and calibration."""
        return named({"combined": self._combined.state()})

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned, at any candle."""
        self._combined.restore(part_of(state, "combined"))

    def state_with_challengers(self) -> Arrays:
        """The same of the combination with the challengers; empty without them."""
        return {} if self._with_challengers is None else self._with_challengers.state()

    def restore_with_challengers(self, state: Arrays | None) -> None:
        """Continue from what `state_with_challengers` returned. None, or a state of another form: every expert begins
        with its first weight, and the calibration with that of the other combination."""
        if self._with_challengers is None:
            return
        forms = {name: array.shape for name, array in self._with_challengers.state().items()}
        if state is not None and {name: array.shape for name, array in state.items()} == forms:
            self._with_challengers.restore(state)
            return
        self._with_challengers = self._new_challenged()
        self._with_challengers.calibration.restore(self._combined.calibration.state())

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
