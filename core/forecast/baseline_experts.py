"""The baselines other than the reference: cheap forecasts from past candles, each an expert of the combination.

- repeat last: the return, log range and log volume of the newest candle repeat; reverse last: its return with the
  opposite sign. On the close both shift the reference's quantiles.
- EWMA: the next log range is the average one (span 10). HAR: a regression of the log range on averages over 1, 5, 20
  and 200 candles (Corsi, 2009), the time of day, volume and the newest fall. The range expected by either also sets the
  width of the quantiles of the close, and HAR's that of body and wicks.
- 12-lag regression: discounted least squares on the newest 12 returns, log ranges or log volumes, shrunk to zero; of a
  market that is learned with others the returns also on the newest ones of up to 16 others.
- seasonal: the usual volume at the target's time of day.
- GARCH: a grid of variances in which falls may count more than rises, weighted by their past accuracy.
- Markov switching: the probability of two regimes in the target candle, and the past candles of each.

Unless stated otherwise, quantiles are the empirical ones of an expert's newest 1,000 errors, in units of its spread.
Until there are 30 of them, they are the reference's. The errors of close and body count with both signs, except those
of the 12-lag regression: the others forecast a size and no direction, and the drift of their newest errors is chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import SIGNED, FloatArray, Quantity
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.averages import TimeOfDayMeans
from core.forecast.baseline_inputs import (
    HAR_READ,
    LAGS_READ,
    LARGEST_RETURN,
    BaselineInputs,
    Inputs,
    Outcomes,
    newest_outcomes,
)
from core.forecast.experts import EWMA, EXPERTS, GARCH, HAR, LAGS, REPEAT, REVERSE, SEASONAL, SWITCHING
from core.forecast.garch import GarchGrid
from core.forecast.history import History
from core.forecast.other_markets import MOST_LEADERS, Leaders
from core.forecast.reference_forecast import FEWEST_OUTCOMES, REFERENCE_WINDOW, reference_quantiles
from core.forecast.regression import DiscountedRegression
from core.forecast.residuals import ResidualQuantiles
from core.forecast.switching import RegimeSwitching

_LEARNED = (
    (EWMA, Quantity.CLOSE),
    (HAR, Quantity.CLOSE),
    (HAR, Quantity.BODY),
    (HAR, Quantity.UPPER_WICK),
    (HAR, Quantity.LOWER_WICK),
    (LAGS, Quantity.CLOSE),
    (GARCH, Quantity.CLOSE),
    (SWITCHING, Quantity.CLOSE),
    (REPEAT, Quantity.RANGE),
    (EWMA, Quantity.RANGE),
    (HAR, Quantity.RANGE),
    (LAGS, Quantity.RANGE),
    (GARCH, Quantity.RANGE),
    (REPEAT, Quantity.VOLUME),
    (LAGS, Quantity.VOLUME),
    (SEASONAL, Quantity.VOLUME),
)
"""Experts and quantities whose quantiles come from the expert's own errors: a pair for each index P."""
_PLACE = {pair: place for place, pair in enumerate(_LEARNED)}
_QUANTITY_AT = np.array([quantity for _, quantity in _LEARNED])
_IS_SYMMETRIC = np.array([quantity in SIGNED and expert != LAGS for expert, quantity in _LEARNED])
"""Experts that forecast the size of a move but not its direction: their errors count with both signs."""

_LARGEST_LOG_WIDTH = 2.0
_SMALLEST_WIDTH, _LARGEST_WIDTH = np.exp(-_LARGEST_LOG_WIDTH), np.exp(_LARGEST_LOG_WIDTH)
_KEEP, _PENALTY = 0.9995, 10.0
_KEEP_RETURNS, _PENALTY_OF_RETURNS = 0.9998, 1000.0
"""Returns are nearly unpredictable: shrinkage halves the estimated effect at 1,000 candles."""
_PENALTY_OF_OTHERS = 300.0
"""Other markets tell more than a market's own past: chosen on the first half of eight files, see docs/forecasts.md."""


class BaselineExperts:
    """All baselines. `observe` takes the history's newest candle; `quantiles` gives the forecasts."""

    def __init__(self, history: History) -> None:
        self._history = history
        horizons, places = history.horizons, len(_LEARNED)
        self._inputs = BaselineInputs(history)
        self._leaders = None if history.returns_of_others is None else Leaders()
        of_others = [] if self._leaders is None else [_PENALTY_OF_OTHERS] * MOST_LEADERS
        of_returns = np.array([_PENALTY_OF_RETURNS] * LAGS_READ + of_others)
        self._regressions = {
            "range": DiscountedRegression(HAR_READ, horizons, keep=_KEEP, penalty=_PENALTY),
            "width": DiscountedRegression(HAR_READ, horizons, keep=_KEEP, penalty=_PENALTY),
            "returns": DiscountedRegression(of_returns.size, horizons, keep=_KEEP_RETURNS, penalty=of_returns),
            "range lags": DiscountedRegression(LAGS_READ + 1, horizons, keep=_KEEP, penalty=_PENALTY),
            "volume lags": DiscountedRegression(LAGS_READ + 1, horizons, keep=_KEEP, penalty=_PENALTY),
        }
        self._seasons = TimeOfDayMeans(history.interval)
        self._garch = GarchGrid()
        self._switching = RegimeSwitching(REFERENCE_WINDOW)
        self._residuals = ResidualQuantiles(_IS_SYMMETRIC, horizons, REFERENCE_WINDOW)
        self._read = {name: np.zeros((horizons, known.features)) for name, known in self._regressions.items()}
        """The features of each regression at the newest origins, newest first: [origin, K]."""
        self._centre = np.zeros((horizons, places, horizons))
        self._spread = np.ones((horizons, places, horizons))
        """Forecast at the newest origins, newest first: [origin, P, H]."""
        self._newest_return = 0.0
        self._errors: FloatArray | None = None
        """Error quantiles at the newest candle [P, H, L]: cached, as they are slow and used more than once."""

    def observe(self) -> Outcomes:
        """Take the history's newest candle: learn from it as a target, then forecast from it. Once per candle.

        Returns the candle as a target.
        """
        outcomes = newest_outcomes(self._history)
        self._learn(outcomes)
        self._errors = None
        inputs = self._inputs.of_newest()
        self._read_others(inputs)
        self._look_ahead(inputs)
        return outcomes

    def quantiles(self) -> FloatArray:
        """The current normalised quantiles: [E, H, Q, L], ascending. The model's row, and quantities that an expert
        does not forecast, are the reference's."""
        forecasts = np.repeat(reference_quantiles(self._history)[None], len(EXPERTS), axis=0)
        own = self._centre[0][..., None] + self._spread[0][..., None] * self._error_quantiles()
        has_errors = self._horizons_with_errors()
        for place, (expert, quantity) in enumerate(_LEARNED):
            forecasts[expert, has_errors, quantity] = own[place, has_errors]
        ahead = np.arange(1, self._history.horizons + 1)
        step = (self._newest_return / np.sqrt(ahead))[:, None]
        forecasts[REPEAT, :, Quantity.CLOSE] += ahead[:, None] * step
        forecasts[REVERSE, :, Quantity.CLOSE] -= (ahead % 2)[:, None] * step  # every second candle reverses it
        if self._switching.seen >= FEWEST_OUTCOMES:
            log_ranges = self._switching.log_range_quantiles(self._history.horizons)
            forecasts[SWITCHING, :, Quantity.RANGE] = log_ranges - self._history.column("range_level")[-1]
        return forecasts

    def _horizons_with_errors(self) -> NDArray[np.int64]:
        """The horizons with enough known errors."""
        return np.flatnonzero(self._residuals.known >= FEWEST_OUTCOMES)

    def _error_quantiles(self) -> FloatArray:
        if self._errors is None:
            self._errors = self._residuals.quantiles()
        return self._errors

    def _learn(self, outcomes: Outcomes) -> None:
        normalised, is_known = outcomes.normalised, outcomes.is_known
        wanted = {
            "range": normalised[:, Quantity.RANGE],
            "width": outcomes.log_width,
            "returns": np.clip(normalised[:, Quantity.CLOSE], -LARGEST_RETURN, LARGEST_RETURN),
            "range lags": normalised[:, Quantity.RANGE],
            "volume lags": normalised[:, Quantity.VOLUME],
        }
        for name, regression in self._regressions.items():
            regression.learn(self._read[name], wanted[name], is_known)
        if is_known[0]:
            self._seasons.learn(int(self._history.open_time_ms[-1]), float(normalised[0, Quantity.VOLUME]))
        age = np.arange(self._history.horizons)
        error = normalised[:, _QUANTITY_AT] - self._centre[age, :, age]
        self._residuals.add((error / self._spread[age, :, age]).T, is_known)

    def _read_others(self, inputs: Inputs) -> None:
        """Add the newest returns of other markets to what the regression of returns reads."""
        of_others = self._history.returns_of_others
        if self._leaders is None or of_others is None:
            return
        of_others = np.clip(of_others, -LARGEST_RETURN, LARGEST_RETURN)
        own = inputs.regressions["returns"]
        replaced = LAGS_READ + self._leaders.observe(float(own[0]), of_others)
        if replaced.size:
            self._regressions["returns"].forget(replaced)
            self._read["returns"][:, replaced] = 0.0
        inputs.regressions["returns"] = np.concatenate([own, self._leaders.returns(of_others)])

    def _look_ahead(self, inputs: Inputs) -> None:
        newest = float(self._history.column("log_range")[-1]), self._history.newest_return()
        self._garch.observe(*newest)
        self._switching.observe(*newest)
        predicted = {}
        for name, regression in self._regressions.items():
            _push(self._read[name], inputs.regressions[name])
            predicted[name] = regression.predict(inputs.regressions[name])
        _push(self._centre, self._centres(predicted, inputs))
        spread = _spreads(predicted["width"], inputs.mean_log_width)
        spread[_PLACE[GARCH, Quantity.CLOSE]] = self._width_of(self._garch.moves(self._history.horizons))
        spread[_PLACE[SWITCHING, Quantity.CLOSE]] = self._width_of(self._switching.moves(self._history.horizons))
        _push(self._spread, spread)
        self._newest_return = float(inputs.newest[Quantity.CLOSE])

    def _width_of(self, moves: FloatArray) -> FloatArray:
        """The width of the close for these expected moves: [H], about 1 if they are usual or unknown."""
        relative = moves / float(self._history.column("scale")[-1])
        return _together(np.nan_to_num(relative, nan=1.0).clip(_SMALLEST_WIDTH, _LARGEST_WIDTH))

    def _centres(self, predicted: dict[str, FloatArray], inputs: Inputs) -> FloatArray:
        """[P, H]"""
        history, horizons = self._history, self._history.horizons
        opens = int(history.open_time_ms[-1]) + history.interval.duration_ms * np.arange(1, horizons + 1)
        centre = np.zeros((len(_LEARNED), horizons))
        centre[_PLACE[LAGS, Quantity.CLOSE]] = predicted["returns"]
        centre[_PLACE[REPEAT, Quantity.RANGE]] = inputs.newest[Quantity.RANGE]
        centre[_PLACE[EWMA, Quantity.RANGE]] = inputs.mean_range
        centre[_PLACE[HAR, Quantity.RANGE]] = predicted["range"]
        centre[_PLACE[LAGS, Quantity.RANGE]] = predicted["range lags"]
        garch = self._garch.log_ranges(horizons) - history.column("range_level")[-1]
        centre[_PLACE[GARCH, Quantity.RANGE]] = np.nan_to_num(garch, nan=0.0)
        centre[_PLACE[REPEAT, Quantity.VOLUME]] = inputs.newest[Quantity.VOLUME]
        centre[_PLACE[LAGS, Quantity.VOLUME]] = predicted["volume lags"]
        centre[_PLACE[SEASONAL, Quantity.VOLUME]] = self._seasons.expected(opens)
        return centre

    def state(self) -> Arrays:
        """The complete state as arrays, for a checkpoint; to be restored with the history's."""
        own: Arrays = {
            "averages": self._inputs.averages.state(),
            "seasons": self._seasons.state(),
            "centre": self._centre.copy(),
            "spread": self._spread.copy(),
            "newest_return": np.array([self._newest_return]),
        }
        read: Arrays = {name: array.copy() for name, array in self._read.items()}
        regressions = {f"regression.{name}": regression.state() for name, regression in self._regressions.items()}
        parts = {
            "read": read,
            "residuals": self._residuals.state(),
            "garch": self._garch.state(),
            "switching": self._switching.state(),
        }
        leaders = {} if self._leaders is None else {"leaders": self._leaders.state()}
        return own | named({**parts, **regressions, **leaders})

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned. Without `leaders` in it the others are other markets from now on."""
        self._inputs.averages.restore(state["averages"])
        self._seasons.restore(state["seasons"])
        self._centre[:], self._spread[:] = state["centre"], state["spread"]
        self._newest_return = float(state["newest_return"][0])
        self._garch.restore(part_of(state, "garch"))
        self._switching.restore(part_of(state, "switching"))
        self._residuals.restore(part_of(state, "residuals"))
        self._errors = None
        for name, regression in self._regressions.items():
            read = state[f"read.{name}"]
            self._read[name][:, : read.shape[1]] = read  # fewer if the market was learned alone until then
            regression.restore(part_of(state, f"regression.{name}"))
        if self._leaders is not None:
            self._leaders = Leaders()
            if leaders := part_of(state, "leaders"):
                self._leaders.restore(leaders)


def _width(log_width: FloatArray) -> FloatArray:
    width: FloatArray = np.exp(np.clip(log_width, -_LARGEST_LOG_WIDTH, _LARGEST_LOG_WIDTH))
    return width


def _together(width: FloatArray) -> FloatArray:
    """How wide all candles up to each are together, in units of one: [..., H]."""
    together: FloatArray = np.sqrt(np.cumsum(width**2, axis=-1) / np.arange(1, width.shape[-1] + 1))
    return together


def _spreads(log_width: FloatArray, mean_log_width: float) -> FloatArray:
    """[P, H]"""
    spread = np.ones((len(_LEARNED), log_width.size))
    spread[_PLACE[EWMA, Quantity.CLOSE]] = _width(np.array(mean_log_width))
    spread[_PLACE[HAR, Quantity.CLOSE]] = _together(_width(log_width))
    for quantity in (Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK):
        spread[_PLACE[HAR, quantity]] = _width(log_width)
    return spread


def _push(newest_first: FloatArray, values: FloatArray) -> None:
    """Put `values` before the others; the oldest go."""
    newest_first[1:] = newest_first[:-1].copy()
    newest_first[0] = values
