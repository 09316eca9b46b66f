"""Makes the forecast quantiles of a run's markets from their past: the model's, the baselines' and their combination.
Learns from each outcome."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.events import ExpertForecasts, ExpertShares
from core.domain.quantities import LEVELS, QUANTITIES, QUANTITY_NAMES, FloatArray, Quantity, within_bounds
from core.forecast.arrays import Arrays, ArrayState, Places, named, part_of
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.combination import Combination, prior
from core.forecast.experts import EXPERTS, FORECASTS, MODEL, NO_CHALLENGERS, REFERENCE, STORED, ExpertList, Quantiles
from core.forecast.other_markets import exchange_numbers
from core.forecast.outcomes import Outcomes
from core.forecast.panel import Panel
from core.forecast.regime import RegimeWatch
from core.training.online.challenger import MarketInputs
from core.training.online.forecast_events import drawn_experts

_NONE = np.iinfo(np.int64).min


class _Pending(ArrayState):
    """The forecasts at the newest candles of each market, in natural units, until their targets have closed."""

    _STATE = ("forecasts", "origins", "count")

    def __init__(self, rows: int, horizons: int, markets: int) -> None:
        """rows: forecasts of each origin, in the order of `ExpertList.loss_rows`."""
        self.forecasts = np.zeros((markets, horizons, rows, horizons, QUANTITIES, len(LEVELS)))
        """[market, slot, row, H, Q, L]"""
        self.origins = np.full((markets, horizons), _NONE, dtype=np.int64)
        """The opening time of the origin in each slot."""
        self.count = np.zeros(markets, dtype=np.int64)
        """Forecasts so far; the next one goes into the slot of this number."""

    def restore(self, state: Arrays, market: int) -> None:
        """Forecasts of a run with other challengers are forgotten; without challengers, only those of the others."""
        own, rows = self.forecasts[market], self.forecasts.shape[2]
        stored, is_alone = state["forecasts"], rows == len(NO_CHALLENGERS.loss_rows)
        super().restore(state | {"forecasts": stored[:, :rows] if stored.shape[1] == rows or is_alone else own}, market)
        if stored.shape[1] != rows and not is_alone:
            self.origins[market] = _NONE

    def append(self, places: Places, origin_ms: NDArray[np.int64], forecasts: FloatArray) -> None:
        """forecasts: [n, rows, H, Q, L]."""
        slot = self.count[places] % self.origins.shape[1]
        self.forecasts[places, slot], self.origins[places, slot] = forecasts, origin_ms
        self.count[places] += 1

    def newest(self, market: int) -> FloatArray:
        """[rows, H, Q, L]"""
        newest: FloatArray = self.forecasts[market, (self.count[market] - 1) % self.origins.shape[1]]
        return newest

    def at(self, places: Places, origin_ms: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The forecasts of horizon 1 made at the first of these origins [n, H], of horizon 2 at the second, and so on:
        [n, H, rows, Q, L], and which of them are remembered: [n, H]."""
        is_it = self.origins[places][:, None] == origin_ms[:, :, None]
        horizons = np.arange(origin_ms.shape[1])
        return self.forecasts[places[:, None], is_it.argmax(axis=2), :, horizons], is_it.any(axis=2)


class Forecaster:
    """Owns everything that makes a forecast from the past of each market, except the model, which the engine owns.

    For each close: `observe`, `losses`, `learn`, then `challenge` if the run has challengers, then `with_corrections`
    or `without_model`, then `commit`.

    With challengers there are two combinations: the one that is shown has all experts, the other one none of the
    challengers. That one, with all that is learned from it, is the same as in a run without them.
    """

    def __init__(self, panel: Panel, context: int, experts: ExpertList = NO_CHALLENGERS) -> None:
        """context: candles that the model reads."""
        self.panel = panel
        self._context = context
        self._experts = experts
        size = panel.horizons, panel.markets
        self._baselines = BaselineForecast(panel)
        self._regimes = RegimeWatch(panel)
        self._combined = Combination(prior(with_model=True), *size)
        self._with_challengers = Combination(prior(True, experts), *size) if experts.challengers else None
        self._challengers = np.zeros((panel.markets, len(experts.challengers), panel.horizons, QUANTITIES, len(LEVELS)))
        """What each challenger forecasts after the newest candle of each market, normalised."""
        self._pending = _Pending(len(experts.loss_rows), *size)

    @property
    def _shown(self) -> Combination:
        return self._with_challengers or self._combined

    @property
    def challengers(self) -> int:
        return len(self._experts.challengers)

    @property
    def regimes(self) -> RegimeWatch:
        return self._regimes

    def model_weight(self, market: int) -> float:
        """The model's share in the shown close one step ahead."""
        return float(self._shown.weights.shares(market)[0, Quantity.CLOSE, MODEL])

    def shares(self, market: int) -> ExpertShares:
        """The current weights of the experts."""
        shares = self._shown.weights.shares(market).tolist()
        by_horizon = tuple(tuple(tuple(each) for each in quantities) for quantities in shares)
        return ExpertShares(self._experts.names, QUANTITY_NAMES, by_horizon)

    def observe(self, places: Places) -> Outcomes:
        """Learn from the newest candles of these markets, which are those with a candle at this close, and forecast
        without the model. Once a close, after `Panel.append`. Returns the candles as targets."""
        of_others = exchange_numbers(self.panel, places) if self.panel.has_others else None
        outcomes = self._baselines.observe(places, of_others)
        self._regimes.observe(places)
        return outcomes

    def inputs(self, places: Places) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """What the model reads to forecast the candles after the newest: features [n, T, F], is_real [n, T]."""
        return self.panel.windows(places, self.panel.newest(places), self._context)

    def market_inputs(self, places: Places) -> list[MarketInputs]:
        """What challengers read to forecast the candles after the newest."""
        opened = self.panel.time[places, self.panel.newest(places)].tolist()
        arrays = *self.inputs(places), self._baselines.combined(places), *self._units(places)
        return [MarketInputs(*of_market) for of_market in zip(places.tolist(), opened, *arrays, strict=True)]

    def challenge(self, places: Places, forecasts: Sequence[Sequence[FloatArray | None]]) -> None:
        """Take what each challenger forecasts after the newest candle of each market: normalised, [H, Q, L]. None: the
        forecast without any model takes its place."""
        without = self._baselines.combined(places)
        for challenger, of_markets in enumerate(forecasts):
            made = [of if own is None else own for own, of in zip(of_markets, without, strict=True)]
            self._challengers[places, challenger] = made

    def with_corrections(self, places: Places, corrections: FloatArray) -> list[Quantiles]:
        """The forecasts with the model's corrections [n, H, Q, L] of those without it."""
        return self._combine(places, self._corrected(places, corrections))

    def of_model(self, places: Places, corrections: FloatArray) -> FloatArray:
        """The model's own forecasts, from its corrections [n, H, Q, L]: [n, H, Q, L], natural units."""
        return self._natural(places, self._corrected(places, corrections)[:, None])[:, 0]

    def with_learned(self, market: int, corrections: FloatArray, learned: Arrays) -> Quantiles:
        """The forecast of a market with another model's corrections [H, Q, L] and its learned state, without
        challengers."""
        alone, place = np.array([0]), np.array([market])
        combined = Combination(prior(with_model=True), self.panel.horizons, 1)
        combined.restore(part_of(learned, "combined"), 0)
        model, experts = self._corrected(place, corrections[None]), self._baselines.experts(place)
        experts[:, :, MODEL] = model
        made = np.stack([combined.predict(alone, experts), model, experts[:, :, REFERENCE]], axis=1)
        (natural,) = self._natural(place, made)
        return Quantiles(natural[0], natural[1:])

    def without_model(self, places: Places) -> list[Quantiles]:
        """The forecasts if the model gives none: the baselines' forecast takes its place."""
        return self._combine(places, self._baselines.combined(places))

    def commit(self, places: Places, quantiles: Sequence[Quantiles]) -> None:
        """Remember all forecasts until their targets have closed. quantiles: as issued, or as recorded."""
        experts = np.moveaxis(self._baselines.experts(places), 2, 1)
        own = self._natural(places, np.concatenate([self._baselines.combined(places)[:, None], experts], axis=1))
        issued = np.stack([each.experts for each in quantiles])
        own[:, 1 + MODEL] = issued[:, MODEL]
        forecasts = np.concatenate([own, issued[:, len(STORED) :]], axis=1)
        self._pending.append(places, self.panel.time[places, self.panel.newest(places)], forecasts)

    def _corrected(self, places: Places, corrections: FloatArray) -> FloatArray:
        """Normalised quantiles [n, H, Q, L]."""
        return np.sort(self._baselines.combined(places) + corrections, axis=-1)

    def _combine(self, places: Places, model: FloatArray) -> list[Quantiles]:
        """model: normalised quantiles [n, H, Q, L]."""
        experts = self._baselines.experts(places)
        experts[:, :, MODEL] = model
        made = [self._combined.predict(places, experts), model, experts[:, :, REFERENCE]]
        if self._with_challengers is not None:
            further = self._challengers[places]
            all_experts = np.concatenate([experts, np.moveaxis(further, 1, 2)], axis=2)
            shown = self._with_challengers.predict(places, all_experts)
            made = [shown, *made[1:], *np.moveaxis(further, 1, 0), made[0]]
        return [Quantiles(own[0], own[1:]) for own in self._natural(places, np.stack(made, axis=1))]

    def _units(self, places: Places) -> tuple[FloatArray, FloatArray]:
        """Factor and offset of the newest candles: [n, H, Q]."""
        return self.panel.units(places, self.panel.newest(places))

    def _natural(self, places: Places, normalised: FloatArray) -> FloatArray:
        """Convert [n, k, H, Q, L] from units of the newest candle to natural units."""
        factor, offset = (units[:, None, ..., None] for units in self._units(places))
        return within_bounds(offset + factor * normalised)

    def forecasts_due(self, places: Places) -> tuple[FloatArray, NDArray[np.bool_]]:
        """All forecasts made for the newest candle of each market: [n, H, rows, Q, L], natural units, in the order of
        `ExpertList.loss_rows`; and which of them are remembered: [n, H]."""
        rows = self.panel.newest(places)[:, None] - np.arange(1, self.panel.horizons + 1)
        return self._pending.at(places, np.where(rows < 0, _NONE + 1, self.panel.time[places[:, None], rows]))

    def drawn_experts(self, market: int) -> ExpertForecasts:
        """The committed forecasts of all experts that forecast the close, after the newest candle."""
        names = self._experts.loss_rows[1:]
        able = [place for place, name in enumerate(names) if name not in EXPERTS or FORECASTS[place, Quantity.CLOSE]]
        return drawn_experts([names[place] for place in able], self._pending.newest(market)[1:][able])

    def learn(
        self,
        places: Places,
        forecasts: FloatArray,
        shown: FloatArray,
        outcomes: Outcomes,
        is_learned: NDArray[np.bool_],
        trusts_model: NDArray[np.bool_],
    ) -> None:
        """Take the newest candles as outcomes of the forecasts made for them. forecasts: as `forecasts_due` returns
        them; shown [n, H, Q, L], as outcomes in natural units.

        is_learned: False, [n, H], for an outcome to leave out, as one without remembered forecasts. trusts_model:
        False, [n, H], if the model may have learned from this outcome before: then neither it nor a challenger gains
        weight, and the calibration learns from the forecast without any model. A challenger that repeats the forecast
        without any model counts as absent.
        """
        factor, offset = (each[..., None] for each in (outcomes.factor, outcomes.offset))
        made = (forecasts - offset[:, :, None]) / factor[:, :, None]
        normalised = (shown - offset) / factor
        without = made[:, :, 0]
        doubted = ~trusts_model
        further = range(1 + len(EXPERTS), made.shape[2])
        for row in (1 + MODEL, *further):
            made[doubted, row] = without[doubted]
        normalised[doubted] = without[doubted]
        experts = made[:, :, 1 : 1 + len(EXPERTS)]
        own = normalised if self._with_challengers is None else made[:, :, -1]
        self._combined.learn(places, experts, own, outcomes.normalised, is_learned)
        if self._with_challengers is not None:
            is_absent = (made[:, :, 1:-1] == without[:, :, None]).all(axis=-1)
            is_absent[:, :, : len(EXPERTS)] = False
            of_all = made[:, :, 1:-1]
            self._with_challengers.learn(places, of_all, normalised, outcomes.normalised, is_learned, is_absent)

    def state(self, market: int) -> Arrays:
        """The learned state of a market: weights and calibration."""
        return named({"combined": self._combined.state(market)})

    def restore(self, state: Arrays, market: int) -> None:
        """Continue a market from what `state` returned, at any candle."""
        self._combined.restore(part_of(state, "combined"), market)

    def state_with_challengers(self, market: int) -> Arrays:
        """`state` of the combination with the challengers; empty without them."""
        return {} if self._with_challengers is None else self._with_challengers.state(market)

    def restore_with_challengers(self, state: Arrays | None, market: int) -> None:
        """Continue from what `state_with_challengers` returned. None, or a state of another form: every expert begins
        with its first weight, and the calibration with that of the other combination."""
        if self._with_challengers is None:
            return
        forms = {name: array.shape for name, array in self._with_challengers.state(market).items()}
        if state is None or {name: array.shape for name, array in state.items()} != forms:
            new = Combination(prior(True, self._experts), self.panel.horizons, 1).state(0)
            calibration = named({"calibration": self._combined.calibration.state(market)})
            state = new | calibration
        self._with_challengers.restore(state, market)

    def past(self, market: int) -> Arrays:
        """State that belongs to a market's past: the baselines, and the forecasts of candles that have not closed."""
        return self._pending.state(market) | named({"baselines": self._baselines.state(market)})

    def restore_past(self, state: Arrays, market: int) -> None:
        """Continue a market from what `past` returned, with the matching past in the panel."""
        self._baselines.restore(part_of(state, "baselines"), market)
        self._pending.restore(state, market)
