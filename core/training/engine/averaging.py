"""An exponential moving average of the weights, used for forecasts; skipped steps do not change it."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from core.training.engine.flat_parameters import FlatParameters


class AveragedWeights:
    """A second model of the same shape that follows the first."""

    def __init__(self, model: nn.Module, followed: FlatParameters, decay: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self._decay = decay
        self._followed = followed.values
        self._average = FlatParameters(self.model, 0.0).values

    def follow(self, is_skipped: Tensor) -> None:
        """average += (1 - decay) * (weights - average), or unchanged, bit for bit, if the step was skipped."""
        moved = (self._followed - self._average).mul_(1.0 - self._decay).add_(self._average)
        torch.where(is_skipped, self._average, moved, out=self._average)  # zero times NaN would be NaN

    @property
    def live(self) -> list[Tensor]:
        """The tensors that a step changes."""
        return [self._average]

    def tensors(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self.model.load_state_dict(tensors)
