"""An exponential moving average of the weights, to forecast with; a step that was not done does not move it."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


class AveragedWeights:
    """A second model of the same shape that follows the first."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self._decay = decay
        self._followed: list[Tensor] = list(model.parameters())
        self._averages: list[Tensor] = list(self.model.parameters())

    def follow(self, is_skipped: Tensor) -> None:
        """average += (1 - decay) * (weights - average), or nothing at all, bit for bit, where the step was skipped."""
        share = torch.where(is_skipped, 0.0, 1.0 - self._decay)
        with torch.no_grad():
            gaps = list(torch._foreach_sub(self._followed, self._averages))
            torch._foreach_mul_(gaps, share)
            torch._foreach_add_(self._averages, gaps)

    def tensors(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self.model.load_state_dict(tensors)
