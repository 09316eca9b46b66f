"""Discounted ridge regression, one for each horizon, updated candle by candle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, ArrayState


class DiscountedRegression(ArrayState):
    """Ridge regression on the past, weighted by keep ** age; horizons do not share coefficients.

    The penalty, of each feature or of all, stays what it is while old candles fade, so that a quiet regression shrinks
    to zero.
    """

    _STATE = ("_products", "_response")

    def __init__(self, features: int, horizons: int, *, keep: float, penalty: float | FloatArray) -> None:
        self.features = features
        self._keep = keep
        self._penalty = penalty * np.eye(features)
        self._products = np.zeros((horizons, features, features))
        self._response = np.zeros((horizons, features))

    def learn(self, features: FloatArray, outcomes: FloatArray, is_known: NDArray[np.bool_]) -> None:
        """One outcome of each horizon. features [H, K]: those of its origin; outcomes [H]; is_known [H]."""
        known = np.flatnonzero(is_known)
        if known.size == 0:
            return
        row, outcome = features[known], outcomes[known]
        self._products[known] = self._keep * self._products[known] + row[:, :, None] * row[:, None, :]
        self._response[known] = self._keep * self._response[known] + outcome[:, None] * row

    def predict(self, features: FloatArray) -> FloatArray:
        """The expected outcome of each horizon: features [K] to [H]."""
        coefficients = np.linalg.solve(self._products + self._penalty, self._response[..., None])[..., 0]
        predicted: FloatArray = coefficients @ features
        return predicted

    def forget(self, features: NDArray[np.int64]) -> None:
        """Forget all that is known of these features: they mean something else from now on."""
        self._products[:, features] = 0.0
        self._products[:, :, features] = 0.0
        self._response[:, features] = 0.0

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned; of features that it does not hold nothing is known."""
        known = state["response"].shape[-1]
        self._products[:], self._response[:] = 0.0, 0.0
        self._products[:, :known, :known] = state["products"]
        self._response[:, :known] = state["response"]
