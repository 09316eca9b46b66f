"""Online aggregation of experts by exponential weights, one set of weights per horizon and quantity.

Source: Herbster and Warmuth, Tracking the Best Expert (1998): exponential weights with a fixed share, so that an
expert that was bad for long can come back when the market changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.forecast.quantities import QUANTITIES, FloatArray

_LARGEST_RELATIVE_LOSS = 5.0
"""One outlier moves the weights at most this many times a usual loss."""


class ExpertWeights:
    """Weights [expert, horizon, quantity], positive, summing to 1 over the experts."""

    def __init__(self, experts: int, horizons: int, learning_rate: float = 0.3, share: float = 1e-3) -> None:
        self._learning_rate = learning_rate
        self._share = share
        self._weights = np.full((experts, horizons, QUANTITIES), 1.0 / experts)
        self._usual_loss = np.zeros((horizons, QUANTITIES))

    @property
    def weights(self) -> FloatArray:
        return self._weights

    def combine(self, quantiles: FloatArray) -> FloatArray:
        """Weighted mean of the experts' quantiles: [expert, horizon, quantity, level] to [horizon, quantity, level].

        A mean of ascending quantiles is ascending.
        """
        combined: FloatArray = np.einsum("ehq,ehql->hql", self._weights, quantiles)
        return combined

    def update(self, horizon: int, losses: FloatArray) -> None:
        """Learn from one outcome of `horizon` (1-based). losses: [expert, quantity], finite, >= 0."""
        row = horizon - 1
        mean_loss = losses.mean(axis=0)
        seen = self._usual_loss[row] > 0.0
        self._usual_loss[row] = np.where(seen, 0.98 * self._usual_loss[row] + 0.02 * mean_loss, mean_loss)
        relative = losses / np.maximum(self._usual_loss[row], 1e-12)
        excess = np.clip(relative - relative.min(axis=0), 0.0, _LARGEST_RELATIVE_LOSS)
        unnormalised = self._weights[:, row] * np.exp(-self._learning_rate * excess)
        total: FloatArray = unnormalised.sum(axis=0)
        posterior = unnormalised / total
        self._weights[:, row] = (1.0 - self._share) * posterior + self._share / posterior.shape[0]

    def state(self) -> dict[str, NDArray[np.generic]]:
        return {"weights": self._weights.copy(), "usual_loss": self._usual_loss.copy()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        self._weights[:] = state["weights"]
        self._usual_loss[:] = state["usual_loss"]
