"""A gated recurrent unit over candles.

Source: Cho et al., Learning phrase representations using RNN encoder-decoder (2014).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.head import QuantileHead
from models.shape import ModelShape


class CandleGRU(nn.Module):
    """A GRU with as many layers as the transformer has blocks; the head reads the normalised newest state."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.recurrent = nn.GRU(shape.inputs, shape.width, shape.layers, batch_first=True)
        self.final_norm = nn.LayerNorm(shape.width)
        self.head = QuantileHead(shape.width, shape)

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        """features [B, T, inputs], is_real [B, T] bool (False is padding on the left) to [B, H, Q, L]."""
        batch, length, _ = features.shape
        real = is_real.sum(dim=1, keepdim=True)
        places = (torch.arange(length, device=features.device) - real) % length  # the real candles first
        states, _ = self.recurrent(features.take_along_dim(places[..., None], dim=1))
        newest = states[torch.arange(batch, device=features.device), real[:, 0] - 1]
        corrections: Tensor = self.head(self.final_norm(newest))
        return corrections
