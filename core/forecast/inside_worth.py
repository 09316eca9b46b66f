"""What the inside of candles is worth to the expert that reads it: HAR's forecast of the next range with and without
the inside, on the same candles."""

from __future__ import annotations

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.quantities import FloatArray, Quantity
from core.forecast.baseline_experts import KEEP, PENALTY
from core.forecast.baseline_inputs import HAR_READ, INSIDE_READ, RANGE, BaselineInputs
from core.forecast.outcomes import newest_outcomes
from core.forecast.panel import Panel
from core.forecast.reference_forecast import FEWEST_OUTCOMES, REFERENCE_WINDOW, ReferenceForecast
from core.forecast.regression import DiscountedRegressions
from core.forecast.residuals import ResidualQuantiles
from core.forecast.score import pinball

_READ = (HAR_READ + INSIDE_READ, HAR_READ)
"""Of the features in their order, how many each of the two reads."""
_MARKET = np.array([0])


class InsideWorth:
    """Two copies of HAR, one candle ahead. Takes each candle of a market once, in order."""

    def __init__(self, interval: Interval) -> None:
        self._panel = Panel(interval, 1, REFERENCE_WINDOW + 1, 1, reads_inside=True)
        self._inputs, self._reference = BaselineInputs(self._panel), ReferenceForecast(self._panel)
        self._regressions = [DiscountedRegressions(1, read, 1, 1, keep=KEEP, penalty=PENALTY) for read in _READ]
        self._residuals = ResidualQuantiles(np.zeros(len(_READ), dtype=np.bool_), 1, REFERENCE_WINDOW, 1)
        self._features = np.zeros(max(_READ))
        self._centre = np.zeros(len(_READ))
        self._quantiles: FloatArray | None = None
        """With the inside, without, and of the reference: [3, L], for the next candle."""

    def add(self, candle: Candle) -> FloatArray | None:
        """Take the next candle. Returns the losses on its range, with the inside, without, and of the reference: [3].
        None across a hole and for the first candle."""
        self._panel.append(_MARKET, [candle])
        outcomes = newest_outcomes(self._panel, _MARKET)
        log_range, is_known = outcomes.normalised[..., Quantity.RANGE], outcomes.is_known
        losses = None
        if self._quantiles is not None and is_known[0, 0]:
            losses = pinball(np.broadcast_to(log_range[0, 0], len(self._quantiles)), self._quantiles)
        self._reference.observe(_MARKET, outcomes)
        for read, regression in zip(_READ, self._regressions, strict=True):
            regression.learn(_MARKET, self._features[None, None, None, :read], log_range[..., None], is_known)
        self._residuals.add(_MARKET, log_range[..., None] - self._centre, is_known)
        self._look_ahead()
        return losses

    def _look_ahead(self) -> None:
        self._features = features = self._inputs.of_newest(_MARKET).regressions[0, RANGE]
        predicted = (
            regression.predict(_MARKET, features[None, None, :read])
            for read, regression in zip(_READ, self._regressions, strict=True)
        )
        self._centre = np.array([each[0, 0, 0] for each in predicted])
        reference = self._reference.quantiles(_MARKET)[0, 0, Quantity.RANGE]
        own = self._centre[:, None] + self._residuals.quantiles(_MARKET)[0, 0]
        has_errors = self._residuals.known(_MARKET)[0, 0] >= FEWEST_OUTCOMES
        self._quantiles = np.vstack([own if has_errors else np.tile(reference, (len(_READ), 1)), reference])
