"""Discounted ridge regressions of many markets, one for each horizon, updated candle by candle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, ArrayState, Places


class DiscountedRegressions(ArrayState):
    """Several ridge regressions of K features each on the past, weighted by keep ** age; horizons do not share
    coefficients.

    The penalty, of each feature or of all, stays what it is while old candles fade, so that a quiet regression shrinks
    to zero.
    """

    _STATE = ("_products", "_response")

    def __init__(
        self, count: int, features: int, horizons: int, markets: int, *, keep: float, penalty: float | FloatArray
    ) -> None:
        self._keep = keep
        self._penalty = penalty * np.eye(features)
        self._products = np.zeros((markets, horizons, count, features, features))
        self._response = np.zeros((markets, horizons, count, features))

    def learn(self, places: Places, features: FloatArray, outcomes: FloatArray, is_known: NDArray[np.bool_]) -> None:
        """One outcome of each horizon. features [n, H, R, K]: those of its origin; outcomes [n, H, R]; is_known
        [n, H]."""
        market, horizon = np.nonzero(is_known)
        at = places[market], horizon
        row, outcome = features[market, horizon], outcomes[market, horizon]
        self._products[at] = self._keep * self._products[at] + row[..., :, None] * row[..., None, :]
        self._response[at] = self._keep * self._response[at] + outcome[..., None] * row

    def predict(self, places: Places, features: FloatArray) -> FloatArray:
        """The expected outcome of each horizon: features [n, R, K] to [n, H, R]."""
        products = self._products[places] + self._penalty
        coefficients = np.linalg.solve(products, self._response[places][..., None])[..., 0]
        predicted: FloatArray = (coefficients * features[:, None]).sum(axis=-1)
        return predicted

    def forget(self, places: Places, features: NDArray[np.bool_]) -> None:
        """Forget all that is known of these features [n, K]: they mean something else from now on."""
        kept = ~features[:, None, None]
        self._products[places] *= kept[..., :, None] & kept[..., None, :]
        self._response[places] *= kept

    def restore(self, state: Arrays, market: int) -> None:
        """Continue from what `state` returned; of features that it does not hold nothing is known."""
        known = state["response"].shape[-1]
        self._products[market], self._response[market] = 0.0, 0.0
        self._products[market, ..., :known, :known] = state["products"]
        self._response[market, ..., :known] = state["response"]
