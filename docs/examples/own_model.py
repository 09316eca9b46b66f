"""A complete model for docs/your-own-model.md: two layers that read the newest candle and the mean of the window.

Try it: ghostcandle evaluate prices.csv --model docs/examples/own_model.py:OwnModel
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.head import QuantileHead
from models.shape import ModelShape


class OwnModel(nn.Module):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.hidden = nn.Linear(2 * shape.inputs, shape.width)
        self.head = QuantileHead(shape.width, shape)

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        real = is_real[..., None].to(features.dtype)
        mean = (features * real).sum(dim=1) / real.sum(dim=1)
        states = torch.tanh(self.hidden(torch.cat([features[:, -1], mean], dim=1)))
        corrections: Tensor = self.head(states)
        return corrections
