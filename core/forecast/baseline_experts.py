"""The baselines other than the reference: cheap forecasts from past candles, each an expert of the combination.

- repeat last: the return, log range and log volume of the newest candle repeat; reverse last: its return with the
  opposite sign. On the close both shift the reference's quantiles.
- EWMA: the next log range is the average one (span 10). HAR: a regression of the log range on averages over 1, 5, 20
  and 200 candles (Corsi, 2009), the time of day, volume and the newest fall; in a run that knows what is inside its
  candles also on the variance there, over as many candles, and in the candle's last fifth. The range expected by either
  also sets the width of the quantiles of the close, and HAR's that of body and wicks.
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

from core.domain.quantities import SIGNED, FloatArray, Quantity
from core.forecast.arrays import Arrays, ArrayState, Places, named, part_of
from core.forecast.averages import TimeOfDayMeans
from core.forecast.baseline_inputs import (
    HAR_READ,
    INSIDE_READ,
    LAGS_READ,
    LARGEST_RETURN,
    RANGE,
    RANGE_LAGS,
    REGRESSIONS,
    VOLUME_LAGS,
    WIDTH,
    BaselineInputs,
    Inputs,
    width_outcomes,
)
from core.forecast.experts import EWMA, EXPERTS, GARCH, HAR, LAGS, REPEAT, REVERSE, SEASONAL, SWITCHING
from core.forecast.garch import GarchGrid
from core.forecast.other_markets import MOST_LEADERS, Leaders
from core.forecast.outcomes import Outcomes, newest_outcomes
from core.forecast.panel import Panel
from core.forecast.reference_forecast import FEWEST_OUTCOMES, REFERENCE_WINDOW, ReferenceForecast
from core.forecast.regression import DiscountedRegressions
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
_EXPERT_AT, _QUANTITY_AT = np.array(_LEARNED).T
_IS_SYMMETRIC = np.array([quantity in SIGNED and expert != LAGS for expert, quantity in _LEARNED])
"""Experts that forecast the size of a move but not its direction: their errors count with both signs."""

_LARGEST_LOG_WIDTH = 2.0
_SMALLEST_WIDTH, _LARGEST_WIDTH = np.exp(-_LARGEST_LOG_WIDTH), np.exp(_LARGEST_LOG_WIDTH)
KEEP, PENALTY = 0.9995, 10.0
_KEEP_RETURNS, _PENALTY_OF_RETURNS = 0.9998, 1000.0
"""Returns are nearly unpredictable: shrinkage halves the estimated effect at 1,000 candles."""
_PENALTY_OF_OTHERS = 300.0
"""Other markets tell more than a market's own past: chosen on half of eight files, see docs/research/forecasts.md."""


class BaselineExperts:
    """All baselines of all markets. `observe` takes the newest candles of a panel; `quantiles` gives the forecasts."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        markets, horizons, pairs = panel.markets, panel.horizons, len(_LEARNED)
        self._inputs = BaselineInputs(panel)
        self._reference = ReferenceForecast(panel)
        self._leaders = Leaders(markets) if panel.has_others else None
        of_others = [_PENALTY_OF_OTHERS] * MOST_LEADERS if panel.has_others else []
        penalty = np.array([_PENALTY_OF_RETURNS] * LAGS_READ + of_others)
        size, read = (horizons, markets), HAR_READ + (INSIDE_READ if panel.reads_inside else 0)
        self._regressions = DiscountedRegressions(REGRESSIONS, read, *size, keep=KEEP, penalty=PENALTY)
        self._of_returns = DiscountedRegressions(1, penalty.size, *size, keep=_KEEP_RETURNS, penalty=penalty)
        self._seasons = TimeOfDayMeans(panel.interval, markets)
        self._garch = GarchGrid(markets)
        self._switching = RegimeSwitching(REFERENCE_WINDOW, horizons, markets)
        self._residuals = ResidualQuantiles(_IS_SYMMETRIC, horizons, REFERENCE_WINDOW, markets)
        self._read = np.zeros((markets, horizons, REGRESSIONS, read))
        self._returns_read = np.zeros((markets, horizons, 1, penalty.size))
        """The features of each regression at the newest origins, newest first: [market, origin, R, K]."""
        self._centre = np.zeros((markets, horizons, pairs, horizons))
        self._spread = np.ones((markets, horizons, pairs, horizons))
        """Forecast at the newest origins, newest first: [market, origin, P, H]."""
        self._newest_return = np.zeros(markets)

    def observe(self, places: Places, of_others: FloatArray | None) -> Outcomes:
        """Take the newest candles of these markets: learn from them as targets, then forecast from them. Once per
        candle.

        of_others: the newest returns of the other markets [n, markets - 1], if there are any. Returns the candles as
        targets.
        """
        outcomes = newest_outcomes(self._panel, places)
        self._learn(places, outcomes)
        inputs = self._inputs.of_newest(places)
        returns = inputs.returns
        if self._leaders is not None and of_others is not None:
            returns = self._with_others(self._leaders, places, returns, of_others)
        self._look_ahead(places, inputs, returns)
        return outcomes

    def quantiles(self, places: Places) -> FloatArray:
        """The current normalised quantiles: [n, H, E, Q, L], ascending. The model's row, and quantities that an expert
        does not forecast, are the reference's."""
        reference = self._reference.quantiles(places)
        forecasts = np.repeat(reference[:, :, None], len(EXPERTS), axis=2)
        centre, spread = (np.moveaxis(each[places, 0], 1, 2)[..., None] for each in (self._centre, self._spread))
        own = centre + spread * self._residuals.quantiles(places)
        has_errors = self._residuals.known(places) >= FEWEST_OUTCOMES
        repeated = reference[:, :, _QUANTITY_AT]
        forecasts[:, :, _EXPERT_AT, _QUANTITY_AT] = np.where(has_errors[..., None, None], own, repeated)
        ahead = np.arange(1, self._panel.horizons + 1)
        step = self._newest_return[places, None] / np.sqrt(ahead)
        forecasts[:, :, REPEAT, Quantity.CLOSE] += (ahead * step)[..., None]
        forecasts[:, :, REVERSE, Quantity.CLOSE] -= (ahead % 2 * step)[..., None]  # every second candle reverses it
        if (rows := np.flatnonzero(self._switching.seen(places) >= FEWEST_OUTCOMES)).size:
            log_ranges = self._switching.log_range_quantiles(places[rows])
            level = self._panel.newest_of("range_level", places[rows])
            forecasts[rows, :, SWITCHING, Quantity.RANGE] = log_ranges - level[:, None, None]
        return forecasts

    def _learn(self, places: Places, outcomes: Outcomes) -> None:
        self._reference.observe(places, outcomes)
        normalised, is_known = outcomes.normalised, outcomes.is_known
        targets = np.empty((*is_known.shape, REGRESSIONS))
        targets[..., [RANGE, RANGE_LAGS]] = normalised[..., Quantity.RANGE, None]
        targets[..., WIDTH] = width_outcomes(outcomes)
        targets[..., VOLUME_LAGS] = normalised[..., Quantity.VOLUME]
        self._regressions.learn(places, self._read[places], targets, is_known)
        returns = np.clip(normalised[..., Quantity.CLOSE, None], -LARGEST_RETURN, LARGEST_RETURN)
        self._of_returns.learn(places, self._returns_read[places], returns, is_known)
        follows = is_known[:, 0]
        opened = self._panel.time[places, self._panel.newest(places)]
        self._seasons.learn(places[follows], opened[follows], normalised[follows, 0, Quantity.VOLUME])
        age = np.arange(self._panel.horizons)
        centre, spread = (each[places[:, None], age, :, age] for each in (self._centre, self._spread))
        self._residuals.add(places, (normalised[..., _QUANTITY_AT] - centre) / spread, is_known)

    def _with_others(self, leaders: Leaders, places: Places, returns: FloatArray, of_others: FloatArray) -> FloatArray:
        """What the regression of returns reads: also the newest returns of other markets."""
        of_others = np.clip(of_others, -LARGEST_RETURN, LARGEST_RETURN)
        replaced = leaders.observe(places, returns[:, 0], of_others)
        has_new = replaced.any(axis=1)
        if has_new.any():
            forgotten = np.zeros((int(has_new.sum()), returns.shape[1] + MOST_LEADERS), dtype=np.bool_)
            forgotten[:, returns.shape[1] :] = replaced[has_new]
            self._of_returns.forget(places[has_new], forgotten)
            self._returns_read[places[has_new]] *= ~forgotten[:, None, None]
        return np.concatenate([returns, leaders.returns(places, of_others)], axis=1)

    def _look_ahead(self, places: Places, inputs: Inputs, returns: FloatArray) -> None:
        """returns: what their regression reads, [n, K]."""
        newest = self._panel.newest_of("log_range", places), self._panel.newest_return(places)
        self._garch.observe(places, *newest)
        self._switching.observe(places, *newest)
        _push(self._read, places, inputs.regressions)
        _push(self._returns_read, places, returns[:, None])
        predicted = self._regressions.predict(places, inputs.regressions)
        expected_return = self._of_returns.predict(places, returns[:, None])[..., 0]
        log_ranges, garch_moves = self._garch.ahead(places, self._panel.horizons)
        _push(self._centre, places, self._centres(places, predicted, expected_return, log_ranges, inputs))
        spread = _spreads(predicted[..., WIDTH], inputs.mean_log_width)
        scale = self._panel.newest_of("scale", places)[:, None]
        for expert, moves in ((GARCH, garch_moves), (SWITCHING, self._switching.moves(places))):
            relative = np.nan_to_num(moves / scale, nan=1.0)  # a usual one, before the first
            spread[:, _PLACE[expert, Quantity.CLOSE]] = _together(relative.clip(_SMALLEST_WIDTH, _LARGEST_WIDTH))
        _push(self._spread, places, spread)
        self._newest_return[places] = inputs.newest_return

    def _centres(
        self,
        places: Places,
        predicted: FloatArray,
        expected_return: FloatArray,
        log_ranges: FloatArray,
        inputs: Inputs,
    ) -> FloatArray:
        """[n, P, H]. predicted: of each regression [n, H, R]; expected_return and GARCH's log_ranges: [n, H]."""
        panel = self._panel
        opened = panel.time[places, panel.newest(places)][:, None]
        opens = opened + panel.interval.duration_ms * np.arange(1, panel.horizons + 1)
        centre = np.zeros((len(places), len(_LEARNED), panel.horizons))
        garch = log_ranges - panel.newest_of("range_level", places)[:, None]
        for pair, expected in {
            (LAGS, Quantity.CLOSE): expected_return,
            (REPEAT, Quantity.RANGE): inputs.log_range[:, None],
            (EWMA, Quantity.RANGE): inputs.mean_range[:, None],
            (HAR, Quantity.RANGE): predicted[..., RANGE],
            (LAGS, Quantity.RANGE): predicted[..., RANGE_LAGS],
            (GARCH, Quantity.RANGE): np.nan_to_num(garch, nan=0.0),
            (REPEAT, Quantity.VOLUME): inputs.log_volume[:, None],
            (LAGS, Quantity.VOLUME): predicted[..., VOLUME_LAGS],
            (SEASONAL, Quantity.VOLUME): self._seasons.expected(places, opens),
        }.items():
            centre[:, _PLACE[pair]] = expected
        return centre

    def _parts(self) -> dict[str, ArrayState]:
        parts: dict[str, ArrayState] = {
            "averages": self._inputs.averages,
            "seasons": self._seasons,
            "garch": self._garch,
            "switching": self._switching,
            "residuals": self._residuals,
            "regressions": self._regressions,
            "returns": self._of_returns,
        }
        if self._inputs.of_insides is not None:
            parts["insides"] = self._inputs.of_insides
        return parts if self._leaders is None else parts | {"leaders": self._leaders}

    def state(self, market: int) -> Arrays:
        """The complete state of a market as arrays, for a checkpoint; to be restored with its past."""
        own: Arrays = {
            "read": self._read[market].copy(),
            "returns_read": self._returns_read[market].copy(),
            "centre": self._centre[market].copy(),
            "spread": self._spread[market].copy(),
            "newest_return": self._newest_return[market : market + 1].copy(),
        }
        return own | named({name: part.state(market) for name, part in self._parts().items()})

    def restore(self, state: Arrays, market: int) -> None:
        """Continue from what `state` returned, with the market's past restored. Without `leaders` in it the others are
        other markets from now on."""
        known = state["returns_read"].shape[-1]  # fewer if the market was learned alone until then
        self._read[market], self._returns_read[market, ..., :known] = state["read"], state["returns_read"]
        self._centre[market], self._spread[market] = state["centre"], state["spread"]
        self._newest_return[market] = state["newest_return"][0]
        self._reference.restore(market)
        for name, part in self._parts().items():
            if name != "leaders":
                part.restore(part_of(state, name), market)
        if self._leaders is None:
            return
        if leaders := part_of(state, "leaders"):
            self._leaders.restore(leaders, market)
        else:
            self._leaders.forget(market)


def _width(log_width: FloatArray) -> FloatArray:
    width: FloatArray = np.exp(np.clip(log_width, -_LARGEST_LOG_WIDTH, _LARGEST_LOG_WIDTH))
    return width


def _together(width: FloatArray) -> FloatArray:
    """How wide all candles up to each are together, in units of one: [..., H]."""
    together: FloatArray = np.sqrt(np.cumsum(width**2, axis=-1) / np.arange(1, width.shape[-1] + 1))
    return together


def _spreads(log_width: FloatArray, mean_log_width: FloatArray) -> FloatArray:
    """[n, P, H]. log_width: [n, H]; mean_log_width: [n]."""
    spread = np.ones((len(log_width), len(_LEARNED), log_width.shape[1]))
    spread[:, _PLACE[EWMA, Quantity.CLOSE]] = _width(mean_log_width)[:, None]
    spread[:, _PLACE[HAR, Quantity.CLOSE]] = _together(_width(log_width))
    for quantity in (Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK):
        spread[:, _PLACE[HAR, quantity]] = _width(log_width)
    return spread


def _push(newest_first: FloatArray, places: Places, values: FloatArray) -> None:
    newest_first[places, 1:] = newest_first[places, :-1]
    newest_first[places, 0] = values
