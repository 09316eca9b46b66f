"""Everything that learns without the model, fed with random inputs: of several markets, or of one alone.

A market's input at a close depends on the market and the close alone, so a market can be compared in different company.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Candle, Inside, Interval
from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.arrays import Arrays, Places, named, part_of
from core.forecast.averages import TimeOfDayMeans, WeightedMoments
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.calibrate import AdaptiveCalibration
from core.forecast.combination import Combination
from core.forecast.expert_weights import ExpertWeights
from core.forecast.experts import ExpertList
from core.forecast.garch import GarchGrid
from core.forecast.other_markets import Leaders
from core.forecast.outcomes import newest_outcomes
from core.forecast.panel import Panel
from core.forecast.reference_forecast import ReferenceForecast
from core.forecast.regime import RegimeMixture, RegimeWatch
from core.forecast.regression import DiscountedRegressions
from core.forecast.residuals import ResidualQuantiles
from core.forecast.switching import RegimeSwitching
from core.training.online.forecaster import Forecaster
from tests.support.candles import MINUTE, START_MS

MARKETS = 4
_HORIZONS, _EXPERTS, _LEADERS = 3, 3, 20
_CAPACITY, _CONTEXT = 48, 8
_BAND = np.linspace(-1.5, 1.5, len(LEVELS))
_FORECASTS = _BAND + np.arange(float(_EXPERTS))[:, None, None] + np.zeros((_HORIZONS, _EXPERTS, QUANTITIES, 1))
_EQUAL = np.ones((_EXPERTS, QUANTITIES))

Inputs = tuple[Any, ...]
"""Numbers and arrays of one market at one close, without the axis of the market."""
Read = Sequence[NDArray[Any]]
"""[n, ...] each."""
Close = Sequence[int]
"""The markets that have a candle, in any order."""


@dataclass(frozen=True)
class Case:
    """A kind of learner."""

    make: Callable[[int], Any]
    """Of so many markets."""
    draw: Callable[[np.random.Generator], Inputs]
    learn: Callable[..., object]
    """Takes the learner, the places, and what is drawn for each."""
    read: Callable[[Any, Places], Read]
    """What it has learned of these markets."""


class Company:
    """A learner of several markets, and the place of each market in it."""

    def __init__(self, case: Case, markets: Sequence[int], seed: int = 0) -> None:
        """markets: in the order of their places."""
        self.learner = case.make(len(markets))
        self._case, self._markets, self._seed = case, list(markets), seed

    def close(self, number: int, markets: Close) -> dict[int, Read]:
        """Learn from the inputs of this close, and read what is known of each market then."""
        if not markets:
            return {}
        if isinstance(self.learner, OfPanel):
            self.learner.opened_ms = START_MS + number * MINUTE.duration_ms
        places = np.array([self._markets.index(market) for market in markets])
        drawn = [self._case.draw(np.random.default_rng([self._seed, market, number])) for market in markets]
        self._case.learn(self.learner, places, *(np.stack(each) for each in zip(*drawn, strict=True)))
        read = self._case.read(self.learner, places)
        return {market: [each[row] for each in read] for row, market in enumerate(markets)}

    def state(self, market: int) -> Arrays:
        state: Arrays = self.learner.state(self._markets.index(market))
        return state

    def restore(self, state: Arrays, market: int) -> None:
        self.learner.restore(state, self._markets.index(market))


class OfPanel:
    """A panel, and what learns from its newest candles. The panel has all markets, also if one of them is fed alone: on
    their number depends how many features a regression has."""

    def __init__(self, make: Callable[[Panel], Any], *, reads_inside: bool = False) -> None:
        self.panel = Panel(MINUTE, MARKETS, _CAPACITY, _HORIZONS, reads_inside=reads_inside)
        self.part = make(self.panel)
        self.opened_ms = 0
        """Of the close's candles."""

    def append(self, places: Places, prices: FloatArray) -> None:
        """prices: open, high, low, close and volume, [n, 5]."""
        self.panel.append(places, [self._candle(row) for row in prices.tolist()])

    def _candle(self, prices: list[float]) -> Candle:
        """A third of them without an inside, which depends on the volume alone."""
        share = prices[-1] % 1.0
        inside = Inside(5, 1e-6 * (1.0 + share), 4e-7, 4e-7, 2e-7 * share, 0.2, 0.4) if share > 0.33 else None
        return Candle(self.opened_ms, *prices, inside=inside)

    def state(self, market: int) -> Arrays:
        own = {} if self.part is None or isinstance(self.part, ReferenceForecast) else self.part.state(market)
        return named({"panel": self.panel.state(market), "part": own})

    def restore(self, state: Arrays, market: int) -> None:
        self.panel.restore(part_of(state, "panel"), market)
        if isinstance(self.part, ReferenceForecast):
            self.part.restore(market)
        elif self.part is not None:
            self.part.restore(part_of(state, "part"), market)


class WholeForecaster:
    """The forecaster's parts of a market's state together."""

    def __init__(self, panel: Panel, experts: ExpertList) -> None:
        self.forecaster = Forecaster(panel, _CONTEXT, experts)

    def state(self, market: int) -> Arrays:
        return named(
            {
                "learned": self.forecaster.state(market),
                "past": self.forecaster.past(market),
                "regimes": self.forecaster.regimes.state(market),
                "challengers": self.forecaster.state_with_challengers(market),
            }
        )

    def restore(self, state: Arrays, market: int) -> None:
        self.forecaster.restore(part_of(state, "learned"), market)
        self.forecaster.restore_past(part_of(state, "past"), market)
        self.forecaster.regimes.restore(part_of(state, "regimes"), market)
        self.forecaster.restore_with_challengers(part_of(state, "challengers"), market)


def _with_unknown(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    return np.where(generator.random(values.shape) < 0.2, np.nan, values)


def _time_and_value(generator: np.random.Generator) -> Inputs:
    return generator.integers(0, 9 * DAY_MS), generator.normal()


def _outcomes(generator: np.random.Generator) -> Inputs:
    """Of each horizon: outcomes, and which of them are known. Some are ties."""
    outcomes = generator.normal(size=(_HORIZONS, QUANTITIES)) * generator.integers(0, 2, (_HORIZONS, 1))
    return outcomes, generator.random(_HORIZONS) < 0.7


def _shown_and_outcomes(generator: np.random.Generator) -> Inputs:
    return np.sort(generator.normal(size=(_HORIZONS, QUANTITIES, len(LEVELS))), axis=-1), *_outcomes(generator)


def _experts_and_outcomes(generator: np.random.Generator) -> Inputs:
    is_absent = np.zeros((_HORIZONS, _EXPERTS, QUANTITIES), dtype=np.bool_)
    is_absent[:, 0] = generator.random() < 0.3
    experts = np.sort(generator.normal(size=(*_FORECASTS.shape[:-1], len(LEVELS))), axis=-1)
    return experts, *_outcomes(generator), is_absent


def _learn_combination(
    combination: Combination,
    places: Places,
    experts: FloatArray,
    outcomes: FloatArray,
    is_known: NDArray[np.bool_],
    is_absent: NDArray[np.bool_],
) -> None:
    shown = combination.predict(places, experts)
    combination.learn(places, experts, shown, outcomes, is_known, is_absent)


def _range_and_return(generator: np.random.Generator) -> Inputs:
    return generator.normal(-6.0, 0.5), _with_unknown(generator.normal(0.0, 1e-3, 1), generator)[0]


def _close_and_range(generator: np.random.Generator) -> Inputs:
    return generator.normal(4.0, 0.01), generator.normal(-6.0, 0.5), generator.random() < 0.1


def _regressed(generator: np.random.Generator) -> Inputs:
    """Features, outcomes, which are known, and which features mean something else from now on."""
    features, outcomes = generator.normal(size=(_HORIZONS, 2, 5)), generator.normal(size=(_HORIZONS, 2))
    return features, outcomes, generator.random(_HORIZONS) < 0.7, generator.random(5) < 0.05


def _learn_regressions(
    regressions: DiscountedRegressions,
    places: Places,
    features: FloatArray,
    outcomes: FloatArray,
    is_known: NDArray[np.bool_],
    is_forgotten: NDArray[np.bool_],
) -> None:
    regressions.learn(places, features, outcomes, is_known)
    regressions.forget(places, is_forgotten)


def _residuals(generator: np.random.Generator) -> Inputs:
    return generator.normal(size=(_HORIZONS, 2)), generator.random(_HORIZONS) < 0.7


def _read_residuals(residuals: ResidualQuantiles, places: Places) -> Read:
    """Without the quantiles of no residuals."""
    known = residuals.known(places)
    return [known, np.where(known[..., None, None] > 0, residuals.quantiles(places), 0.0)]


def _returns(generator: np.random.Generator) -> Inputs:
    return generator.normal(), generator.normal(size=_LEADERS - 1)


def _read_leaders(leaders: Leaders, places: Places) -> Read:
    return [leaders.returns(places, np.tile(np.arange(1.0, _LEADERS), (len(places), 1)))]


def _candle(generator: np.random.Generator) -> Inputs:
    opened, close = np.exp(generator.normal(4.6, 1e-3, 2))
    high, low = np.maximum(opened, close) * 1.001, np.minimum(opened, close) * np.exp(-abs(generator.normal(0.0, 1e-3)))
    return (np.array([opened, high, low, close, generator.gamma(2.0, 10.0)]),)


def _candle_and_returns(generator: np.random.Generator) -> Inputs:
    return *_candle(generator), generator.normal(size=MARKETS - 1)


def _candle_and_forecasts(generator: np.random.Generator) -> Inputs:
    """With the model's corrections, a challenger's forecast or NaN for none, and what may be learned."""
    shape = _HORIZONS, QUANTITIES, len(LEVELS)
    corrections, forecast = generator.normal(0.0, 0.1, shape), np.sort(generator.normal(size=shape), axis=-1)
    forecast = forecast if generator.random() < 0.7 else np.full(shape, np.nan)
    trusted = generator.random((2, _HORIZONS)) < 0.8
    return *_candle(generator), corrections, forecast, *trusted


def _read_panel(of: OfPanel, places: Places) -> Read:
    newest = of.panel.newest(places)
    return [
        *of.panel.windows(places, newest, _CONTEXT),
        *of.panel.units(places, newest),
        of.panel.newest_return(places),
    ]


def _learn_reference(of: OfPanel, places: Places, prices: FloatArray) -> None:
    of.append(places, prices)
    of.part.observe(places, newest_outcomes(of.panel, places))


def _learn_baselines(of: OfPanel, places: Places, prices: FloatArray, of_others: FloatArray) -> None:
    of.append(places, prices)
    of.part.observe(places, of_others)


def _read_baselines(of: OfPanel, places: Places) -> Read:
    baselines = of.part
    anchors = of.panel.anchors(places, of.panel.newest(places))
    return [baselines.experts(places), baselines.combined(places), anchors]


def _learn_regimes(of: OfPanel, places: Places, prices: FloatArray) -> None:
    of.append(places, prices)
    of.part.observe(places)


def _learn_forecaster(
    of: OfPanel,
    places: Places,
    prices: FloatArray,
    corrections: FloatArray,
    forecasts: FloatArray,
    is_learned: NDArray[np.bool_],
    trusts_model: NDArray[np.bool_],
) -> None:
    """Each step of a close, in the order of the session."""
    forecaster = of.part.forecaster
    of.append(places, prices)
    outcomes = forecaster.observe(places)
    due, is_remembered = forecaster.forecasts_due(places)
    shown = np.where(is_remembered[..., None, None], due[:, :, 0], 0.0)
    forecaster.learn(places, due, shown, outcomes, is_learned & outcomes.is_known & is_remembered, trusts_model)
    made = [None if np.isnan(own).any() else own for own in forecasts]
    forecaster.challenge(places, [made] * forecaster.challengers)
    forecaster.commit(places, forecaster.with_corrections(places, corrections))


def _read_forecaster(of: OfPanel, places: Places) -> Read:
    forecaster = of.part.forecaster
    made = forecaster.with_corrections(places, np.zeros((len(places), _HORIZONS, QUANTITIES, len(LEVELS))))
    return [
        np.stack([each.shown for each in made]),
        np.stack([each.experts for each in made]),
        np.stack([each.shown for each in forecaster.without_model(places)]),
        np.array([forecaster.shares(market).shares for market in places]),
        np.array([astuple(forecaster.regimes.now(market)) for market in places]),
    ]


def _forecaster(*challengers: str) -> Case:
    return Case(
        make=lambda _: OfPanel(lambda panel: WholeForecaster(panel, ExpertList(challengers))),
        draw=_candle_and_forecasts,
        learn=_learn_forecaster,
        read=_read_forecaster,
    )


LEARNERS = {
    "moments": Case(
        lambda markets: WeightedMoments((5, 20), markets),
        lambda generator: (_with_unknown(generator.normal(size=2), generator),),
        WeightedMoments.add,
        lambda moments, places: (moments.means(places), moments.deviations(places)),
    ),
    "time of day": Case(
        lambda markets: TimeOfDayMeans(Interval.parse("1h"), markets),
        _time_and_value,
        TimeOfDayMeans.learn,
        lambda means, places: (means.expected(places, np.tile(np.arange(0, DAY_MS, 10**7), (len(places), 1))),),
    ),
    "calibration": Case(
        lambda markets: AdaptiveCalibration(_HORIZONS, markets, rate=0.1, bias_rate=0.05),
        _shown_and_outcomes,
        AdaptiveCalibration.update,
        lambda calibration, places: (
            calibration.apply(places, np.broadcast_to(_FORECASTS[:, 0], (len(places), *_FORECASTS[:, 0].shape))),
        ),
    ),
    "expert weights": Case(
        lambda markets: ExpertWeights(_EQUAL, _HORIZONS, markets),
        _experts_and_outcomes,
        ExpertWeights.update,
        lambda weights, places: (
            weights.combine(places, np.broadcast_to(_FORECASTS, (len(places), *_FORECASTS.shape))),
            np.array([weights.shares(market) for market in places]),
        ),
    ),
    "combination": Case(
        lambda markets: Combination(_EQUAL, _HORIZONS, markets),
        _experts_and_outcomes,
        _learn_combination,
        lambda combination, places: (
            combination.predict(places, np.broadcast_to(_FORECASTS, (len(places), *_FORECASTS.shape))),
        ),
    ),
    "GARCH": Case(GarchGrid, _range_and_return, GarchGrid.observe, lambda grid, places: grid.ahead(places, _HORIZONS)),
    "switching": Case(
        lambda markets: RegimeSwitching(20, _HORIZONS, markets),
        _range_and_return,
        RegimeSwitching.observe,
        lambda chain, places: (chain.log_range_quantiles(places), chain.moves(places)),
    ),
    "regimes": Case(
        RegimeMixture,
        _close_and_range,
        RegimeMixture.observe,
        lambda mixture, places: (np.array([astuple(mixture.probabilities(market)) for market in places]),),
    ),
    "regressions": Case(
        lambda markets: DiscountedRegressions(2, 5, _HORIZONS, markets, keep=0.98, penalty=2.0),
        _regressed,
        _learn_regressions,
        lambda regressions, places: (regressions.predict(places, np.ones((len(places), 2, 5))),),
    ),
    "residuals": Case(
        lambda markets: ResidualQuantiles(np.array([False, True]), _HORIZONS, 15, markets),
        _residuals,
        ResidualQuantiles.add,
        _read_residuals,
    ),
    "leaders": Case(lambda _: Leaders(_LEADERS), _returns, Leaders.observe, _read_leaders),
}
"""Those that know nothing of a panel."""

OF_PANELS = {
    "panel": Case(lambda _: OfPanel(lambda panel: None), _candle, OfPanel.append, _read_panel),
    "reference": Case(
        lambda _: OfPanel(ReferenceForecast), _candle, _learn_reference, lambda of, places: (of.part.quantiles(places),)
    ),
    "baselines": Case(lambda _: OfPanel(BaselineForecast), _candle_and_returns, _learn_baselines, _read_baselines),
    "baselines that read insides": Case(
        lambda _: OfPanel(BaselineForecast, reads_inside=True), _candle_and_returns, _learn_baselines, _read_baselines
    ),
    "regime watch": Case(
        lambda _: OfPanel(RegimeWatch),
        _candle,
        _learn_regimes,
        lambda of, places: (np.array([astuple(of.part.now(market)) for market in places]),),
    ),
    "forecaster": _forecaster(),
    "forecaster with a challenger": _forecaster("another model"),
}
