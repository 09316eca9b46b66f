"""The market regime of the next candle, read from a model's last state."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.domain.regimes import Regime
from models.transformer import CandleTransformer

_SMALLEST = 0.003
"""Added to each probability now, so that no regime is impossible after a candle that was certain of another."""
_RATE = 0.5
"""Of gradient descent, times the width: the state is normalised, so its square grows with it."""


class RegimeHead:
    """Corrects the mixture's regime now to that of the next candle: a softmax regression on the last state.

    It is trained by cross-entropy against what the mixture found once the next candle had closed. The state it reads is
    detached and its weights are no parameters of the model, so that no forecast, clipping or statistic depends on it.
    It starts at zero, which leaves the regime as it is.
    """

    def __init__(self, model: CandleTransformer, dtype: torch.dtype, device: torch.device) -> None:
        """model: the one in training."""
        self._model = model
        self.weights = torch.zeros(len(Regime), model.shape.width, dtype=dtype, device=device)
        self._rate = _RATE / model.shape.width
        self._moved = self.weights

    def begin(self) -> None:
        """Forget the parts of batches since the last step."""
        self._moved = self.weights

    def observe(self, regimes: Tensor, samples: int) -> None:
        """Take the part of a batch that the model has just read. regimes: as in `Batch`, [B, 2, 3]; samples: of all its
        parts."""
        state, labels = self._model.state.to(self.weights.dtype), regimes[:, 1]
        predicted = torch.addmm(regimes[:, 0], state, self.weights.T).softmax(dim=1)
        missed = torch.addcmul(labels, predicted, labels.sum(dim=1, keepdim=True), value=-1.0)
        self._moved = torch.addmm(self._moved, missed.T, state, alpha=self._rate / samples)

    def step(self, is_skipped: Tensor) -> None:
        """Learn from the observed parts, unless the model's step is skipped."""
        torch.where(is_skipped, self.weights, self._moved, out=self.weights)  # zero times NaN would be NaN

    def predict(self, state: Tensor, now: Tensor) -> Tensor:
        """The probabilities of the next candle's regime [B, 3]. now: `regime_logits` at the newest candle."""
        return torch.addmm(now, state.to(self.weights.dtype), self.weights.T).softmax(dim=1)


def regime_logits(now: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the head corrects, from the mixture's probabilities [..., 3]."""
    logits: NDArray[np.float32] = np.log(now + np.float32(_SMALLEST))
    return logits
