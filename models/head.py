"""The last layer of a model: states to corrections of quantiles."""

from __future__ import annotations

from torch import Tensor, nn

from models.shape import ModelShape


class QuantileHead(nn.Linear):
    """A linear map to [.., H, Q, L]. It starts at zero: an untrained model corrects nothing."""

    def __init__(self, inputs: int, shape: ModelShape) -> None:
        super().__init__(inputs, shape.horizons * shape.quantities * shape.levels)
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)
        self._outputs = shape.horizons, shape.quantities, shape.levels

    def forward(self, states: Tensor) -> Tensor:
        """[B, inputs] to [B, H, Q, L]."""
        return super().forward(states).view(-1, *self._outputs)
